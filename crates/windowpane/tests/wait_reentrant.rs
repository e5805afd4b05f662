//! Code that is not the queue's (wakers, destructors of tasks, clocks, limiters) uses the queue.

#[path = "../../core/tests/bounded/mod.rs"]
mod bounded;

use std::future::{Future, pending};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Wake, Waker};
use std::thread;
use std::time::Duration;

use bounded::bounded;
use windowpane::algorithm::{Cost, Decision, Detailed, RateLimiter, RequestError};
use windowpane::wait::{Queue, Timer};
use windowpane::{AcquireError, Allowed, Clock, Limiter, MonotonicClock, MutexLog, Nanos, Quotas};

type Waiting = Pin<Box<dyn Future<Output = Result<Allowed, AcquireError>> + Send>>;
type Full = Queue<MutexLog, MonotonicClock, Never>;

/// A queue before a limiter that has no permit left for a year.
fn full_queue() -> Arc<Full> {
    let limiter = Limiter::<MutexLog>::new("1/365d").unwrap();
    let queue = Arc::new(limiter.queued().with_timer(Never));
    queue.until_ready_blocking().unwrap();
    queue
}

/// A timer that never fires: a waiter that uses it is woken by the queue alone.
struct Never;

impl Timer for Never {
    fn sleep(&self, _span: Duration) -> impl Future<Output = ()> + Send {
        pending()
    }
}

/// A call that waits in `queue` once it is polled.
fn waiting<L, C>(queue: &Arc<Queue<L, C, Never>>) -> Waiting
where
    L: RateLimiter + 'static,
    C: Clock + Send + Sync + 'static,
{
    let queue = Arc::clone(queue);
    Box::pin(async move { queue.until_ready().await })
}

fn poll(waiting: &mut Waiting, waker: &Waker) -> Poll<Result<Allowed, AcquireError>> {
    waiting.as_mut().poll(&mut Context::from_waker(waker))
}

/// A call that waits in `queue` and was polled once.
fn entered(queue: &Arc<Full>) -> Waiting {
    let mut waiting = waiting(queue);
    assert!(poll(&mut waiting, Waker::noop()).is_pending());
    waiting
}

/// A task that waits in the queue itself and reads it once more when it is destroyed.
struct Task {
    queue: Arc<Full>,
    /// In a mutex because a waker must be `Sync` and a future is not.
    own: Mutex<Option<Waiting>>,
    destroyed: Arc<AtomicBool>,
}

impl Task {
    /// The task's waker, its only reference; and whether the task was destroyed.
    fn waker(queue: &Arc<Full>) -> (Waker, Arc<AtomicBool>) {
        let own = entered(queue);
        let destroyed = Arc::new(AtomicBool::new(false));
        let task = Task {
            queue: Arc::clone(queue),
            own: Mutex::new(Some(own)),
            destroyed: Arc::clone(&destroyed),
        };
        (Waker::from(Arc::new(task)), destroyed)
    }
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {}
}

impl Drop for Task {
    fn drop(&mut self) {
        drop(self.own.get_mut().unwrap().take());
        assert!(self.queue.waiting() <= 2);
        self.destroyed.store(true, Ordering::SeqCst);
    }
}

#[test]
fn a_replaced_waker_may_destroy_a_waiting_task() {
    bounded(|| {
        let queue = full_queue();
        let mut head = entered(&queue);
        let (waker, destroyed) = Task::waker(&queue);
        assert!(poll(&mut head, &waker).is_pending());
        drop(waker);
        assert!(!destroyed.load(Ordering::SeqCst));
        assert!(poll(&mut head, Waker::noop()).is_pending());
        assert!(destroyed.load(Ordering::SeqCst));
        assert_eq!(queue.waiting(), 1);
    });
}

#[test]
fn a_leaving_waiter_may_destroy_a_waiting_task() {
    bounded(|| {
        let queue = full_queue();
        let mut head = entered(&queue);
        let (waker, destroyed) = Task::waker(&queue);
        assert!(poll(&mut head, &waker).is_pending());
        drop(waker);
        drop(head);
        assert!(destroyed.load(Ordering::SeqCst));
        assert_eq!(queue.waiting(), 0);
    });
}

#[test]
fn a_wake_up_may_destroy_a_waiting_task() {
    bounded(|| {
        let queue = full_queue();
        let mut head = entered(&queue);
        let (waker, destroyed) = Task::waker(&queue);
        assert!(poll(&mut head, &waker).is_pending());
        drop(waker);
        queue.look_again();
        assert!(destroyed.load(Ordering::SeqCst));
        assert_eq!(queue.waiting(), 1);
    });
}

/// How often [`USES_THE_QUEUE`] was cloned.
static CLONED: AtomicU64 = AtomicU64::new(0);

/// The table of a waker whose clone reads the queue that its data points to.
static USES_THE_QUEUE: RawWakerVTable = RawWakerVTable::new(
    |data| {
        // SAFETY: `data` is the leaked queue of the only test that makes this waker.
        let queue = unsafe { &*data.cast::<Full>() };
        assert!(queue.waiting() <= 1);
        CLONED.fetch_add(1, Ordering::SeqCst);
        RawWaker::new(data, &USES_THE_QUEUE)
    },
    |_| {},
    |_| {},
    |_| {},
);

#[test]
fn a_waker_may_use_the_queue_while_it_is_cloned() {
    bounded(|| {
        let queue = full_queue();
        let leaked: &'static Arc<Full> = Box::leak(Box::new(Arc::clone(&queue)));
        let data = std::ptr::from_ref::<Full>(leaked).cast();
        // SAFETY: the functions of the table only read the queue, which is never freed.
        let waker = unsafe { Waker::new(data, &USES_THE_QUEUE) };
        let mut head = waiting(&queue);
        assert!(poll(&mut head, &waker).is_pending());
        assert_eq!(CLONED.load(Ordering::SeqCst), 1);
    });
}

/// A waker that counts.
#[derive(Default)]
struct Counter(AtomicU64);

impl Wake for Counter {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn the_waker_of_the_latest_poll_is_woken() {
    bounded(|| {
        let queue = full_queue();
        let [first, latest] = [(); 2].map(|()| Arc::new(Counter::default()));
        let mut head = waiting(&queue);
        // One task polls the call, then another takes it over.
        assert!(poll(&mut head, &Waker::from(Arc::clone(&first))).is_pending());
        assert!(poll(&mut head, &Waker::from(Arc::clone(&latest))).is_pending());
        queue.look_again();
        assert_eq!(latest.0.load(Ordering::SeqCst), 1);
        assert_eq!(first.0.load(Ordering::SeqCst), 0);
        // The same for a waiter that becomes the head.
        let mut second = waiting(&queue);
        assert!(poll(&mut second, &Waker::from(Arc::clone(&first))).is_pending());
        assert!(poll(&mut second, &Waker::from(Arc::clone(&latest))).is_pending());
        drop(head);
        assert_eq!(latest.0.load(Ordering::SeqCst), 2);
        assert_eq!(first.0.load(Ordering::SeqCst), 0);
    });
}

/// What a clock or a limiter does beside its work; nothing until it is set.
#[derive(Default)]
struct Hook {
    hook: OnceLock<Box<dyn Fn(u64) + Send + Sync>>,
    calls: AtomicU64,
}

impl Hook {
    /// Calls what was set with the number of calls before this one.
    fn call(&self) {
        if let Some(hook) = self.hook.get() {
            hook(self.calls.fetch_add(1, Ordering::SeqCst));
        }
    }

    fn set(&self, hook: impl Fn(u64) + Send + Sync + 'static) {
        assert!(self.hook.set(Box::new(hook)).is_ok(), "it is set once");
    }

    fn calls(&self) -> u64 {
        self.calls.load(Ordering::SeqCst)
    }
}

/// A clock that stands still and calls its hook at each reading.
#[derive(Clone, Default)]
struct HookedClock(Arc<Hook>);

impl Clock for HookedClock {
    fn now(&self) -> Nanos {
        self.0.call();
        5
    }
}

/// A limiter that calls its hook at each decision.
struct HookedLimiter(MutexLog, Arc<Hook>);

impl RateLimiter for HookedLimiter {
    fn quotas(&self) -> Quotas {
        self.0.quotas()
    }

    fn decide_at(&self, now: Nanos, cost: Cost) -> Result<Decision, RequestError> {
        self.1.call();
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

type Hooked = Queue<HookedLimiter, HookedClock, Never>;

/// A queue whose clock and limiter have hooks: the queue, its clock's hook, its limiter's.
fn hooked_queue(quota: &str) -> (Arc<Hooked>, Arc<Hook>, Arc<Hook>) {
    let clock = HookedClock::default();
    let of_clock = Arc::clone(&clock.0);
    let of_limiter = Arc::new(Hook::default());
    let log = MutexLog::new(Quotas::parse(quota).unwrap());
    let limiter = HookedLimiter(log, Arc::clone(&of_limiter));
    let queue = Limiter::with_clock(limiter, clock).queued();
    (Arc::new(queue.with_timer(Never)), of_clock, of_limiter)
}

/// Makes each call of a queue, after `hook` has set a hook.
fn calls_while_a_hook_reads(hook: impl Fn(&Arc<Hooked>, &Arc<Hook>, &Arc<Hook>)) {
    let (queue, of_clock, of_limiter) = hooked_queue("3/365d");
    hook(&queue, &of_clock, &of_limiter);
    let at = Some(Duration::from_nanos(5));
    let allowed = queue.until_ready_blocking().unwrap();
    assert_eq!(allowed.at(), at);
    let allowed = queue.until_ready_within_blocking(1, Duration::ZERO);
    assert_eq!(allowed.unwrap().at(), at);
    assert_eq!(queue.try_acquire().unwrap().at(), at);
    let mut denied = waiting(&queue);
    assert!(poll(&mut denied, Waker::noop()).is_pending());
    queue.hold(Duration::from_secs(1));
    assert_eq!(
        queue.until_ready_within_blocking(1, Duration::ZERO),
        Err(AcquireError::TimedOut)
    );
    assert!(of_clock.calls() + of_limiter.calls() >= 4);
}

/// A hook that uses the queue in each way that does not read the clock.
fn reader(queue: &Arc<Hooked>) -> impl Fn(u64) + Send + Sync + use<> {
    let queue = Arc::downgrade(queue);
    move |_| {
        let queue = queue.upgrade().unwrap();
        assert!(queue.waiting() <= 2);
        assert!(format!("{queue:?}").contains("waiting"));
    }
}

#[test]
fn a_clock_may_read_the_queue() {
    bounded(|| calls_while_a_hook_reads(|queue, clock, _| clock.set(reader(queue))));
}

#[test]
fn a_limiter_may_read_the_queue() {
    bounded(|| calls_while_a_hook_reads(|queue, _, limiter| limiter.set(reader(queue))));
}

/// The wake-up comes between the waiter's reading of its state and its sleep.
#[test]
fn a_wake_up_during_a_reading_is_not_lost() {
    bounded(|| {
        let (queue, of_clock, _) = hooked_queue("1/365d");
        queue.hold(Duration::from_secs(1));
        let wakes = Arc::downgrade(&queue);
        of_clock.set(move |calls| {
            if calls == 0 {
                wakes.upgrade().unwrap().look_again();
            }
        });
        let mut head = waiting(&queue);
        assert!(poll(&mut head, Waker::noop()).is_pending());
        assert_eq!(of_clock.calls(), 2, "it checked again before it slept");
    });
}

#[test]
fn a_caller_whose_clock_panics_leaves_the_queue() {
    bounded(|| {
        let (queue, of_clock, of_limiter) = hooked_queue("2/365d");
        let panics = Arc::new(AtomicBool::new(false));
        let of_hook = Arc::clone(&panics);
        of_limiter.set(move |_| {
            assert!(
                !of_hook.swap(false, Ordering::SeqCst),
                "the limiter's own panic"
            );
        });
        let of_hook = Arc::clone(&panics);
        of_clock.set(move |calls| {
            if calls % 2 == 1 {
                assert!(
                    !of_hook.swap(false, Ordering::SeqCst),
                    "the clock's own panic"
                );
            }
        });
        for _ in 0..4 {
            panics.store(true, Ordering::SeqCst);
            let call = || queue.until_ready_blocking();
            assert!(catch_unwind(AssertUnwindSafe(call)).is_err());
            panics.store(true, Ordering::SeqCst);
            let call = || queue.try_acquire();
            assert!(catch_unwind(AssertUnwindSafe(call)).is_err());
            assert_eq!(queue.waiting(), 0);
        }
        // Another thread is served: nothing was charged, and no lock is held.
        let other = thread::spawn(move || queue.until_ready_many_blocking(2));
        let allowed = other.join().unwrap().unwrap();
        assert_eq!(allowed.at(), Some(Duration::from_nanos(5)));
    });
}
