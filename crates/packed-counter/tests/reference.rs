//! The counter against the two-window rule in rational arithmetic, written from the definition.

use proptest::prelude::*;
use windowpane_core::{Cost, Decision, MAX_WINDOW, Quota, RateLimiter, RequestError, Unit};
use windowpane_packed_counter::PackedCounter;

const TEN_YEARS: u64 = 10 * 365 * 86_400 * 1_000_000_000;

/// The rule, straight: counts by window, compared as fractions of the window.
#[derive(Clone)]
struct Reference {
    limit: u64,
    window: u64,
    index: u64,
    current: u64,
    previous: u64,
}

impl Reference {
    /// The state at `t`, and the time elapsed of its window.
    fn at(&self, t: u64) -> (Reference, u64) {
        let t = t.max(self.index * self.window);
        let mut now = self.clone();
        match t / self.window - self.index {
            0 => {}
            1 => (now.previous, now.current) = (self.current, 0),
            _ => (now.previous, now.current) = (0, 0),
        }
        now.index = t / self.window;
        (now, t % self.window)
    }

    /// `previous × (window − elapsed) / window + current + cost ≤ limit`, times the window.
    fn fits(&self, t: u64, cost: u64) -> bool {
        let (now, elapsed) = self.at(t);
        let weighted = now.previous as u128 * (self.window - elapsed) as u128;
        weighted + (now.current + cost) as u128 * self.window as u128
            <= self.limit as u128 * self.window as u128
    }

    fn remaining(&self, t: u64) -> u64 {
        let (mut least, mut most) = (0, self.limit);
        while least < most {
            let middle = least + (most - least).div_ceil(2);
            if self.fits(t, middle) {
                least = middle;
            } else {
                most = middle - 1;
            }
        }
        least
    }
}

#[derive(Clone, Debug)]
struct Call {
    step: i64,
    cost: u64,
}

fn story() -> impl Strategy<Value = (u64, u64, u64, Vec<Call>)> {
    // Windows of which ten years fit beside the two counts: the longer, the larger the limit can be.
    let shape = prop_oneof![
        (1..8_u64, Just(1_u64)).prop_map(|(l, _)| (l.min(3), 1_u64)),
        (1..12_u64, 1..50_u64),
        (1..1_000_u64, 20_000..60_000_u64),
        (1..100_000_u64, 1_000_000_000..100_000_000_000_u64),
        (1..(1_u64 << 31), MAX_WINDOW / 3..=MAX_WINDOW),
    ];
    (shape, 0..3_u64).prop_flat_map(|((limit, window), start)| {
        let w = window as i64;
        let step = prop_oneof![
            4 => Just(0_i64),
            4 => 0..=w / 3 + 1,
            2 => -w..=w,
            1 => w..=3 * w,
            1 => -2..3_i64,
            1 => (2..1_000_i64).prop_map(move |n| n.saturating_mul(w)),
        ];
        let cost =
            prop_oneof![3 => Just(1), 2 => 1..=limit, 1 => Just(limit), 1 => Just(limit + 1)];
        let call = (step, cost).prop_map(|(step, cost)| Call { step, cost });
        prop::collection::vec(call, 1..80).prop_map(move |calls| (limit, window, start, calls))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    #[test]
    fn the_counter_decides_waits_and_tells_what_remains_as_the_fractions_do(
        (limit, window, start, calls) in story(),
    ) {
        let quota = Quota::from_nanos(limit, window, Unit::Permits).unwrap();
        let counter = match PackedCounter::new(quota) {
            Ok(counter) => counter,
            // Not every shape fits; what does not is the other tests' matter.
            Err(_) => return Ok(()),
        };
        let mut reference = Reference { limit, window, index: 0, current: 0, previous: 0 };
        let mut now = start * window;
        for Call { step, cost } in calls {
            now = now.saturating_add_signed(step).min(1 << 62);
            let answer = counter.decide_detailed_at(now, Cost::new(cost).unwrap());
            if cost > limit {
                let error = matches!(answer, Err(RequestError::NeverFits { .. }));
                prop_assert!(error, "{answer:?}");
                continue;
            }
            if let Err(RequestError::TimeOutOfRange { last, .. }) = answer {
                // Past the ten years that the range covers at least, nothing more is compared.
                prop_assert!(now > last && last >= TEN_YEARS, "{now} {last}");
                return Ok(());
            }
            let answer = answer.unwrap();
            if reference.fits(now, cost) {
                let at = now.max(reference.index * window);
                prop_assert_eq!(answer.decision(), Decision::Allowed { at });
                (reference, _) = reference.at(now);
                reference.current += cost;
            } else {
                let denied = answer.decision().denied().expect("the fractions deny");
                let wait = denied.retry_after_nanos().expect("a wait helps");
                prop_assert!(reference.fits(now + wait, cost), "at the end of the wait");
                prop_assert!(!reference.fits(now + wait - 1, cost), "one nanosecond earlier");
            }
            prop_assert_eq!(answer.remaining(), reference.remaining(now));
            let (at, _) = reference.at(now);
            prop_assert_eq!(counter.is_idle_at(now), at.current == 0 && at.previous == 0);
        }
    }
}

/// Idle gaps of 2^k windows, one more and one less, for every k inside the range: full capacity,
/// and no reading of an old count as a recent one.
#[test]
fn an_idle_gap_of_any_length_inside_the_range_leaves_full_capacity() {
    for (limit, window) in [
        (1, 1_000_000_000),
        (1_000, 20_000),
        (1 << 15, 60_000_000_000),
        (3, 40),
    ] {
        let quota = Quota::from_nanos(limit, window, Unit::Permits).unwrap();
        for k in 1..64 {
            for gap in [(1_u64 << k) - 1, 1 << k, (1 << k) + 1] {
                let counter = PackedCounter::new(quota).unwrap();
                let half = window / 2;
                assert!(
                    counter
                        .decide_at(half, Cost::new(limit).unwrap())
                        .unwrap()
                        .is_allowed()
                );
                let Some(later) = gap.checked_mul(window).and_then(|g| g.checked_add(half)) else {
                    continue;
                };
                match counter.peek_at(later, Cost::ONE) {
                    // Exactly one window later half of the limit still weighs.
                    Ok(peeked) if gap == 1 => {
                        let weight = limit.div_ceil(2);
                        assert_eq!(peeked.remaining(), (limit - weight).saturating_sub(1));
                    }
                    Ok(peeked) => assert_eq!(peeked.remaining(), limit - 1, "after {gap} windows"),
                    Err(RequestError::TimeOutOfRange { now, last }) => {
                        assert!(now > last, "{now} {last}");
                        // Ten years at least, and then an error, never a stale reading.
                        assert!(last >= TEN_YEARS);
                    }
                    Err(error) => panic!("{error}"),
                }
            }
        }
    }
}

/// One nanosecond inside the range decides, one outside is an error that changes nothing.
#[test]
fn the_range_ends_where_it_says() {
    let quota = Quota::from_nanos(1_000, 18_000, Unit::Permits).unwrap();
    let counter = PackedCounter::starting_at(quota, 1_700_000_000_000_000_000).unwrap();
    let Err(RequestError::TimeOutOfRange { last, .. }) = counter.decide_at(u64::MAX, Cost::ONE)
    else {
        panic!("the end of u64 is out of this range");
    };
    assert!(matches!(
        counter.decide_at(last + 1, Cost::ONE),
        Err(RequestError::TimeOutOfRange { .. })
    ));
    assert!(counter.is_idle_at(last));
    assert!(counter.decide_at(last, Cost::ONE).unwrap().is_allowed());
    assert!(!counter.is_idle_at(last));
}

/// The windows begin at multiples of the window on the caller's clock, wherever the range starts.
#[test]
fn the_start_moves_the_range_and_not_the_windows() {
    let quota = Quota::from_nanos(10, 60, Unit::Permits).unwrap();
    let early = PackedCounter::new(quota).unwrap();
    let late = PackedCounter::starting_at(quota, 601).unwrap();
    for (t, cost) in [(601, 10), (659, 1), (660, 1), (667, 1), (700, 4), (720, 9)] {
        let cost = Cost::new(cost).unwrap();
        assert_eq!(
            early.decide_detailed_at(t, cost),
            late.decide_detailed_at(t, cost),
            "at {t}"
        );
    }
}

/// Ten years are covered from the start on, also where the first window began before it.
#[test]
fn the_ten_years_count_from_the_start_and_not_from_the_first_window() {
    let required = windowpane_core::one_word::REQUIRED_RANGE as u64;
    let window = required.div_ceil(15);
    let quota = Quota::from_nanos((1 << 30) - 1, window, Unit::Permits).unwrap();
    let start = window - 1;
    let counter = PackedCounter::starting_at(quota, start).unwrap();
    assert!(
        counter
            .decide_at(start + required - 1, Cost::ONE)
            .unwrap()
            .is_allowed()
    );
    let tight = Quota::from_nanos((1 << 30) - 1, required / 16, Unit::Permits).unwrap();
    assert!(
        PackedCounter::new(tight).is_err(),
        "16 windows of which one may be spent at the start"
    );
}
