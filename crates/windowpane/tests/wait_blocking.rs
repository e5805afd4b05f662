//! Threads that wait their turn.

#[path = "../../core/tests/bounded/mod.rs"]
mod bounded;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use bounded::bounded;
use windowpane::algorithm::{Cost, Decision, Detailed, RateLimiter, RequestError, Settle};
use windowpane::clock::ManualClock;
use windowpane::wait::{Jitter, Queue};
use windowpane::{AcquireError, Limiter, MutexLog, Nanos, Quotas};

fn queue(quota: &str) -> Queue<MutexLog> {
    Limiter::<MutexLog>::new(quota).unwrap().queued()
}

/// A limiter that counts how often it is asked.
struct Counting(MutexLog, AtomicU64);

impl RateLimiter for Counting {
    fn quotas(&self) -> Quotas {
        self.0.quotas()
    }

    fn decide_at(&self, now: Nanos, cost: Cost) -> Result<Decision, RequestError> {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.decide_at(now, cost)
    }

    fn decide_detailed_at(&self, now: Nanos, cost: Cost) -> Result<Detailed, RequestError> {
        self.0.decide_detailed_at(now, cost)
    }

    fn peek_at(&self, now: Nanos, cost: Cost) -> Result<Detailed, RequestError> {
        self.0.peek_at(now, cost)
    }

    fn reset(&self) {
        self.0.reset();
    }

    fn is_idle_at(&self, now: Nanos) -> bool {
        self.0.is_idle_at(now)
    }
}

impl Settle for Counting {
    fn settle_at(&self, at: Nanos, estimate: Cost, actual: u64) {
        self.0.settle_at(at, estimate, actual);
    }

    fn cancel_at(&self, at: Nanos, cost: Cost) {
        self.0.cancel_at(at, cost);
    }
}

/// A queue before a limiter that counts.
fn counted(quota: &str) -> Queue<Counting> {
    let log = MutexLog::new(Quotas::parse([quota]).unwrap());
    Limiter::of(Counting(log, AtomicU64::new(0))).queued()
}

/// How often the limiter of a queue was asked.
fn asked(queue: &Queue<Counting>) -> u64 {
    queue.limiter().algorithm().1.load(Ordering::Relaxed)
}

fn nanos(span: Duration) -> Nanos {
    u64::try_from(span.as_nanos()).unwrap()
}

/// Blocks this thread until a condition holds.
fn until(holds: impl Fn() -> bool) {
    while !holds() {
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn threads_are_served_in_order() {
    bounded(|| {
        const CALLERS: usize = 8;
        let queue = queue("1/365d");
        let served = Mutex::new(Vec::new());
        queue.until_ready_blocking().unwrap();
        thread::scope(|scope| {
            for caller in 0..CALLERS {
                let (queue, served) = (&queue, &served);
                scope.spawn(move || {
                    queue.until_ready_blocking().unwrap();
                    served.lock().unwrap().push(caller);
                });
                until(|| queue.waiting() == caller + 1);
                let waiting = caller + 1;
                let attempt = queue.try_acquire();
                assert_eq!(attempt, Err(AcquireError::Queued { waiting }));
            }
            for caller in 0..CALLERS {
                queue.limiter().reset();
                queue.look_again();
                until(|| served.lock().unwrap().len() > caller);
            }
        });
        let served = served.into_inner().unwrap();
        assert!(served.into_iter().eq(0..CALLERS));
    });
}

/// By the recorded times no window holds more than its limit, and all are served.
#[test]
fn threads_are_served_at_the_rate_of_the_quota() {
    bounded(|| {
        let queue = queue("2/20ms");
        let mut at: Vec<Nanos> = thread::scope(|scope| {
            let wait = || nanos(queue.until_ready_blocking().unwrap().at().unwrap());
            let waiting: Vec<_> = (0..8).map(|_| scope.spawn(wait)).collect();
            waiting.into_iter().map(|w| w.join().unwrap()).collect()
        });
        at.sort_unstable();
        assert_eq!(at.len(), 8);
        assert!(
            (2..8).all(|place| at[place] - at[place - 2] >= 20_000_000),
            "{at:?}"
        );
    });
}

#[test]
fn a_late_caller_gets_an_error_and_consumes_nothing() {
    bounded(|| {
        let queue = queue("1/365d");
        queue.until_ready_blocking().unwrap();
        let start = Instant::now();
        let late = queue.until_ready_within_blocking(1, Duration::from_millis(30));
        assert_eq!(late, Err(AcquireError::TimedOut));
        assert!(start.elapsed() >= Duration::from_millis(30));
        assert_eq!(queue.waiting(), 0);
        assert_eq!(queue.limiter().algorithm().snapshot().len(), 1);
        // No time at all is one question to the limiter.
        queue.limiter().reset();
        assert!(queue.until_ready_within_blocking(1, Duration::ZERO).is_ok());
        let late = queue.until_ready_within_blocking(1, Duration::ZERO);
        assert_eq!(late, Err(AcquireError::TimedOut));
    });
}

#[test]
fn a_request_that_no_wait_helps_is_an_error_at_once() {
    bounded(|| {
        let denied = queue("0/1s").until_ready_blocking().unwrap_err();
        assert!(matches!(denied, AcquireError::LimitIsZero { index: 0, .. }));
        assert_eq!(
            denied.to_string(),
            "the quota of 0/1s denies everything: its limit is 0"
        );
        let never = queue("3/1s").until_ready_many_blocking(4).unwrap_err();
        let fits = "a cost of 4 can never fit: the quota is 3/1s";
        assert_eq!(never.to_string(), fits);
    });
}

#[test]
fn the_head_uses_what_is_given_back_at_once() {
    bounded(|| {
        let queue = queue("10/365d");
        let charge = queue.until_ready_many_blocking(10).unwrap();
        thread::scope(|scope| {
            let waiting = scope.spawn(|| queue.until_ready_many_blocking(7));
            until(|| queue.waiting() == 1);
            queue.settle(charge, 3);
            assert!(waiting.join().unwrap().is_ok());
            // And after a reset, once `look_again` is called.
            let waiting = scope.spawn(|| queue.until_ready_many_blocking(7));
            until(|| queue.waiting() == 1);
            queue.limiter().reset();
            queue.look_again();
            assert!(waiting.join().unwrap().is_ok());
        });
    });
}

/// The head sleeps between its questions, and asks once each time it is woken.
#[test]
fn a_woken_waiter_asks_once() {
    bounded(|| {
        const TIMES: u64 = 20;
        let queue = counted("1/365d");
        queue.until_ready_blocking().unwrap();
        let asked = thread::scope(|scope| {
            let waiting = scope.spawn(|| queue.until_ready_blocking());
            until(|| asked(&queue) == 2);
            for _ in 0..TIMES {
                // Time to fall asleep again, or to ask once too often.
                thread::sleep(Duration::from_millis(5));
                let before = asked(&queue);
                queue.look_again();
                until(|| asked(&queue) > before);
            }
            thread::sleep(Duration::from_millis(5));
            let asked = asked(&queue);
            queue.limiter().reset();
            queue.look_again();
            assert!(waiting.join().unwrap().is_ok());
            asked
        });
        // The system may wake it now and then without a cause.
        assert!(asked <= 2 + TIMES + TIMES / 4, "asked {asked} times");
    });
}

/// A request that cost its estimate or more gives nothing back: the head sleeps on.
#[test]
fn a_charge_that_gives_nothing_back_wakes_no_waiter() {
    bounded(|| {
        let queue = counted("10/365d");
        let exact = queue.until_ready_many_blocking(5).unwrap();
        let more = queue.until_ready_many_blocking(5).unwrap();
        let asked = thread::scope(|scope| {
            let waiting = scope.spawn(|| queue.until_ready_many_blocking(5));
            until(|| asked(&queue) == 3);
            queue.settle(exact, 5);
            queue.settle(more, 6);
            thread::sleep(Duration::from_millis(20));
            let asked = asked(&queue);
            queue.limiter().reset();
            queue.look_again();
            assert!(waiting.join().unwrap().is_ok());
            asked
        });
        assert_eq!(asked, 3);
    });
}

/// Case 26: all callers receive the same wait. In a queue only the head comes back at its end.
#[test]
fn case_26_only_the_head_of_the_queue_asks() {
    bounded(|| {
        const CALLERS: u64 = 40;
        let queue = counted("10/30ms").with_jitter(Jitter::up_to(Duration::from_millis(2)));
        thread::scope(|scope| {
            for _ in 0..CALLERS {
                scope.spawn(|| queue.until_ready_blocking().unwrap());
            }
        });
        let asked = asked(&queue);
        // Each was allowed once; the head of each later batch was denied before, and perhaps once more
        // where the system woke it early. If all came back at once it would be 100.
        assert!(
            (CALLERS..CALLERS + 20).contains(&asked),
            "asked {asked} times"
        );
    });
}

/// Case 26, for callers that wait independently: jitter spreads them, and none comes early.
#[test]
fn case_26_jitter_spreads_callers_with_the_same_wait() {
    let limiter = Limiter::<MutexLog, _>::on_clock("1/2s", ManualClock::new(0)).unwrap();
    assert!(limiter.try_acquire().is_ok());
    let jitter = Jitter::seeded(Duration::from_millis(500), 26);
    let told: Vec<Duration> = (0..100)
        .map(|_| {
            limiter
                .try_acquire()
                .unwrap_err()
                .denied()
                .unwrap()
                .retry_after()
        })
        .collect();
    assert!(told.iter().all(|wait| *wait == Duration::from_secs(2)));
    let mut waits: Vec<Duration> = told.into_iter().map(|wait| jitter.after(wait)).collect();
    waits.sort_unstable();
    assert!(waits[0] >= Duration::from_secs(2));
    assert!(waits[99] <= Duration::from_millis(2_500));
    let fifth = |part: u32| Duration::from_millis(2_000 + u64::from(part) * 100);
    for part in 0..5 {
        let inside = waits
            .iter()
            .filter(|w| (fifth(part)..fifth(part + 1)).contains(w));
        assert!(
            (8..=35).contains(&inside.count()),
            "fifth {part} of {waits:?}"
        );
    }
}
