//! A thousand tasks wait their turn at 100 per 500 ms, in real time. It prints how close to the ideal
//! time they are served, and the processor time that it takes.
//!
//! `cargo run --release -p windowpane --features tokio --example waiting_tasks`

use std::sync::Arc;
use std::time::{Duration, Instant};

use cpu_time::ProcessTime;
use windowpane::AcquireError;
use windowpane::wait::TokioTimer;

const TASKS: usize = 1_000;
const LIMIT: usize = 100;
const WINDOW: Duration = Duration::from_millis(500);

/// How the tasks were served.
struct Served {
    /// Each task and the time it was served at, in that order.
    order: Vec<(usize, Duration)>,
    took: Duration,
    processor: Duration,
}

async fn serve(tasks: usize) -> Result<Served, Box<dyn std::error::Error>> {
    let limiter = windowpane::limiter("100/500ms")?;
    let queue = Arc::new(limiter.queued().with_timer(TokioTimer));
    let (start, processor) = (Instant::now(), ProcessTime::now());
    let waiting: Vec<_> = (0..tasks)
        .map(|task| {
            let queue = queue.clone();
            tokio::spawn(async move {
                let allowed = queue.until_ready().await?;
                let at = allowed.at().expect("a queue records what it allows");
                Ok::<_, AcquireError>((task, at))
            })
        })
        .collect();
    let mut order = Vec::new();
    for task in waiting {
        order.push(task.await??);
    }
    let (took, processor) = (start.elapsed(), processor.elapsed());
    order.sort_by_key(|(_, at)| *at);
    Ok(Served {
        order,
        took,
        processor,
    })
}

/// The most tasks served within any window.
fn fullest_window(served: &Served) -> usize {
    let ends = served.order.iter().enumerate();
    ends.map(|(last, (_, end))| {
        let first = served.order.partition_point(|(_, at)| *at + WINDOW <= *end);
        last + 1 - first
    })
    .max()
    .unwrap_or(0)
}

// On one thread, tasks enter the queue in the order in which they were spawned.
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let served = serve(TASKS).await?;
    // The last hundred can be served after nine windows.
    let ideal = WINDOW * (TASKS / LIMIT - 1) as u32;
    let over = served.took.as_secs_f64() / ideal.as_secs_f64() - 1.0;
    println!("{TASKS} tasks at {LIMIT} per {WINDOW:?}");
    println!(
        "served in order: {}",
        served.order.is_sorted_by_key(|(task, _)| *task)
    );
    println!("fullest window: {}", fullest_window(&served));
    println!(
        "took {:?}, the ideal is {ideal:?} ({:.2} % more)",
        served.took,
        100.0 * over
    );
    println!("processor time: {:?}", served.processor);
    Ok(())
}

#[cfg(test)]
#[path = "../../core/tests/bounded/mod.rs"]
mod bounded;

#[cfg(test)]
mod tests {
    use super::bounded::bounded;
    use super::*;

    #[test]
    fn tasks_are_served_in_order_and_within_the_quota() {
        let served = bounded(|| {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_time()
                .build()
                .unwrap();
            runtime.block_on(serve(150)).unwrap()
        });
        assert!(served.order.iter().map(|(task, _)| *task).eq(0..150));
        assert_eq!(fullest_window(&served), LIMIT);
        assert!(served.took >= WINDOW);
    }
}
