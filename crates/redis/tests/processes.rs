//! Several processes on one key: what they accepted together, by the server's clock, keeps every
//! quota in every window, and none of it is wasted.

mod support;

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use support::{Server, quotas, store};
use windowpane_core::{Decision, Quota, Quotas};
use windowpane_redis::{Log, RedisLimiter};

const PROCESSES: usize = 4;
const TASKS: u64 = 8;

/// How long they ask: 2 s, or as many as this variable says.
const SECONDS: &str = "WINDOWPANE_REDIS_SECONDS";
/// How a process is told what to do: address, quotas with spaces between, largest cost.
const JOB: &str = "WINDOWPANE_REDIS_JOB";

fn span() -> Duration {
    let seconds = std::env::var(SECONDS).map(|s| s.parse().expect("whole seconds"));
    Duration::from_secs(seconds.unwrap_or(2))
}

/// One of the processes: 8 tasks that ask, and a line for each acceptance.
#[test]
#[ignore = "a process of the other tests, started by them"]
fn a_process() {
    let job = std::env::var(JOB).expect("started by the other tests");
    let mut job = job.split('|');
    let (url, texts, most) = (
        job.next().unwrap(),
        job.next().unwrap(),
        job.next().unwrap(),
    );
    let texts: Vec<&str> = texts.split(' ').collect();
    let most: u64 = most.parse().unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let accepted = runtime.block_on(async {
        let limiter = RedisLimiter::<Log>::new(store(url).await, quotas(&texts)).unwrap();
        let end = Instant::now() + span();
        let ask = |task: u64| {
            let limiter = limiter.clone();
            tokio::spawn(async move {
                let (mut accepted, mut cost) = (Vec::new(), task);
                while Instant::now() < end {
                    cost = cost % most + 1;
                    let decided = limiter.decide("k", support::cost(cost)).await;
                    match decided.unwrap().answer.detailed.decision() {
                        Decision::Allowed { at } => accepted.push((at, cost)),
                        Decision::Denied(_) => tokio::time::sleep(Duration::from_millis(1)).await,
                    }
                }
                accepted
            })
        };
        let mut all = Vec::new();
        for task in (0..TASKS).map(ask).collect::<Vec<_>>() {
            all.extend(task.await.unwrap());
        }
        all
    });
    // The harness has begun a line of its own.
    println!();
    for (at, cost) in accepted {
        println!("accepted {at} {cost}");
    }
}

fn start(url: &str, texts: &[&str], most: u64) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_process", "--ignored", "--nocapture"])
        .env(JOB, format!("{url}|{}|{most}", texts.join(" ")))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// What all processes accepted, by time: when, and at which cost.
fn accepted(url: &str, texts: &[&str], most: u64) -> Vec<(u64, u64)> {
    let processes: Vec<Child> = (0..PROCESSES).map(|_| start(url, texts, most)).collect();
    let mut all = Vec::new();
    for mut process in processes {
        let mut output = String::new();
        let mut stdout = process.stdout.take().unwrap();
        stdout.read_to_string(&mut output).unwrap();
        assert!(process.wait().unwrap().success(), "{output}");
        for line in output
            .lines()
            .filter_map(|line| line.strip_prefix("accepted "))
        {
            let (at, cost) = line.split_once(' ').unwrap();
            all.push((at.parse().unwrap(), cost.parse().unwrap()));
        }
    }
    all.sort_unstable();
    all
}

/// The most that `quota` counts in any window of these: in the one that ends with some acceptance.
fn most_in_a_window(accepted: &[(u64, u64)], quota: &Quota) -> u64 {
    let charge = |cost| quota.charge(support::cost(cost));
    let (mut first, mut sum, mut most) = (0, 0, 0);
    for &(at, cost) in accepted {
        sum += charge(cost);
        while at - accepted[first].0 >= quota.window() {
            sum -= charge(accepted[first].1);
            first += 1;
        }
        most = most.max(sum);
    }
    most
}

fn check(accepted: &[(u64, u64)], quotas: &Quotas) {
    for quota in quotas.iter() {
        let most = most_in_a_window(accepted, quota);
        assert!(most <= quota.limit(), "{most} in one window of {quota}");
    }
}

#[test]
fn four_processes_keep_one_quota_and_use_its_last_permit() {
    let Some(server) = Server::start() else {
        return;
    };
    let texts = ["50/400ms"];
    let accepted = accepted(&server.url(), &texts, 1);
    check(&accepted, &quotas(&texts));
    assert_eq!(most_in_a_window(&accepted, &quotas(&texts)[0]), 50);
    // A permit that is back is taken soon: of what all windows hold, nine tenths at least.
    let windows = span().as_millis() as usize / 400;
    let (total, possible) = (accepted.len(), 50 * (windows + 1));
    assert!(
        total * 10 >= 50 * windows * 9 && total <= possible,
        "{total} of {possible}"
    );
    server.check_lives(Duration::from_millis(400));
}

#[test]
fn four_processes_keep_two_quotas_with_costs() {
    let Some(server) = Server::start() else {
        return;
    };
    let texts = ["40/400ms", "12req/250ms"];
    let accepted = accepted(&server.url(), &texts, 5);
    check(&accepted, &quotas(&texts));
    assert!(accepted.len() > 40, "{}", accepted.len());
    // Both were at their ends: excess demand of cost 1 takes what is left of the permits.
    assert_eq!(most_in_a_window(&accepted, &quotas(&texts)[0]), 40);
    server.check_lives(Duration::from_millis(400));
}
