//! Several limits in one decision, under every schedule of two requests.
#![cfg(windowpane_loom)]

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use windowpane_core::stack::{self, Ask, Cancel, Limit};
use windowpane_core::sync::{Atomic, Ordering};
use windowpane_core::{
    Answer, Charge, Cost, Decision, KeyedRateLimiter, KeyedSettle, Quotas, RateLimiter, Settle,
    StoreError,
};
use windowpane_packed_counter::PackedCounter;

/// All requests are at one instant.
const NOW: u64 = 5;

/// A seeded bug.
#[derive(Clone, Copy, PartialEq)]
enum Bug {
    None,
    /// What was charged is not taken back.
    KeepsCharges,
    /// The check before the charge is taken for the charge.
    ChecksOnly,
}

/// A counter for everybody.
struct One(PackedCounter, Bug);

impl One {
    fn new(quota: &str, bug: Bug) -> One {
        let quotas: Quotas = quota.parse().expect("a quota");
        One(PackedCounter::new(quotas).expect("one quota"), bug)
    }

    /// What is left.
    fn left(&self) -> u64 {
        let peeked = self.0.peek_at(NOW, Cost::ONE).expect("within the range");
        peeked.remaining() + u64::from(peeked.is_allowed())
    }
}

impl KeyedRateLimiter<()> for One {
    fn quotas(&self, _: &()) -> Quotas {
        self.0.quotas()
    }

    fn decide(&self, (): &(), cost: Cost) -> Result<Decision, StoreError> {
        match self.1 {
            Bug::ChecksOnly => self.peek(&(), cost),
            _ => Ok(self.0.decide_at(NOW, cost)?),
        }
    }

    fn decide_detailed(&self, (): &(), _: Cost) -> Result<Answer, StoreError> {
        unreachable!("no header is sent")
    }

    fn peek_detailed(&self, (): &(), _: Cost) -> Result<Answer, StoreError> {
        unreachable!("no header is sent")
    }

    fn peek(&self, (): &(), cost: Cost) -> Result<Decision, StoreError> {
        Ok(self.0.peek_at(NOW, cost)?.decision())
    }

    fn reset(&self, (): &()) {
        self.0.reset();
    }
}

impl KeyedSettle<()> for One {
    fn settle(&self, (): &(), charge: Charge, actual: u64) {
        self.0.settle_at(charge.at(), charge.estimate(), actual);
    }

    fn cancel(&self, (): &(), charge: Charge) {
        if self.1 != Bug::KeepsCharges {
            self.0.cancel_at(charge.at(), charge.estimate());
        }
    }
}

/// The limits of two requests: one of each alone, and two that they share.
struct Limits {
    own: [One; 2],
    shared: One,
    last: One,
}

impl Limits {
    fn ask(&self, thread: usize, passed: &Atomic<u64>) -> bool {
        let own = Limit::new(&self.own[thread], &(), Cost::ONE);
        let shared = Limit::new(&self.shared, &(), Cost::ONE);
        let last = Limit::new(&self.last, &(), Cost::ONE);
        let limits: [&dyn Cancel; 2] = [&shared, &own];
        let allowed = stack::decide(&limits, Some(&last as &dyn Ask)).is_ok();
        if allowed {
            passed.fetch_add(1, Ordering::Relaxed);
        }
        allowed
    }
}

/// An outcome: whether each thread's request was allowed, and what was left of all limits.
type Outcome = ([bool; 2], [u64; 4]);

/// All outcomes of two requests that race for `shared` and `last`.
fn outcomes(shared: &'static str, last: &'static str, bug: Bug) -> BTreeSet<Outcome> {
    let all = Arc::new(Mutex::new(BTreeSet::new()));
    let inside = Arc::clone(&all);
    loom::model(move || {
        let limits = Arc::new(Limits {
            own: [One::new("3/10ns", bug), One::new("3/10ns", bug)],
            shared: One::new(shared, bug),
            last: One::new(last, bug),
        });
        let passed = Arc::new(Atomic::new(0_u64));
        let (others, counted) = (Arc::clone(&limits), Arc::clone(&passed));
        let other = loom::thread::spawn(move || others.ask(1, &counted));
        let first = limits.ask(0, &passed);
        let second = other.join().expect("a panic ends the model before");
        let left = [
            limits.own[0].left(),
            limits.own[1].left(),
            limits.shared.left(),
            limits.last.left(),
        ];
        inside
            .lock()
            .expect("no panic")
            .insert(([first, second], left));
    });
    let all = all.lock().expect("no panic");
    all.clone()
}

/// Whether each limit has counted the allowed requests and no other.
fn is_right((allowed, left): &Outcome, shared: u64, last: u64) -> bool {
    let [first, second] = allowed.map(u64::from);
    let charged = [first, second, first + second, first + second];
    let full = [3, 3, shared, last];
    (0..4).all(|limit| left[limit] + charged[limit] == full[limit])
}

#[test]
fn stack_charges_all_limits_or_none() {
    for (shared, last) in [(2, 1), (1, 2), (2, 2), (1, 1)] {
        let quota = |limit: u64| -> &'static str { ["", "1/10ns", "2/10ns"][limit as usize] };
        let all = outcomes(quota(shared), quota(last), Bug::None);
        for outcome in &all {
            let told = format!("{shared} and {last}: {outcome:?}");
            assert!(is_right(outcome, shared, last), "{told}");
            let allowed = outcome.0.iter().filter(|allowed| **allowed).count() as u64;
            // With permits for both, a request is never denied because of the other.
            assert!(allowed >= shared.min(last).min(1), "{told}");
            assert!(shared.min(last) < 2 || allowed == 2, "{told}");
        }
        // Either thread can be the one that is allowed.
        assert!(shared.min(last) == 2 || all.len() >= 2, "{all:?}");
    }
}

#[test]
fn mutants_of_the_stack_are_found() {
    for bug in [Bug::KeepsCharges, Bug::ChecksOnly] {
        let all = outcomes("2/10ns", "1/10ns", bug);
        let wrong = all.iter().filter(|outcome| !is_right(outcome, 2, 1));
        assert!(wrong.count() > 0, "{all:?}");
    }
}

/// A request whose last limit fills up in between can deny another one: while it runs, and no longer.
#[test]
fn transient_denial_ends_with_the_call_that_caused_it() {
    let seen = Arc::new(Mutex::new(BTreeSet::new()));
    let inside = Arc::clone(&seen);
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(move || {
        let limits: Arc<[One; 3]> = Arc::new([(); 3].map(|()| One::new("1/10ns", Bug::None)));
        let ask = |limits: &[One; 3], last: usize| {
            let shared = Limit::new(&limits[0], &(), Cost::ONE);
            let last = Limit::new(&limits[last], &(), Cost::ONE);
            stack::decide(&[&shared], Some(&last as &dyn Ask)).is_ok()
        };
        let (of_first, of_filler) = (Arc::clone(&limits), Arc::clone(&limits));
        let first = loom::thread::spawn(move || ask(&of_first, 1));
        let filler = loom::thread::spawn(move || {
            let decision = of_filler[1].decide(&(), Cost::ONE);
            decision.is_ok_and(|decision| decision.is_allowed())
        });
        let other = ask(&limits, 2);
        let first = first.join().expect("a panic ends the model before");
        let filled = filler.join().expect("a panic ends the model before");
        assert!(!(first && other), "the shared limit has one permit");
        assert!(
            first != filled,
            "one of them has the permit of the first's last limit"
        );
        // All is still: the other request is denied only if the first one was allowed.
        let later = other || ask(&limits, 2);
        assert_eq!(later, !first);
        inside.lock().expect("no panic").insert((first, other));
    });
    let seen = seen.lock().expect("no panic");
    let expected = BTreeSet::from([(true, false), (false, true), (false, false)]);
    assert_eq!(*seen, expected, "the transient denial is among them");
}
