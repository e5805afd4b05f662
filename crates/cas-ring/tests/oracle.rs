//! The ring against the oracle, on random inputs: decision, wait, what remains, idleness.

use std::cell::Cell;
use std::iter;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use windowpane_cas_ring::CasRing;
use windowpane_core::{
    BuildError, ChangeQuotas, Cost, MAX_WINDOW, Quota, Quotas, RateLimiter, Unit,
};
use windowpane_mutex_log::MutexLog;

#[derive(Clone, Debug)]
enum Call {
    /// Moves the clock by a number of parts of the smallest window, and asks.
    Acquire {
        step: i64,
        cost: u64,
    },
    /// Moves the clock to the edge of the oldest accepted request's window, or one tick off it.
    Edge {
        off: i64,
        cost: u64,
    },
    Reset,
    /// Moves the clock and puts other quotas in force.
    Change {
        step: i64,
        quotas: Vec<Quota>,
    },
}

#[derive(Clone, Debug)]
struct Story {
    quotas: Vec<Quota>,
    spare_capacity: u64,
    start: u64,
    calls: Vec<Call>,
}

fn story() -> impl Strategy<Value = Story> {
    let scale = prop_oneof![
        4 => Just(1_u64),
        2 => Just(1_000_003),
        1 => Just(MAX_WINDOW / 40),
    ];
    let limit = prop_oneof![1 => Just(0_u64), 6 => Just(1), 12 => 1..8_u64, 2 => 8..40_u64];
    let window = prop_oneof![3 => Just(1_u64), 10 => 1..40_u64];
    let quotas = prop::collection::vec((limit, window), 1..4);
    let others = quotas.clone();
    let spare = prop_oneof![3 => Just(0_u64), 1 => 1..5_u64];
    let start = prop_oneof![Just(0_u64), Just(1 << 60), 0..1_000_u64];
    (scale, quotas, spare, start).prop_flat_map(move |(scale, quotas, spare_capacity, start)| {
        let quotas: Vec<Quota> = quotas
            .into_iter()
            .map(|(l, w)| Quota::from_nanos(l, w * scale, Unit::Permits).unwrap())
            .collect();
        let others = others.clone().prop_map(move |others| {
            let quota = |(l, w)| Quota::from_nanos(l, w * scale, Unit::Permits).unwrap();
            others.into_iter().map(quota).collect::<Vec<_>>()
        });
        let scale = scale as i64;
        let step = prop_oneof![
            4 => Just(0_i64),
            8 => (0..10_i64).prop_map(move |s| s * scale),
            2 => (-8..0_i64).prop_map(move |s| s * scale),
            2 => -3..4_i64,
            1 => (40..400_i64).prop_map(move |s| s.saturating_mul(scale)),
        ];
        let cost = prop_oneof![6 => Just(1_u64), 2 => 1..9_u64, 1 => 1..45_u64];
        let call = prop_oneof![
            2 => (step.clone(), others).prop_map(|(step, quotas)| Call::Change { step, quotas }),
            20 => (step, cost.clone()).prop_map(|(step, cost)| Call::Acquire { step, cost }),
            6 => (-1..2_i64, cost).prop_map(|(off, cost)| Call::Edge { off, cost }),
            1 => Just(Call::Reset),
        ];
        prop::collection::vec(call, 1..120).prop_map(move |calls| Story {
            quotas: quotas.clone(),
            spare_capacity,
            start,
            calls,
        })
    })
}

/// Plays the story on both and returns how many requests were compared.
fn compare(story: &Story) -> Result<u64, TestCaseError> {
    let mut quotas = Quotas::new(story.quotas.clone()).unwrap();
    let capacity = quotas.largest_limit() + story.spare_capacity;
    let mut ring = CasRing::with_capacity(quotas.clone(), capacity).unwrap();
    let mut log = <MutexLog>::new(quotas.clone());
    let mut now = story.start;
    let mut compared = 0;
    for call in &story.calls {
        let cost = match *call {
            Call::Reset => {
                ring.reset();
                log.reset();
                continue;
            }
            Call::Change {
                step,
                quotas: ref others,
            } => {
                now = now.saturating_add_signed(step).min(1 << 63);
                let others = Quotas::new(others.clone()).unwrap();
                let limit = others.largest_limit();
                let changed = ring.change_at(now, &others);
                if limit > ring.capacity() {
                    let capacity = ring.capacity();
                    let too_small = BuildError::CapacityTooSmall { capacity, limit };
                    prop_assert_eq!(changed, Err(too_small));
                } else {
                    prop_assert_eq!(changed, Ok(()));
                    log.change_at(now, &others).unwrap();
                    quotas = others;
                }
                prop_assert_eq!(ring.quotas(), quotas.clone());
                continue;
            }
            Call::Acquire { step, cost } => {
                now = now.saturating_add_signed(step).min(1 << 63);
                cost
            }
            Call::Edge { off, cost } => {
                if let Some(oldest) = log.snapshot().first() {
                    let edge = oldest.at + quotas.longest_window();
                    now = edge.saturating_add_signed(off).min(1 << 63);
                }
                cost
            }
        };
        let cost = Cost::new(cost).unwrap();
        prop_assert_eq!(ring.peek_at(now, cost), log.peek_at(now, cost));
        prop_assert_eq!(ring.is_idle_at(now), log.is_idle_at(now));
        let expected = log.decide_detailed_at(now, cost);
        // Both ways of asking, in turn.
        if compared % 2 == 0 {
            prop_assert_eq!(ring.decide_detailed_at(now, cost), expected);
        } else {
            let expected = expected.map(|detailed| detailed.decision());
            prop_assert_eq!(ring.decide_at(now, cost), expected);
        }
        compared += 1;
    }
    Ok(compared)
}

/// At least 100,000 requests in all, however short the stories turn out.
#[test]
fn the_ring_decides_as_the_log_does() {
    let compared = Cell::new(0);
    let mut runner = TestRunner::new(Config::with_cases(4_000));
    runner
        .run(&story(), |story| {
            compared.set(compared.get() + compare(&story)?);
            Ok(())
        })
        .unwrap();
    assert!(compared.get() >= 100_000, "{} requests", compared.get());
}

/// Entries older than the slots' 56 bits of time: a slow trickle over many years, in which the ring
/// must forget before a time is read as one of 2.28 years later.
#[test]
fn a_trickle_over_centuries_is_read_right() {
    // In steps of 60 days, each past a multiple of 2^52 ns, the permit that decides on the ring of 33
    // is some 960 days old: with the slots' bits alone it would look like one of 126. The clock that
    // ticks in milliseconds never tells a low bit.
    for (limit, window_days, step_days, tick) in [
        (33, 365, 60, 1),
        (33, 365, 60, 1 << 20),
        (50, 365, 20, 1),
        (3, 365, 364, 1),
        (400, 365, 1, 1),
        (9, 30, 29, 1),
    ] {
        let day = 86_400_000_000_000;
        let quota = Quota::from_nanos(limit, window_days * day, Unit::Permits).unwrap();
        let (ring, log) = (CasRing::new(quota).unwrap(), <MutexLog>::new(quota));
        let mut now = 0_u64;
        let mut i = 0;
        while now < 400 * 365 * day {
            // Uneven steps, so that no multiple of anything is favoured.
            now += step_days * day - (i * 7_919) % day;
            i += 1;
            let cost = Cost::new(1 + i % 3).unwrap();
            let at = now - now % tick;
            assert_eq!(
                ring.decide_detailed_at(at, cost),
                log.decide_detailed_at(at, cost),
                "at {at}"
            );
        }
    }
}

/// What a slot's 56 bits of time cannot tell must be forgotten before it is that old, whichever of the
/// 16 stretches of 2^52 ns until then something is accepted in.
#[test]
fn what_is_forgotten_does_not_hang_on_when_calls_come() {
    let stretch = 1_u64 << 52;
    let quota = Quota::from_nanos(40, MAX_WINDOW, Unit::Permits).unwrap();
    for set in 0..1_u64 << 16 {
        let (ring, log) = (CasRing::new(quota).unwrap(), <MutexLog>::new(quota));
        let inside = (1..=16).filter(|i| set >> (i - 1) & 1 == 1);
        let ones = inside.map(|i| (i * stretch + stretch / 4, 1));
        let calls = iter::once((stretch / 10, 20)).chain(ones);
        for (at, cost) in calls.chain([(16 * stretch + stretch / 3, 1)]) {
            let cost = Cost::new(cost).unwrap();
            assert_eq!(
                ring.decide_detailed_at(at, cost),
                log.decide_detailed_at(at, cost),
                "at {at}, in the stretches {set:b}"
            );
        }
    }
}

/// Laps far beyond the lap's 16 bits.
#[test]
fn the_laps_wrap() {
    let quota = Quota::from_nanos(1, 10, Unit::Permits).unwrap();
    let (ring, log) = (CasRing::new(quota).unwrap(), <MutexLog>::new(quota));
    for i in 0..200_000_u64 {
        let now = i * 5;
        assert_eq!(
            ring.decide_at(now, Cost::ONE),
            log.decide_at(now, Cost::ONE)
        );
    }
}
