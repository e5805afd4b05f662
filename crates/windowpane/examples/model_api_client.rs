//! A client of a language model's API that keeps within what it was promised.
//!
//! The contract: 60 requests and 100,000 tokens per minute, and 10 requests per second. The cost of a
//! request is known only from its answer. So each request is charged an estimate first, which is
//! settled then. The requests wait their turn in one queue. The server may say `Retry-After` all the
//! same, for example because of other clients of the same account. Then no task sends before that
//! time is over.
//!
//! The server is simulated and tokio's time is paused, so the minutes pass without real waiting.
//!
//! `cargo run -p windowpane --features tokio --example model_api_client`

use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};
use windowpane::wait::{Queue, TokioClock, TokioTimer};
use windowpane::{AcquireError, Limiter, MutexLog};

const CONTRACT: [&str; 3] = ["60req/60s", "100000/60s", "10req/1s"];
/// The quotas that we keep. Their windows are longer by the most that one way to the server takes
/// longer than another: a slow request and a fast one a minute later arrive closer together.
const KEPT: [&str; 3] = ["60req/60200ms", "100000/60200ms", "10req/1200ms"];
const JOBS: u64 = 90;
/// The charge of a job until its cost is known, in tokens.
const ESTIMATE: u64 = 5_000;

fn limiter(quotas: [&str; 3]) -> Limiter<MutexLog, TokioClock> {
    Limiter::on_clock(quotas, TokioClock::new()).expect("well-formed quotas")
}

type OurQueue = Queue<MutexLog, TokioClock, TokioTimer>;

/// One request to the model.
struct Job {
    /// The tokens of the prompt, and the most that the answer may take.
    estimate: u64,
    /// The tokens of both, known from the answer.
    actual: u64,
    /// The time to the server, and the time back.
    way: Duration,
}

impl Job {
    const LONGEST_WAY: Duration = Duration::from_millis(180);

    /// The same jobs every time: most answers are shorter than they may be, some longer.
    fn numbered(number: u64) -> Job {
        Job {
            estimate: ESTIMATE,
            actual: 500 + number * 7_919 % 4_700,
            way: Duration::from_millis(20 + number * 31 % 160),
        }
    }
}

/// The server. It keeps the same contract, by arrivals and by real costs.
struct Server {
    contract: Limiter<MutexLog, TokioClock>,
    seen: Mutex<Seen>,
}

/// The figures of the server.
#[derive(Default)]
struct Seen {
    arrivals: u64,
    served: u64,
    tokens: u64,
    denied: u64,
    /// Arrivals before the end of a wait that the server had asked for, without those that were
    /// already on their way.
    impatient: u64,
    quiet: Option<Range<Instant>>,
}

/// The answer 429, with its header `Retry-After` in seconds.
struct TooMany {
    retry_after: u64,
}

impl Server {
    async fn call(&self, job: &Job) -> Result<u64, TooMany> {
        sleep(job.way).await;
        let answer = self.decide(job);
        sleep(job.way).await;
        answer
    }

    fn decide(&self, job: &Job) -> Result<u64, TooMany> {
        let mut seen = self
            .seen
            .lock()
            .expect("no task panics while it holds the lock");
        seen.arrivals += 1;
        let now = Instant::now();
        let quiet = seen.quiet.as_ref();
        seen.impatient += u64::from(quiet.is_some_and(|quiet| quiet.contains(&now)));
        // Once it answers 429 without a cause.
        let retry_after = if seen.arrivals == 40 {
            Some(7)
        } else {
            match self.contract.try_acquire_many(job.actual) {
                Ok(_) => None,
                // Whole seconds, rounded up: a client that comes back then is allowed.
                Err(AcquireError::Denied(denied)) => {
                    Some(denied.retry_after().as_nanos().div_ceil(1_000_000_000) as u64)
                }
                Err(error) => panic!("{error}"),
            }
        };
        match retry_after {
            None => {
                seen.served += 1;
                seen.tokens += job.actual;
                Ok(job.actual)
            }
            Some(retry_after) => {
                seen.denied += 1;
                let told = now + 2 * Job::LONGEST_WAY;
                seen.quiet = Some(told..now + Duration::from_secs(retry_after));
                Err(TooMany { retry_after })
            }
        }
    }
}

/// Sends the job when its turn has come, and again until it is served.
async fn run(queue: &OurQueue, server: &Server, job: &Job) {
    loop {
        let allowed = queue
            .until_ready_many(job.estimate)
            .await
            .expect("the estimate fits the contract");
        match server.call(job).await {
            Ok(cost) => return queue.settle(allowed, cost),
            Err(TooMany { retry_after }) => {
                // No task sends before that time is over, and the rejected request costs nothing.
                queue.hold(Duration::from_secs(retry_after));
                queue.settle(allowed, 0);
            }
        }
    }
}

/// The figures of a run.
struct Figures {
    seen: Seen,
    took: Duration,
}

async fn figures() -> Figures {
    let server = Arc::new(Server {
        contract: limiter(CONTRACT),
        seen: Mutex::default(),
    });
    let queue = Arc::new(limiter(KEPT).queued().with_timer(TokioTimer));
    let start = Instant::now();
    let mut jobs = JoinSet::new();
    for number in 0..JOBS {
        let (server, queue) = (server.clone(), queue.clone());
        jobs.spawn(async move { run(&queue, &server, &Job::numbered(number)).await });
    }
    while let Some(done) = jobs.join_next().await {
        done.expect("no job panics");
    }
    let seen = std::mem::take(
        &mut *server
            .seen
            .lock()
            .expect("no task panics while it holds the lock"),
    );
    Figures {
        seen,
        took: start.elapsed(),
    }
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() {
    let Figures { seen, took } = figures().await;
    println!("The contract: {}.", CONTRACT.join(" and "));
    println!("{JOBS} jobs, all wanted at once, each estimated at {ESTIMATE} tokens.\n");
    println!("served           {:>8}", seen.served);
    println!("tokens           {:>8}", seen.tokens);
    println!("denied with 429  {:>8}", seen.denied);
    println!("sent before the end of a wait: {}", seen.impatient);
    println!("\nAll were done after {:.1} s.", took.as_secs_f64());
    let a_minute = 100_000 / ESTIMATE;
    let minutes = (JOBS - 1) / a_minute;
    println!(
        "Without settling, {a_minute} estimates fill a minute: it would take {minutes} minutes."
    );
}

#[cfg(test)]
#[path = "../../core/tests/bounded/mod.rs"]
mod bounded;

#[cfg(test)]
mod tests {
    use super::bounded::bounded;
    use super::*;

    #[test]
    fn all_are_served_within_the_contract_and_holds_are_kept() {
        let Figures { seen, took } = bounded(|| {
            let mut runtime = tokio::runtime::Builder::new_current_thread();
            let runtime = runtime.enable_time().start_paused(true).build().unwrap();
            runtime.block_on(figures())
        });
        assert_eq!((seen.arrivals, seen.served), (JOBS + seen.denied, JOBS));
        // The 429 without a cause, and no other.
        assert_eq!((seen.denied, seen.impatient), (1, 0));
        // Three minutes' worth of tokens: the last of them go out when the second minute is over.
        assert!((200_001..300_000).contains(&seen.tokens), "{}", seen.tokens);
        assert!((120..150).contains(&took.as_secs()), "{took:?}");
    }
}
