//! The order of clock readings and locks.
//!
//! A limiter that holds a lock reads its clock inside it. A reading made before the lock can be
//! overtaken by another call, and is then older than what that call recorded.

mod bounded;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use bounded::bounded;
use windowpane_core::clock::ManualClock;
use windowpane_core::{
    BuildError, ChangeQuotas, Changeable, Clock, Cost, Decision, Detailed, Limiter, Nanos,
    PerQuota, Quotas, RateLimiter, RequestError,
};

fn quotas(quota: &str) -> Quotas {
    Quotas::parse([quota]).unwrap()
}

/// A limiter that allows everything under the time of the call, and remembers the last change.
struct Open {
    quotas: Quotas,
    changed_at: AtomicU64,
}

impl Open {
    fn new() -> Open {
        Open {
            quotas: quotas("1/1s"),
            changed_at: AtomicU64::new(0),
        }
    }

    fn allowed(&self, at: Nanos) -> Detailed {
        let decision = Decision::Allowed { at };
        Detailed::new(decision, &self.quotas, PerQuota::from_slice(&[1]))
    }
}

impl RateLimiter for Open {
    fn quotas(&self) -> Quotas {
        self.quotas.clone()
    }

    fn decide_at(&self, now: Nanos, _cost: Cost) -> Result<Decision, RequestError> {
        Ok(Decision::Allowed { at: now })
    }

    fn decide_detailed_at(&self, now: Nanos, _cost: Cost) -> Result<Detailed, RequestError> {
        Ok(self.allowed(now))
    }

    fn peek_at(&self, now: Nanos, _cost: Cost) -> Result<Detailed, RequestError> {
        Ok(self.allowed(now))
    }

    fn reset(&self) {}

    fn is_idle_at(&self, now: Nanos) -> bool {
        now == self.changed_at.load(Ordering::SeqCst)
    }
}

impl ChangeQuotas for Open {
    fn change_at(&mut self, now: Nanos, quotas: &Quotas) -> Result<(), BuildError> {
        self.changed_at.store(now, Ordering::SeqCst);
        self.quotas = quotas.clone();
        Ok(())
    }
}

type Shared<C> = Arc<Limiter<Changeable<Open>, C>>;

/// A clock that lets another thread make a call in the midst of its first reading.
#[derive(Clone, Default)]
struct Overtaken {
    time: Arc<ManualClock>,
    other: Arc<OnceLock<Box<dyn Fn() + Send + Sync>>>,
    read: Arc<AtomicBool>,
    /// How long the reading waits for the other call.
    patience: Duration,
    /// Whether the other call ended before the reading did.
    overtaken: Arc<AtomicBool>,
}

/// The patience with a call that the limiter's lock should keep out.
const SHORT: Duration = Duration::from_millis(200);
/// The patience with a call that nothing keeps out.
const LONG: Duration = Duration::from_secs(60);

impl Clock for Overtaken {
    fn now(&self) -> Nanos {
        let now = self.time.now();
        if self.other.get().is_some() && !self.read.swap(true, Ordering::SeqCst) {
            let (done, ended) = mpsc::channel();
            let other = Arc::clone(&self.other);
            thread::spawn(move || {
                other.get().unwrap()();
                done.send(())
            });
            let overtaken = ended.recv_timeout(self.patience).is_ok();
            self.overtaken.store(overtaken, Ordering::SeqCst);
        }
        now
    }
}

/// Whether `other`, made by another thread while `call` reads the clock, ends before the reading.
fn is_overtaken<R>(
    patience: Duration,
    call: impl FnOnce(&Shared<Overtaken>) -> R,
    other: impl Fn(&Shared<Overtaken>) + Send + Sync + 'static,
) -> bool {
    let clock = Overtaken {
        patience,
        ..Overtaken::default()
    };
    let limiter = Changeable::new(Open::new());
    let limiter = Arc::new(Limiter::with_clock(limiter, clock.clone()));
    let of_other = Arc::clone(&limiter);
    assert!(clock.other.set(Box::new(move || other(&of_other))).is_ok());
    call(&limiter);
    assert!(clock.read.load(Ordering::SeqCst), "the clock was read");
    clock.overtaken.load(Ordering::SeqCst)
}

/// A change on the caller's own time: it reads no clock.
fn change(limiter: &Shared<Overtaken>) {
    let changed = limiter.algorithm().change_at(7, &quotas("2/1s"));
    changed.unwrap();
}

#[test]
fn a_change_reads_its_clock_under_the_exclusive_lock() {
    bounded(|| {
        let acquire = |limiter: &Shared<Overtaken>| {
            let _ = limiter.algorithm().decide_at(7, Cost::ONE).unwrap();
        };
        let by_clock = |limiter: &Shared<Overtaken>| limiter.change(quotas("3/1s"));
        assert!(!is_overtaken(SHORT, by_clock, acquire));
        assert!(!is_overtaken(SHORT, by_clock, change));
    });
}

#[test]
fn a_decision_reads_its_clock_under_the_shared_lock() {
    bounded(|| {
        assert!(!is_overtaken(SHORT, |l| l.try_acquire(), change));
        assert!(!is_overtaken(SHORT, |l| l.try_acquire_detailed(1), change));
        assert!(!is_overtaken(SHORT, |l| l.peek(1), change));
    });
}

/// The test of the tests above: a limiter without a lock is overtaken.
#[test]
fn a_call_without_a_lock_is_overtaken() {
    bounded(|| {
        let by_hand = |limiter: &Shared<Overtaken>| {
            let now = limiter.clock().now();
            limiter.algorithm().decide_at(now, Cost::ONE)
        };
        assert!(is_overtaken(LONG, by_hand, change));
    });
}

/// A clock that panics once.
struct Panics(AtomicBool);

impl Clock for Panics {
    fn now(&self) -> Nanos {
        assert!(
            !self.0.swap(false, Ordering::SeqCst),
            "the clock's own panic"
        );
        9
    }
}

#[test]
fn a_clock_that_panics_changes_nothing_and_keeps_no_lock() {
    bounded(|| {
        let clock = Panics(AtomicBool::new(false));
        let limiter = Arc::new(Limiter::with_clock(Changeable::new(Open::new()), clock));
        let panics = |call: &dyn Fn()| {
            limiter.clock().0.store(true, Ordering::SeqCst);
            assert!(catch_unwind(AssertUnwindSafe(call)).is_err());
        };
        panics(&|| drop(limiter.change(quotas("5/1s"))));
        assert_eq!(limiter.quotas(), quotas("1/1s"));
        panics(&|| {
            let _ = limiter.try_acquire();
        });
        // Another thread can still change and ask.
        let other = Arc::clone(&limiter);
        let changed = thread::spawn(move || {
            other.change(quotas("5/1s")).unwrap();
            other.try_acquire().unwrap()
        });
        let allowed = changed.join().unwrap();
        assert_eq!(allowed.at(), Some(Duration::from_nanos(9)));
        assert!(limiter.is_idle(), "changed at the reading");
        assert_eq!(limiter.quotas(), quotas("5/1s"));
    });
}
