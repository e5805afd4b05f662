//! Stores of many keys: each limits every key by itself, and is measured in the state it is called.

use std::time::Duration;

use windowpane_lab_contestants::Origin;
use windowpane_lab_contestants::keyed::{Demand, KeyedContestant, LabKey, all};
use windowpane_lab_ground::clock::{LabClock, SimulatedClock};
use windowpane_lab_measure::definitions;
use windowpane_lab_measure::environment::Environment;
use windowpane_lab_measure::expect::findings;
use windowpane_lab_measure::keyed::{Extent, attack, cells, measure, measure_memory};
use windowpane_lab_measure::plan::Mode;
use windowpane_lab_measure::recording::Recording;
use windowpane_lab_measure::rows::KeyedAttackRow;
use windowpane_lab_measure::throughput::{Repeats, Times};

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
    store: &dyn windowpane_lab_contestants::keyed::KeyedInstance<K>,
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
            match measure(contestant, cell, SHORT, &mut Repeats::at_most(0)) {
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
    let ring: &'static dyn KeyedContestant = all()
        .into_iter()
        .find(|contestant| contestant.info().name == "store/cas-ring")
        .unwrap();
    let rows = measure_memory(ring, &Extent::of(Mode::Test), live_bytes);
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
        let rows = measure_memory(ring, &Extent::of(Mode::Test), live_bytes);
        rows.iter()
            .all(|row| row.bytes.unwrap() >= 8 * row.limit * row.keys)
    };
    assert!(
        (0..50).any(|_| all_counted()),
        "bytes of the rings are missing"
    );
}

fn attacked(name: &str, tidied: bool) -> Vec<KeyedAttackRow> {
    let everyone = all();
    let contestant = everyone
        .iter()
        .find(|contestant| contestant.info().name == name)
        .unwrap();
    let definition = definitions::attacks().next().unwrap();
    attack(*contestant, definition, Mode::Test, tidied, live_bytes)
}

#[test]
fn under_attack_ours_keep_every_client_over_its_limit_and_the_cap() {
    let ours = all();
    let ours = ours.iter().map(|contestant| contestant.info());
    for info in ours.filter(|info| info.origin == Origin::Ours) {
        let rows = attacked(info.name, false);
        let asked: Vec<u64> = rows.iter().map(|row| row.asked).collect();
        assert_eq!(asked, [0, 10_000, 20_000, 50_000, 100_000], "{}", info.name);
        for row in &rows {
            assert_eq!((row.clients, row.fresh), (100, 0), "{row:?}");
            assert!(row.keys.unwrap() <= row.cap, "{row:?}");
        }
        let last = &rows[4];
        // All of two days ago went, and then nobody found room.
        assert_eq!(last.evictions, Some(500), "{last:?}");
        assert!(last.refusals.unwrap() >= 99_000, "{last:?}");
        assert_eq!(last.let_in, 0, "{last:?}");
        assert!(attacked(info.name, true).is_empty(), "{}", info.name);
    }
}

#[test]
fn under_attack_who_has_no_cap_holds_every_key() {
    for tidied in [false, true] {
        let rows = attacked("governor", tidied);
        let last = rows.last().unwrap();
        // It is tidied of those of two days ago alone: all others are live.
        let idle = if tidied { 0 } else { 500 };
        assert_eq!(last.keys, Some(idle + 100 + 100_000), "{last:?}");
        assert_eq!((last.fresh, last.let_in), (0, 50_000), "{last:?}");
        assert_eq!(last.slowest_tidy_ns > 0, tidied, "{last:?}");
    }
}

#[test]
fn an_attack_that_is_not_withstood_is_found() {
    let row = |asked| KeyedAttackRow {
        contestant: "store/cas-ring".into(),
        origin: "ours".into(),
        attack: "attack".into(),
        cap: 1_000,
        asked,
        bytes: 1 << 20,
        keys: Some(1_000),
        clients: 100,
        most_examined: Some(8),
        ..KeyedAttackRow::default()
    };
    let found = |last: KeyedAttackRow| {
        let environment = Environment::observe(&std::env::temp_dir());
        let mut recording = Recording::new(environment, []);
        recording.keyed_attack = vec![row(0), row(10_000), last];
        let findings = findings(&recording, &[]);
        assert!(findings.iter().all(|finding| finding.ours));
        findings.len()
    };
    assert_eq!(found(row(100_000)), 0);
    let last = || row(100_000);
    assert_eq!(found(KeyedAttackRow { fresh: 1, ..last() }), 1);
    let bytes = 2 << 20;
    assert_eq!(found(KeyedAttackRow { bytes, ..last() }), 1);
    let keys = Some(1_001);
    assert_eq!(found(KeyedAttackRow { keys, ..last() }), 1);
    let most_examined = Some(1_000);
    assert_eq!(
        found(KeyedAttackRow {
            most_examined,
            ..last()
        }),
        1
    );
}
