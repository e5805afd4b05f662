//! Stores of many keys: each limits every key by itself, and is measured in the state it is called.

use std::time::Duration;

use windowpane_lab::contestants::Origin;
use windowpane_lab::contestants::keyed::{Demand, KeyedContestant, LabKey, all};
use windowpane_lab::measure::clock::{LabClock, SimulatedClock};
use windowpane_lab::measure::keyed::{Extent, cells, measure, measure_memory};
use windowpane_lab::measure::plan::Mode;
use windowpane_lab::measure::throughput::Times;

const DAY: u64 = 86_400_000_000_000;

fn demand() -> Demand {
    Demand {
        quota: "3/1d".parse().unwrap(),
        keys: 50,
        cap: 50,
    }
}

/// Keys never share an allowance: three of five requests of each are allowed, in any order.
fn each_key_has_its_own<K: LabKey>(
    name: &str,
    store: &dyn windowpane_lab::contestants::keyed::KeyedInstance<K>,
) {
    let keys: Vec<K> = (0..50).map(K::nth).collect();
    let picks: Vec<u32> = (0..50).chain((0..50).rev()).collect();
    let mut allowed = 0;
    for round in 0..3 {
        SimulatedClock::set(DAY + round);
        allowed += store.batch(&keys, &picks);
    }
    assert_eq!(allowed, 3 * 50, "{name}, {}", K::TYPE.word());
}

#[test]
fn every_store_limits_every_key_by_itself() {
    for contestant in all() {
        let name = contestant.info().name;
        SimulatedClock::set(DAY);
        match contestant.of_strings(demand(), LabClock::Simulated) {
            Ok(store) => each_key_has_its_own(name, &*store),
            Err(cannot) => panic!("{name}: {cannot}"),
        }
        match contestant.of_words(demand(), LabClock::Simulated) {
            Ok(store) => each_key_has_its_own(name, &*store),
            Err(cannot) => assert_eq!(name, "trypema", "{cannot}"),
        }
    }
}

const SHORT: Times = Times {
    warm_up: Duration::from_millis(1),
    measure: Duration::from_millis(3),
};

#[test]
fn every_store_is_in_the_state_that_the_definition_says() {
    for cell in cells(Mode::Test) {
        for contestant in all() {
            let info = contestant.info();
            let at = format!("{}, {}, {:?}", info.name, cell.workload.name, cell.key);
            match measure(&*contestant, cell, SHORT) {
                Ok(measured) => {
                    assert!(measured.share_ok, "{at}: {}", measured.allowed);
                    assert!(measured.throughput.operations() > 0, "{at}");
                }
                Err(cannot) => assert_eq!(info.origin, Origin::Rival, "{at}: {cannot}"),
            }
        }
    }
}

fn live_bytes() -> usize {
    let stats = crate::ALLOCATOR.stats();
    stats.bytes_allocated.wrapping_sub(stats.bytes_deallocated)
}

#[test]
fn memory_tells_what_was_accepted_and_what_was_not_tried() {
    let ring: Box<dyn KeyedContestant> = all()
        .into_iter()
        .find(|contestant| contestant.info().name == "store/cas-ring")
        .unwrap();
    let rows = measure_memory(&*ring, &Extent::of(Mode::Test), live_bytes);
    // 1 and 1,000 keys, limits of 10 and 100, once and full.
    assert_eq!(rows.len(), 2 * 2 * 2);
    for row in rows {
        let each = if row.fill == "full" { row.limit } else { 1 };
        assert_eq!(row.accepted, row.keys * each, "{row:?}");
        assert!(row.cannot.is_empty(), "{row:?}");
    }
    // A ring has its capacity from the start, eight bytes a permit. Other tests of this program free
    // memory meanwhile: one of many counts is undisturbed.
    let all_counted = || {
        let rows = measure_memory(&*ring, &Extent::of(Mode::Test), live_bytes);
        rows.iter()
            .all(|row| row.bytes.unwrap() >= 8 * row.limit * row.keys)
    };
    assert!(
        (0..50).any(|_| all_counted()),
        "bytes of the rings are missing"
    );
}
