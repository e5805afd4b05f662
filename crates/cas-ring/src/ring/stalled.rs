//! Threads that claim and then stall: the next call finishes what they left, and no answer changes.

use proptest::prelude::*;
use windowpane_mutex_log::MutexLog;

use super::*;

#[derive(Clone, Debug)]
enum Call {
    /// One of the two calls that take permits.
    Acquire {
        cost: u64,
        detailed: bool,
    },
    /// Claims if the cost fits, and stalls after `published` slots of the record.
    Stall {
        cost: u64,
        published: usize,
    },
    Change(Vec<Quota>),
    Reset,
}

fn quotas() -> impl Strategy<Value = Vec<Quota>> {
    let quota = (1..7_u64, 1..20_u64);
    let quota = quota.prop_map(|(l, w)| Quota::from_nanos(l, w, Unit::Permits).unwrap());
    prop::collection::vec(quota, 1..4)
}

fn call() -> impl Strategy<Value = Call> {
    prop_oneof![
        6 => (1..8_u64, any::<bool>()).prop_map(|(cost, detailed)| Call::Acquire { cost, detailed }),
        6 => (1..8_u64, 0..8_usize).prop_map(|(cost, published)| Call::Stall { cost, published }),
        1 => quotas().prop_map(Call::Change),
        1 => Just(Call::Reset),
    ]
}

/// Claims as `decide_at` does, if the cost fits, and publishes no more than the first `published`
/// slots of the record. Returns whether it fitted.
fn claim_and_stall(ring: &CasRing, now: Nanos, cost: Cost, published: usize) -> bool {
    let head = ring.load_head();
    if !matches!(ring.denial(head, now, cost), Ok(None)) {
        return false;
    }
    // No thread claims before the record before is published.
    assert!(ring.help(head));
    let (at, filled) = ring.effective(head, now);
    let claimed = head.claim(at, cost.get(), filled, ring.capacity());
    let (before, after) = (head.to_bits(), claimed.to_bits());
    let claim = ring
        .head
        .compare_exchange(before, after, Ordering::AcqRel, Ordering::Acquire);
    assert!(claim.is_ok());
    let slots = (1..=cost.get()).rev().take(published);
    assert!({ slots }.all(|nth| ring.publish(claimed, nth)));
    true
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn what_a_stalled_thread_leaves_unfinished_changes_no_answer(
        first in quotas(), spare in 0..3_u64, calls in prop::collection::vec((0..9_u64, call()), 1..40),
    ) {
        let first = Quotas::new(first).unwrap();
        let mut ring = CasRing::with_capacity(first.clone(), first.largest_limit() + spare).unwrap();
        let mut log = <MutexLog>::new(first);
        let mut now = 0;
        for (step, call) in calls {
            now += step;
            match call {
                Call::Acquire { cost, detailed } => {
                    let cost = Cost::new(cost).unwrap();
                    let expected = log.decide_detailed_at(now, cost);
                    if detailed {
                        prop_assert_eq!(ring.decide_detailed_at(now, cost), expected);
                    } else {
                        let expected = expected.map(|detailed| detailed.decision());
                        prop_assert_eq!(ring.decide_at(now, cost), expected);
                    }
                }
                Call::Stall { cost, published } => {
                    let cost = Cost::new(cost).unwrap();
                    let expected = log.decide_at(now, cost).is_ok_and(|d| d.is_allowed());
                    prop_assert_eq!(claim_and_stall(&ring, now, cost, published), expected);
                }
                Call::Change(others) => {
                    let others = Quotas::new(others).unwrap();
                    if ring.change_at(now, &others).is_ok() {
                        log.change_at(now, &others).unwrap();
                    }
                }
                Call::Reset => {
                    ring.reset();
                    log.reset();
                }
            }
            prop_assert_eq!(ring.peek_at(now, Cost::ONE), log.peek_at(now, Cost::ONE));
            prop_assert_eq!(ring.is_idle_at(now), log.is_idle_at(now));
        }
    }
}

/// A call that slept inside its claim of a ring of one slot: it has changed the head and not yet
/// written the slot.
struct Asleep {
    found: u64,
    record: u64,
}

impl Asleep {
    fn claim(ring: &CasRing, now: Nanos) -> Asleep {
        let head = ring.load_head();
        let found = ring.slots[0].load(Ordering::Acquire);
        assert!(claim_and_stall(ring, now, Cost::ONE, 0));
        let record = Slot::record(head.next(), ring.load_head().stamp()).0;
        Asleep { found, record }
    }

    /// Writes the slot as `CasRing::claim` does. Returns whether that changed it.
    fn wakes(&self, ring: &CasRing) -> bool {
        ring.slots[0]
            .compare_exchange(
                self.found,
                self.record,
                Ordering::Release,
                Ordering::Relaxed,
            )
            .is_ok()
    }
}

fn ring_of_one() -> CasRing {
    CasRing::new(Quotas::parse(["1/60s"]).unwrap()).unwrap()
}

#[test]
fn a_late_write_after_256_resets_on_a_standing_clock_fails() {
    for resets in [1, 254, 255, 256, 257, 511, 512] {
        let ring = ring_of_one();
        let now = 7;
        // The slot holds a record of this time, as it does again 256 laps later.
        assert!(ring.decide_at(now, Cost::ONE).unwrap().is_allowed());
        ring.reset();
        let asleep = Asleep::claim(&ring, now);
        for _ in 0..resets {
            ring.reset();
            assert!(ring.decide_at(now, Cost::ONE).unwrap().is_allowed());
        }
        assert!(!asleep.wakes(&ring), "after {resets} resets");
        let denied = ring.decide_at(now, Cost::ONE).unwrap().denied().unwrap();
        assert_eq!(denied.retry_after_nanos(), Some(60_000_000_000));
        assert!(
            ring.decide_at(now + 60_000_000_000, Cost::ONE)
                .unwrap()
                .is_allowed()
        );
    }
}

/// Decides as `decide_at` does, within a hundred attempts.
fn decide_in_time(ring: &CasRing, now: Nanos) -> Decision {
    let attempt = || ring.decide(ring.load_head(), now, Cost::ONE).unwrap();
    let decision = (0..100).find_map(|_| attempt());
    decision.expect("an attempt that ends")
}

/// No sequence of calls is known that writes such a slot. A ring that has one must still go on.
#[test]
fn a_slot_of_an_impossible_lap_keeps_no_call_from_ending() {
    for lap in 0..=255 {
        let ring = ring_of_one();
        assert!(decide_in_time(&ring, 7).is_allowed());
        ring.slots[0].store(lap << 56 | 7, Ordering::Release);
        assert!(!decide_in_time(&ring, 8).is_allowed());
        assert!(decide_in_time(&ring, 7 + 60_000_000_000).is_allowed());
    }
}

#[test]
fn no_head_comes_back_by_resets_on_a_standing_clock() {
    let ring = ring_of_one();
    let mut seen = std::collections::HashSet::new();
    for _ in 0..70_000 {
        assert!(seen.insert(ring.head.load(Ordering::Acquire)));
        assert!(ring.decide_at(7, Cost::ONE).unwrap().is_allowed());
        assert!(seen.insert(ring.head.load(Ordering::Acquire)));
        ring.reset();
    }
}

#[test]
fn an_announced_reset_changes_nothing_until_finished() {
    let ring = ring_of_one();
    assert!(ring.decide_at(7, Cost::ONE).unwrap().is_allowed());
    let number = ring.announce_reset();
    assert_eq!(number, 1);
    assert!(!ring.decide_at(8, Cost::ONE).unwrap().is_allowed());
    assert!(!ring.peek_at(8, Cost::ONE).unwrap().is_allowed());
    let later = 7 + 60_000_000_000;
    assert!(ring.decide_at(later, Cost::ONE).unwrap().is_allowed());
    // The next reset finishes it and serves for both.
    ring.reset();
    assert_eq!(ring.load_head().reset_tag(), 1);
    assert!(ring.decide_at(8, Cost::ONE).unwrap().is_allowed());
    ring.reset();
    assert_eq!(ring.load_head().reset_tag(), 2);
}
