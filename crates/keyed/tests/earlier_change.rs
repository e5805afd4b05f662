//! Quotas that change at a time before the latest recorded one, in all algorithms: no capacity comes of
//! it that the algorithm's own rule does not give.

use proptest::prelude::*;
use windowpane_baselines::{FixedWindow, Gcra};
use windowpane_bucket_ring::BucketRing;
use windowpane_cas_ring::CasRing;
use windowpane_core::{ChangeQuotas, Cost, Decision, FromQuotas, Nanos, Quota, RateLimiter, Unit};
use windowpane_mutex_log::MutexLog;
use windowpane_packed_counter::PackedCounter;

/// The largest limit of all changes, and so the capacity of the ring.
const LARGEST: u64 = 14;

/// The first window, and one that a word can hold: it has a range of ten years.
const SHORT: Nanos = 3_000;
const LONG: Nanos = 3_000_000;

/// Far from zero, so that no reading is before it.
const START: Nanos = 1_000_000_000;

fn quota(limit: u64, window: Nanos) -> Quota {
    Quota::from_nanos(limit, window, Unit::Permits).unwrap()
}

/// A call, and how far its reading is before the latest one.
#[derive(Clone, Copy, Debug)]
enum Call {
    Acquire { step: Nanos, back: Nanos, cost: u64 },
    Change { back: Nanos, quota: Quota },
}

/// Calls while windows change; steps are counted in a thirtieth of `window`.
fn calls(window: Nanos, windows: impl Strategy<Value = Nanos>) -> impl Strategy<Value = Vec<Call>> {
    let scaled = move |step: u64| step * window / 30;
    let step = prop_oneof![3 => Just(0_u64), 8 => 0..12_u64, 1 => 40..200_u64].prop_map(scaled);
    let back = prop_oneof![2 => Just(0_u64), 3 => 0..40_u64, 1 => Just(5_000_u64)];
    let back = back.prop_map(scaled).boxed();
    let acquire = (step, back.clone(), 1..6_u64);
    let acquire = acquire.prop_map(|(step, back, cost)| Call::Acquire { step, back, cost });
    let change = (back, 1..=LARGEST, windows);
    let change = change.prop_map(|(back, limit, window)| Call::Change {
        back,
        quota: quota(limit, window),
    });
    prop::collection::vec(prop_oneof![6 => acquire, 1 => change], 1..120)
}

/// What was accepted, by the recorded times.
#[derive(Clone, Debug)]
struct Recorded {
    quota: Quota,
    /// All that had not left its window at a change.
    kept: Vec<(Nanos, u64)>,
    /// All since the last change of the window, and since any change.
    of_window: Vec<(Nanos, u64)>,
    of_quota: Vec<(Nanos, u64)>,
    latest: Nanos,
}

impl Recorded {
    fn accept(&mut self, at: Nanos, cost: u64) {
        self.latest = self.latest.max(at);
        self.kept.push((at, cost));
        self.of_window.push((at, cost));
        self.of_quota.push((at, cost));
    }

    fn change(&mut self, at: Nanos, quota: Quota) {
        self.latest = self.latest.max(at);
        let (window, latest) = (self.quota.window(), self.latest);
        self.kept.retain(|(at, _)| at + window > latest);
        if window != quota.window() {
            self.of_window.clear();
        }
        self.of_quota.clear();
        self.quota = quota;
    }

    fn sum(recorded: &[(Nanos, u64)], is_inside: impl Fn(Nanos) -> bool) -> u64 {
        let inside = recorded.iter().filter(|(at, _)| is_inside(*at));
        inside.map(|(_, cost)| cost).sum()
    }

    /// The window that ends at `at` holds no more than the limit.
    fn holds_exactly(&self, at: Nanos) -> bool {
        let inside = |other: Nanos| other <= at && other + self.quota.window() > at;
        Self::sum(&self.kept, inside) <= self.quota.limit()
    }

    /// The aligned window of `at` holds no more than the limit.
    fn holds_aligned(&self, at: Nanos) -> bool {
        let window = self.quota.window();
        Self::sum(&self.of_window, |other| other / window == at / window) <= self.quota.limit()
    }

    /// So does it together with the overlap of the one before.
    fn holds_weighted(&self, at: Nanos) -> bool {
        let window = self.quota.window();
        let of = |index: u64| Self::sum(&self.of_window, |other| other / window == index);
        let (index, elapsed) = (at / window, at % window);
        of(index - 1) * (window - elapsed) + of(index) * window <= self.quota.limit() * window
    }

    /// What was accepted since the change conforms to the rate, by itself.
    fn holds_the_rate(&self, _at: Nanos) -> bool {
        let interval = self.quota.window().div_ceil(self.quota.limit());
        let mut arrival = 0;
        self.of_quota.iter().all(|(at, cost)| {
            arrival = arrival.max(*at) + cost * interval;
            arrival - at <= self.quota.limit() * interval
        })
    }
}

/// Makes the calls; after each acceptance what is recorded must satisfy `holds`.
fn check<L: ChangeQuotas>(
    mut limiter: L,
    first: Quota,
    calls: &[Call],
    holds: fn(&Recorded, Nanos) -> bool,
) -> Result<(), TestCaseError> {
    let mut recorded = Recorded {
        quota: first,
        kept: Vec::new(),
        of_window: Vec::new(),
        of_quota: Vec::new(),
        latest: 0,
    };
    let mut now = START;
    for call in calls {
        match *call {
            Call::Acquire { step, back, cost } => {
                now += step;
                let asked = Cost::new(cost).unwrap();
                if let Ok(Decision::Allowed { at }) = limiter.decide_at(now - back, asked) {
                    recorded.accept(at, cost);
                    prop_assert!(holds(&recorded, at), "at {at}: {recorded:?}");
                }
            }
            Call::Change { back, quota } => {
                limiter.change_at(now - back, &quota.into()).unwrap();
                recorded.change(now - back, quota);
            }
        }
    }
    Ok(())
}

/// Makes the calls; right after each change at least as much is used as right before it.
fn check_used<L: ChangeQuotas + FromQuotas>(calls: &[Call]) -> Result<(), TestCaseError> {
    let mut limit = 9;
    let mut limiter: L = new(quota(limit, LONG));
    let mut now = START;
    for call in calls {
        match *call {
            Call::Acquire { step, back, cost } => {
                now += step;
                let _ = limiter.decide_at(now - back, Cost::new(cost).unwrap());
            }
            Call::Change { back, quota } => {
                let left = |limiter: &L| {
                    let seen = limiter.peek_at(now - back, Cost::ONE).unwrap();
                    seen.remaining() + u64::from(seen.is_allowed())
                };
                let used = limit - left(&limiter);
                limiter.change_at(now - back, &quota.into()).unwrap();
                limit = quota.limit();
                let most = limit.saturating_sub(used);
                prop_assert!(
                    left(&limiter) <= most,
                    "{} of {most}, {used} were used",
                    left(&limiter)
                );
            }
        }
    }
    Ok(())
}

/// Makes the calls; as many windows later as the largest limit, all of the last quota is free. GCRA
/// takes that long to give back what the largest limit accepted at the rate of a limit of 1.
fn check_free<L: ChangeQuotas + FromQuotas>(calls: &[Call]) -> Result<(), TestCaseError> {
    let mut last = quota(9, LONG);
    let mut limiter: L = new(last);
    let mut now = START;
    for call in calls {
        match *call {
            Call::Acquire { step, back, cost } => {
                now += step;
                let _ = limiter.decide_at(now - back, Cost::new(cost).unwrap());
            }
            Call::Change { back, quota } => {
                limiter.change_at(now - back, &quota.into()).unwrap();
                last = quota;
            }
        }
    }
    let later = now + (LARGEST + 1) * 3 * LONG;
    let seen = limiter.peek_at(later, Cost::ONE).unwrap();
    prop_assert_eq!(seen.remaining() + 1, last.limit());
    Ok(())
}

fn new<L: FromQuotas>(quota: Quota) -> L {
    L::from_quotas(&quota.into(), 0).unwrap()
}

fn ring(quota: Quota) -> CasRing {
    CasRing::with_capacity(quota, LARGEST).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// The exact ones and the bucket ring, whose window may change: no window of the recorded times
    /// holds more than its limit.
    #[test]
    fn earlier_changes_create_no_capacity(calls in calls(SHORT, prop_oneof![2 => Just(SHORT), 3 => 1..3 * SHORT])) {
        let first = quota(9, SHORT);
        check::<MutexLog>(new(first), first, &calls, Recorded::holds_exactly)?;
        check(ring(first), first, &calls, Recorded::holds_exactly)?;
        check::<BucketRing>(new(first), first, &calls, Recorded::holds_exactly)?;
    }

    /// The ring answers as the log to the letter, whatever the times of calls and changes.
    #[test]
    fn earlier_changes_leave_the_ring_equal_to_the_log(
        calls in calls(SHORT, prop_oneof![2 => Just(SHORT), 3 => 1..3 * SHORT]),
    ) {
        let first = quota(9, SHORT);
        let (mut ring, mut log) = (ring(first), <MutexLog>::new(first));
        let mut now = START;
        for call in calls {
            match call {
                Call::Acquire { step, back, cost } => {
                    now += step;
                    let (reading, asked) = (now - back, Cost::new(cost).unwrap());
                    let answer = ring.decide_detailed_at(reading, asked);
                    prop_assert_eq!(answer, log.decide_detailed_at(reading, asked));
                }
                Call::Change { back, quota } => {
                    let changed = ring.change_at(now - back, &quota.into());
                    prop_assert_eq!(changed, log.change_at(now - back, &quota.into()));
                }
            }
            let seen = ring.peek_at(now, Cost::ONE);
            prop_assert_eq!(seen, log.peek_at(now, Cost::ONE));
        }
    }

    /// The limiters of one word, whose window stays: the rule holds for all that was ever accepted.
    #[test]
    fn earlier_changes_of_the_limit_keep_the_rule_of_a_word(calls in calls(LONG, Just(LONG))) {
        let first = quota(9, LONG);
        check::<FixedWindow>(new(first), first, &calls, Recorded::holds_aligned)?;
        check::<PackedCounter>(new(first), first, &calls, Recorded::holds_weighted)?;
    }

    /// The limiters of one word, by what was accepted since the change of the window. That the counters
    /// keep what was accepted before it is tested in their own crates; GCRA can give one burst more.
    #[test]
    fn earlier_changes_of_the_window_keep_the_rule_since(
        calls in calls(LONG, prop_oneof![Just(LONG), LONG / 10..3 * LONG]),
    ) {
        let first = quota(9, LONG);
        check::<FixedWindow>(new(first), first, &calls, Recorded::holds_aligned)?;
        check::<PackedCounter>(new(first), first, &calls, Recorded::holds_weighted)?;
        check::<Gcra>(new(first), first, &calls, Recorded::holds_the_rate)?;
    }

    /// The limiters of one word forget nothing at an earlier change, as seen from its time.
    #[test]
    fn earlier_changes_forget_nothing_that_is_used(
        calls in calls(LONG, prop_oneof![Just(LONG), LONG / 10..3 * LONG]),
    ) {
        check_used::<FixedWindow>(&calls)?;
        check_used::<PackedCounter>(&calls)?;
        check_used::<Gcra>(&calls)?;
    }

    /// No earlier change makes what was accepted count for longer than it takes to come back.
    #[test]
    fn earlier_changes_deny_nothing_for_ever(
        calls in calls(LONG, prop_oneof![Just(LONG), LONG / 10..3 * LONG]),
    ) {
        check_free::<MutexLog>(&calls)?;
        check_free::<BucketRing>(&calls)?;
        check_free::<FixedWindow>(&calls)?;
        check_free::<PackedCounter>(&calls)?;
        check_free::<Gcra>(&calls)?;
    }
}
