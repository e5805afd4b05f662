//! Tasks that wait their turn, in tokio's time, paused: it jumps to the next timer when all sleep.

#[path = "../../core/tests/bounded/mod.rs"]
mod bounded;

use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bounded::bounded;
use tokio::runtime::Builder;
use tokio::time::Instant;
use windowpane::algorithm::RateLimiter;
use windowpane::wait::{Jitter, Queue, TokioClock, TokioTimer};
use windowpane::{AcquireError, Allowed, CasRing, Changeable, Limiter, MutexLog, Nanos, Quotas};

const MILLI: Nanos = 1_000_000;

fn quotas(quota: &str) -> Quotas {
    Quotas::parse([quota]).unwrap()
}

/// The time under which a request was recorded.
fn at(allowed: &Allowed) -> Nanos {
    u64::try_from(allowed.at().unwrap().as_nanos()).unwrap()
}

/// Runs a test in tokio's time, paused, within the time bound.
fn paused(test: impl Future<Output = ()> + Send + 'static) {
    bounded(|| {
        let mut runtime = Builder::new_current_thread();
        let runtime = runtime.enable_time().start_paused(true).build();
        runtime.unwrap().block_on(test);
    });
}

/// A queue before `limiter`, on tokio's clock.
fn queue_of<L: RateLimiter>(limiter: L) -> Arc<Queue<L, TokioClock, TokioTimer>> {
    let limiter = Limiter::with_clock(limiter, TokioClock::new());
    Arc::new(limiter.queued().with_timer(TokioTimer))
}

/// Lets tasks run until `waiting` of them wait in the queue.
async fn until_waiting<L: RateLimiter>(queue: &Queue<L, TokioClock, TokioTimer>, waiting: usize) {
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
        if queue.waiting() == waiting {
            return;
        }
    }
    panic!("{} wait, not {waiting}", queue.waiting());
}

/// A thousand tasks at `100/500ms`: they are served in order, never above the quota in any window,
/// and within 5 % of the least time that any order could take.
async fn serves_all_in_order<L: RateLimiter + 'static>(
    queue: Arc<Queue<L, TokioClock, TokioTimer>>,
) {
    let served = Arc::new(Mutex::new(Vec::new()));
    let start = Instant::now();
    let tasks: Vec<_> = (0..1_000_usize)
        .map(|task| {
            let (queue, served) = (queue.clone(), served.clone());
            tokio::spawn(async move {
                let allowed = queue.until_ready().await.unwrap();
                served.lock().unwrap().push((task, at(&allowed)));
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let took = start.elapsed();
    let served = served.lock().unwrap();
    assert!(served.iter().map(|(task, _)| *task).eq(0..1_000));
    for (first, after) in served.iter().zip(&served[100..]) {
        assert!(after.1 - first.1 >= 500 * MILLI, "{first:?} and {after:?}");
    }
    // The last hundred can be served after nine windows.
    let ideal = Duration::from_millis(4_500);
    assert!(took >= ideal && took <= ideal * 105 / 100, "{took:?}");
    assert_eq!(queue.waiting(), 0);
}

#[test]
fn a_thousand_tasks_are_served_in_order_at_the_full_rate() {
    paused(async {
        serves_all_in_order(queue_of(MutexLog::<windowpane::StdMutex>::new(quotas(
            "100/500ms",
        ))))
        .await;
        serves_all_in_order(queue_of(CasRing::new(quotas("100/500ms")).unwrap())).await;
    });
}

#[test]
fn a_thousand_cancelled_waiters_leave_the_full_capacity() {
    paused(async {
        let queue = queue_of(<MutexLog>::new(quotas("100/500ms")));
        queue.until_ready_many(100).await.unwrap();
        let waiters: Vec<_> = (0..1_000)
            .map(|_| {
                let queue = queue.clone();
                tokio::spawn(async move { queue.until_ready().await })
            })
            .collect();
        until_waiting(&queue, 1_000).await;
        for waiter in waiters {
            waiter.abort();
            assert!(waiter.await.unwrap_err().is_cancelled());
        }
        assert_eq!(queue.waiting(), 0);
        tokio::time::advance(Duration::from_millis(500)).await;
        let attempt = queue.try_acquire_many(100);
        assert!(attempt.is_ok(), "{attempt:?}");
    });
}

/// The next one is woken, and waits no longer than it must.
#[test]
fn a_dropped_head_frees_its_position_at_once() {
    paused(async {
        let queue = queue_of(<MutexLog>::new(quotas("10/500ms")));
        queue.until_ready_many(4).await.unwrap();
        let head = {
            let queue = queue.clone();
            tokio::spawn(async move { queue.until_ready_many(7).await })
        };
        until_waiting(&queue, 1).await;
        let next = {
            let queue = queue.clone();
            tokio::spawn(async move { queue.until_ready_many(6).await })
        };
        until_waiting(&queue, 2).await;
        // The second would fit, but the first came before.
        let attempt = queue.try_acquire();
        assert_eq!(attempt, Err(AcquireError::Queued { waiting: 2 }));
        head.abort();
        let allowed = next.await.unwrap().unwrap();
        assert_eq!(at(&allowed), 0);
    });
}

/// At any reading of the clock when they come.
#[test]
fn a_late_waiter_gets_an_error_and_consumes_nothing() {
    paused(async {
        for age in [0, 7] {
            gives_up_in_time(Duration::from_secs(age)).await;
        }
    });
}

async fn gives_up_in_time(age: Duration) {
    let queue = queue_of(<MutexLog>::new(quotas("1/10s")));
    tokio::time::advance(age).await;
    queue.until_ready().await.unwrap();
    let start = Instant::now();
    let waiters: Vec<_> = [700, 300, 500]
        .map(|millis| {
            let queue = queue.clone();
            tokio::spawn(async move {
                let within = Duration::from_millis(millis);
                let late = queue.until_ready_within(1, within).await;
                assert_eq!(late, Err(AcquireError::TimedOut));
                let over = start.elapsed().abs_diff(within);
                assert!(over <= Duration::from_millis(1), "{over:?}");
            })
        })
        .into_iter()
        .collect();
    for waiter in waiters {
        waiter.await.unwrap();
    }
    assert_eq!(queue.waiting(), 0);
    assert_eq!(queue.limiter().algorithm().snapshot().len(), 1);
    // Within its time it is served.
    let within = Duration::from_secs(10);
    assert!(queue.until_ready_within(1, within).await.is_ok());
}

/// Waiters under a low limit are served when the limit is raised.
#[test]
fn a_raised_limit_serves_the_waiters() {
    paused(async {
        let queue = queue_of(Changeable::new(<MutexLog>::new(quotas("1/1h"))));
        queue.until_ready().await.unwrap();
        let waiters: Vec<_> = (0..3)
            .map(|_| {
                let queue = queue.clone();
                tokio::spawn(async move { queue.until_ready().await })
            })
            .collect();
        until_waiting(&queue, 3).await;
        queue.limiter().change(quotas("4/1h")).unwrap();
        queue.look_again();
        for waiter in waiters {
            assert_eq!(at(&waiter.await.unwrap().unwrap()), 0);
        }
    });
}

/// With jitter the head sleeps longer by the jitter drawn.
#[test]
fn jitter_is_added_to_the_wait() {
    paused(async {
        let jitter = || Jitter::seeded(Duration::from_millis(500), 26);
        let log = <MutexLog>::new(quotas("1/2s"));
        let queue = Limiter::with_clock(log, TokioClock::new()).queued();
        let queue = queue.with_timer(TokioTimer).with_jitter(jitter());
        queue.until_ready().await.unwrap();
        let at = at(&queue.until_ready().await.unwrap());
        let slept = 2_000 * MILLI + jitter().draw();
        assert!((slept..=slept + 2 * MILLI).contains(&at), "{at}");
    });
}

/// A server says `Retry-After`: no waiter is served before, and then all are, in order.
#[test]
fn a_held_queue_serves_no_waiter() {
    paused(async {
        let queue = queue_of(<MutexLog>::new(quotas("10/1s")));
        queue.hold(Duration::from_secs(3));
        queue.hold(Duration::from_secs(2));
        let retry_after = Duration::from_secs(3);
        let attempt = queue.try_acquire();
        assert_eq!(attempt, Err(AcquireError::OnHold(retry_after)));
        let (first, second) = tokio::join!(
            queue.until_ready(),
            queue.until_ready_within(1, Duration::from_secs(2)),
        );
        assert_eq!(second, Err(AcquireError::TimedOut));
        assert!((3_000 * MILLI..=3_002 * MILLI).contains(&at(&first.unwrap())));
        // A hold is over when its time is, not a nanosecond later.
        queue.hold(Duration::from_secs(1));
        tokio::time::advance(Duration::from_millis(999)).await;
        let retry_after = Duration::from_millis(1);
        let attempt = queue.try_acquire();
        assert_eq!(attempt, Err(AcquireError::OnHold(retry_after)));
        tokio::time::advance(retry_after).await;
        let attempt = queue.try_acquire();
        assert!(attempt.is_ok(), "{attempt:?}");
    });
}
