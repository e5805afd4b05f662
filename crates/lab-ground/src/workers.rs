//! Worker threads: spawned, pinned and warmed before a barrier, and timed by their own clocks.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::processor;

/// When one worker started and ended, by its own clock, and what it did in between.
///
/// Only [`run`] makes one, in the worker: there is no way to pass a time that a coordinator read.
/// A coordinator's clock is wrong by up to 500 times where all cores are busy, because the
/// coordinator is not scheduled when the workers start or end.
///
/// ```compile_fail
/// use std::time::Instant;
/// use windowpane_lab_ground::workers::WorkerSpan;
///
/// // The fields are private: a coordinator's readings do not become a span.
/// let coordinator = Instant::now();
/// let span = WorkerSpan { start: coordinator, end: Instant::now(), operations: 1_000 };
/// ```
#[derive(Clone, Copy, Debug)]
pub struct WorkerSpan {
    start: Instant,
    end: Instant,
    operations: u64,
    /// Processor time in between; `None` where the system does not count it by thread.
    processor: Option<Duration>,
    preempted: u64,
}

impl WorkerSpan {
    /// What the worker did.
    pub fn operations(&self) -> u64 {
        self.operations
    }
}

/// One worker, as its own code sees it.
#[derive(Debug)]
pub struct Worker<'a> {
    /// Its number, from 0.
    pub index: usize,
    shared: &'a Shared,
}

#[derive(Debug)]
struct Shared {
    /// Workers that have arrived at the barrier.
    arrived: AtomicUsize,
    /// When the first worker started, on the workers' clocks, for [`Worker::until`].
    first_start: OnceLock<Instant>,
    /// Workers that could not be pinned.
    unpinned: AtomicU64,
}

impl Shared {
    /// Waits until all workers have arrived. It spins: a worker that has to be woken starts tens of
    /// microseconds after the others. Now and then it gives way, for those that are more than cores.
    fn wait_for(&self, workers: usize) {
        self.arrived.fetch_add(1, Ordering::AcqRel);
        let mut spins = 0_u32;
        while self.arrived.load(Ordering::Acquire) < workers {
            spins += 1;
            if spins.is_multiple_of(1_000) {
                thread::yield_now();
            } else {
                std::hint::spin_loop();
            }
        }
    }
}

impl Worker<'_> {
    /// The instant that is `after` the first worker's start, for all workers the same: who starts
    /// late because it was not scheduled does not run on when the others have stopped.
    pub fn until(&self, after: Duration) -> Instant {
        self.started() + after
    }

    /// When the first worker started.
    fn started(&self) -> Instant {
        *self.shared.first_start.get_or_init(Instant::now)
    }
}

/// What came of a [`run`].
#[derive(Debug)]
pub struct Outcome<T> {
    /// One span and one result a worker, in the order of their numbers.
    pub workers: Vec<(WorkerSpan, T)>,
    /// Workers that could not be pinned to a core.
    pub unpinned: u64,
}

impl<T> Outcome<T> {
    /// The throughput of all workers together.
    pub fn throughput(&self) -> Throughput {
        Throughput::of(self.workers.iter().map(|(span, _)| *span))
    }
}

/// Runs `threads` workers. Each is spawned, pinned to a core of its own as far as there are cores,
/// warmed by `warm_up`, and waits for the others; then `measured` runs and says how many operations
/// it made. Spawning, pinning and warming are no part of the spans.
pub fn run<W, T: Send>(
    threads: usize,
    warm_up: impl Fn(&Worker) -> W + Sync,
    measured: impl Fn(&Worker, W) -> (u64, T) + Sync,
) -> Outcome<T> {
    let shared = Shared {
        arrived: AtomicUsize::new(0),
        first_start: OnceLock::new(),
        unpinned: AtomicU64::new(0),
    };
    let cores = core_affinity::get_core_ids().unwrap_or_default();
    let work = |index: usize| {
        let pinned = match cores.len() {
            0 => false,
            cores_available => core_affinity::set_for_current(cores[index % cores_available]),
        };
        if !pinned {
            shared.unpinned.fetch_add(1, Ordering::Relaxed);
        }
        let worker = Worker {
            index,
            shared: &shared,
        };
        let warmed = warm_up(&worker);
        shared.wait_for(threads);
        worker.started();
        let before = processor::read();
        let start = Instant::now();
        let (operations, result) = measured(&worker, warmed);
        let end = Instant::now();
        let after = processor::read();
        let processor = after.time.zip(before.time);
        let span = WorkerSpan {
            start,
            end,
            operations,
            processor: processor.map(|(after, before)| after.saturating_sub(before)),
            preempted: after.preempted.saturating_sub(before.preempted),
        };
        (span, result)
    };
    let workers = thread::scope(|scope| {
        let spawned: Vec<_> = (0..threads)
            .map(|index| {
                let work = &work;
                scope.spawn(move || work(index))
            })
            .collect();
        let join = |worker: thread::ScopedJoinHandle<_>| {
            worker
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        spawned.into_iter().map(join).collect()
    });
    Outcome {
        workers,
        unpinned: shared.unpinned.into_inner(),
    }
}

/// Operations of all workers over `max(worker end) − min(worker start)`.
///
/// ```compile_fail
/// use std::time::Duration;
/// use windowpane_lab_ground::workers::Throughput;
///
/// // There is no throughput from operations and a time that somebody else took.
/// let throughput = Throughput { operations: 1_000_000, elapsed: Duration::from_millis(10) };
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Throughput {
    operations: u64,
    elapsed: Duration,
    least: u64,
    most: u64,
    processor: Option<f64>,
    preempted: u64,
}

impl Throughput {
    /// The throughput of these workers, which ran together.
    ///
    /// # Panics
    /// Without any worker.
    pub fn of(spans: impl IntoIterator<Item = WorkerSpan>) -> Throughput {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        Throughput::on(cores, spans)
    }

    fn on(cores: usize, spans: impl IntoIterator<Item = WorkerSpan>) -> Throughput {
        let spans: Vec<WorkerSpan> = spans.into_iter().collect();
        let start = spans.iter().map(|span| span.start).min();
        let end = spans.iter().map(|span| span.end).max();
        let elapsed = end.expect("a worker") - start.expect("a worker");
        let operations = || spans.iter().map(|span| span.operations);
        Throughput {
            operations: operations().sum(),
            elapsed,
            least: operations().min().unwrap_or(0),
            most: operations().max().unwrap_or(0),
            processor: processor_share(cores, elapsed, &spans),
            preempted: spans.iter().map(|span| span.preempted).sum(),
        }
    }

    /// The share of their time in which the workers had a processor: that of the worker with the
    /// least. Where workers are more than cores, all their processor time as a share of the cores'
    /// time. `None` where the system does not count it.
    pub fn processor_share(&self) -> Option<f64> {
        self.processor
    }

    /// How often a worker lost its processor to another thread.
    pub fn preempted(&self) -> u64 {
        self.preempted
    }

    /// From the first start to the last end.
    pub fn elapsed(&self) -> Duration {
        self.elapsed
    }

    /// Operations of all workers together.
    pub fn operations(&self) -> u64 {
        self.operations
    }

    /// Operations a second, all workers together.
    pub fn per_second(&self) -> f64 {
        self.operations as f64 / self.elapsed.as_secs_f64()
    }

    /// The operations of the worker that made fewest as a share of those of the one that made most.
    pub fn fairness(&self) -> f64 {
        self.least as f64 / self.most.max(1) as f64
    }
}

fn processor_share(cores: usize, elapsed: Duration, spans: &[WorkerSpan]) -> Option<f64> {
    if spans.len() > cores {
        let times = spans.iter().map(|span| span.processor);
        let all = times.sum::<Option<Duration>>()?;
        return Some(all.as_secs_f64() / (elapsed.as_secs_f64() * cores as f64));
    }
    let of_worker = |span: &WorkerSpan| {
        let wall = (span.end - span.start).as_secs_f64();
        Some(span.processor?.as_secs_f64() / wall.max(1e-9))
    };
    let shares: Option<Vec<f64>> = spans.iter().map(of_worker).collect();
    shares?.into_iter().reduce(f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(zero: Instant, start_ms: u64, end_ms: u64, operations: u64) -> WorkerSpan {
        WorkerSpan {
            start: zero + Duration::from_millis(start_ms),
            end: zero + Duration::from_millis(end_ms),
            operations,
            processor: Some(Duration::from_millis((end_ms - start_ms) / 2)),
            preempted: 1,
        }
    }

    #[test]
    fn processor_share_is_that_of_the_worker_with_least() {
        let zero = Instant::now();
        let whole = WorkerSpan {
            processor: Some(Duration::from_millis(100)),
            ..span(zero, 0, 100, 1)
        };
        let spans = [whole, span(zero, 0, 100, 1)];
        let share = |cores| Throughput::on(cores, spans).processor_share().unwrap();
        assert!((share(2) - 0.5).abs() < 1e-9);
        // More workers than cores: 150 ms of the 100 ms that one core has.
        assert!((share(1) - 1.5).abs() < 1e-9);
        let unknown = WorkerSpan {
            processor: None,
            ..whole
        };
        assert_eq!(Throughput::on(2, [whole, unknown]).processor_share(), None);
        assert_eq!(Throughput::on(2, spans).preempted(), 2);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_worker_that_sleeps_does_not_have_the_processor() {
        let outcome = run(
            1,
            |_| (),
            |_, ()| {
                thread::sleep(Duration::from_millis(50));
                (1, ())
            },
        );
        let share = outcome.throughput().processor_share().unwrap();
        assert!(share < 0.5, "{share}");
    }

    #[test]
    fn throughput_is_operations_over_the_last_end_less_the_first_start() {
        let zero = Instant::now();
        let throughput = Throughput::of([
            span(zero, 10, 90, 300),
            span(zero, 0, 70, 200),
            span(zero, 5, 100, 500),
        ]);
        assert_eq!(throughput.elapsed(), Duration::from_millis(100));
        assert!((throughput.per_second() - 10_000.0).abs() < 1e-6);
        assert!((throughput.fairness() - 0.4).abs() < 1e-9);
    }

    #[test]
    fn what_is_before_the_barrier_is_not_in_the_spans() {
        let pause = Duration::from_millis(300);
        let outcome = run(
            2,
            |worker| thread::sleep(pause * (worker.index as u32 + 1)),
            |_, ()| (1, ()),
        );
        assert!(
            outcome.throughput().elapsed() < pause,
            "{:?}",
            outcome.throughput()
        );
    }

    #[test]
    fn all_workers_stop_at_the_instant_of_the_first_starts_deadline() {
        let outcome = run(
            4,
            |_| (),
            |worker, ()| (1, worker.until(Duration::from_millis(1))),
        );
        let deadlines: Vec<Instant> = outcome.workers.iter().map(|(_, until)| *until).collect();
        assert!(deadlines.windows(2).all(|pair| pair[0] == pair[1]));
    }
}
