//! A client of a language model's API that keeps within what it was promised.
//!
//! The contract: 60 requests and 100,000 tokens per minute, and 10 requests per second. What a request
//! costs is known only from its answer, so each is charged an estimate first, which is settled then.
//! The requests wait their turn in one line. When the server says `Retry-After` all the same (its
//! own clock, other clients of the same account, a bad day), nobody sends before that is over.
//!
//! The server is simulated, and tokio's time is paused, so that minutes go by in no time.
//!
//! `cargo run -p windowpane --features tokio --example model_api_client`

use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};
use windowpane::wait::{Queue, TokioClock, TokioTimer};
use windowpane::{Cost, Decision, Limiter, MutexLog, Quotas};

const CONTRACT: [&str; 3] = ["60req/60s", "100000/60s", "10req/1s"];
/// What we keep to: windows longer by what one way to the server can take longer than another. A
/// request that took long and one a minute later that did not are closer together over there.
const KEPT: [&str; 3] = ["60req/60200ms", "100000/60200ms", "10req/1200ms"];
const JOBS: u64 = 90;
/// What a job is charged until it is known, in tokens.
const ESTIMATE: u64 = 5_000;

fn limiter(quotas: [&str; 3]) -> Limiter<MutexLog, TokioClock> {
    let quotas = Quotas::parse(quotas).expect("well-formed quotas");
    Limiter::with_clock(MutexLog::new(quotas), TokioClock::new())
}

/// One request to the model.
struct Job {
    /// What the prompt takes and the answer may take, in tokens.
    estimate: Cost,
    /// What both take together, which nobody knows before.
    actual: Cost,
    /// How long the way to the server takes, and the way back.
    way: Duration,
}

impl Job {
    const LONGEST_WAY: Duration = Duration::from_millis(180);

    /// The same jobs every time: most answers are shorter than they may be, some longer.
    fn numbered(number: u64) -> Job {
        let tokens = |tokens: u64| Cost::new(tokens).expect("more than none");
        Job {
            estimate: tokens(ESTIMATE),
            actual: tokens(500 + number * 7_919 % 4_700),
            way: Duration::from_millis(20 + number * 31 % 160),
        }
    }
}

/// The other side. It keeps the same contract, by what arrives and by what that really costs.
struct Server {
    contract: Limiter<MutexLog, TokioClock>,
    seen: Mutex<Seen>,
}

/// What the server has seen.
#[derive(Default)]
struct Seen {
    arrivals: u64,
    served: u64,
    tokens: u64,
    refused: u64,
    /// Arrivals before the end of a wait that the server had asked for, but for those that were on
    /// their way when it did.
    impatient: u64,
    quiet: Option<Range<Instant>>,
}

/// The answer 429, with its header `Retry-After` in seconds.
struct TooMany {
    retry_after: u64,
}

impl Server {
    async fn call(&self, job: &Job) -> Result<Cost, TooMany> {
        sleep(job.way).await;
        let answer = self.decide(job);
        sleep(job.way).await;
        answer
    }

    fn decide(&self, job: &Job) -> Result<Cost, TooMany> {
        let mut seen = self.seen.lock().expect("nobody panics with it");
        seen.arrivals += 1;
        let now = Instant::now();
        let quiet = seen.quiet.as_ref();
        seen.impatient += u64::from(quiet.is_some_and(|quiet| quiet.contains(&now)));
        // Once it has a bad moment, whatever the contract says.
        let retry_after = if seen.arrivals == 40 {
            Some(7)
        } else {
            match self.contract.acquire(job.actual).expect("it fits") {
                Decision::Allowed { .. } => None,
                // Whole seconds, rounded up: a client that comes back then is let in.
                Decision::Denied(denied) => {
                    let wait = denied.retry_after_nanos().expect("no limit is 0");
                    Some(wait.div_ceil(1_000_000_000))
                }
            }
        };
        match retry_after {
            None => {
                seen.served += 1;
                seen.tokens += job.actual.get();
                Ok(job.actual)
            }
            Some(retry_after) => {
                seen.refused += 1;
                let told = now + 2 * Job::LONGEST_WAY;
                seen.quiet = Some(told..now + Duration::from_secs(retry_after));
                Err(TooMany { retry_after })
            }
        }
    }
}

/// Our side: sends the job when its turn has come, as often as it takes.
async fn run(queue: &Queue<MutexLog, TokioClock>, server: &Server, job: &Job) {
    loop {
        let charge = queue
            .reserve(&TokioTimer, job.estimate)
            .await
            .expect("the estimate fits the contract");
        match server.call(job).await {
            Ok(cost) => return queue.settle(charge, cost.get()),
            Err(TooMany { retry_after }) => {
                // Nobody goes before the server wants to hear of us again, and what it refused
                // costs nothing.
                queue.hold(Duration::from_secs(retry_after));
                queue.settle(charge, 0);
            }
        }
    }
}

/// What came of it.
struct Figures {
    seen: Seen,
    took: Duration,
}

async fn figures() -> Figures {
    let server = Arc::new(Server {
        contract: limiter(CONTRACT),
        seen: Mutex::default(),
    });
    let queue = Arc::new(Queue::new(limiter(KEPT)));
    let start = Instant::now();
    let mut jobs = JoinSet::new();
    for number in 0..JOBS {
        let (server, queue) = (server.clone(), queue.clone());
        jobs.spawn(async move { run(&queue, &server, &Job::numbered(number)).await });
    }
    while let Some(done) = jobs.join_next().await {
        done.expect("no job panics");
    }
    let seen = std::mem::take(&mut *server.seen.lock().expect("nobody panics with it"));
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
    println!("refused with 429 {:>8}", seen.refused);
    println!(
        "sent all the same while the server wanted quiet: {}",
        seen.impatient
    );
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
        assert_eq!((seen.arrivals, seen.served), (JOBS + seen.refused, JOBS));
        // The server's bad moment, and nothing that we could have known.
        assert_eq!((seen.refused, seen.impatient), (1, 0));
        // Three minutes' worth of tokens: the last of them go out when the second minute is over.
        assert!((200_001..300_000).contains(&seen.tokens), "{}", seen.tokens);
        assert!((120..150).contains(&took.as_secs()), "{took:?}");
    }
}
