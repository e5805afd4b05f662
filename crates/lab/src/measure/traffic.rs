//! The requests that accuracy is measured on.

use std::collections::BTreeMap;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use rand_distr::{Distribution, Exp, Zipf};
use windowpane_core::{Cost, Nanos, Quota, Unit};

/// One request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// When, in nanoseconds from the traffic's zero; windows are counted from there.
    pub at: Nanos,
    /// Whose quota it is.
    pub client: u32,
    /// What it costs.
    pub cost: Cost,
}

/// Requests in the order of their times, and the quota of each client.
#[derive(Clone, Debug)]
pub struct Traffic {
    /// The name in tables and CSV.
    pub name: String,
    /// What it is, in one line.
    pub about: String,
    /// The quota of each client.
    pub quota: Quota,
    /// The requests.
    pub requests: Vec<Request>,
    /// Whether speed is measured on it, too.
    pub speed: bool,
}

const MILLISECOND: Nanos = 1_000_000;
const SECOND: Nanos = 1_000 * MILLISECOND;

impl Traffic {
    /// The times of each client's requests.
    pub fn by_client(&self) -> Vec<Vec<Nanos>> {
        let mut clients: BTreeMap<u32, Vec<Nanos>> = BTreeMap::new();
        for request in &self.requests {
            clients.entry(request.client).or_default().push(request.at);
        }
        clients.into_values().collect()
    }

    /// How many clients there are.
    pub fn clients(&self) -> u64 {
        let mut clients: Vec<u32> = self.requests.iter().map(|request| request.client).collect();
        clients.sort_unstable();
        clients.dedup();
        clients.len() as u64
    }
}

pub(super) fn quota(limit: u64, window: Nanos) -> Quota {
    Quota::from_nanos(limit, window, Unit::Permits).expect("a sensible quota")
}

fn single(at: Nanos) -> Request {
    Request {
        at,
        client: 0,
        cost: Cost::ONE,
    }
}

/// All synthetic traffics.
pub fn synthetic(seed: u64) -> Vec<Traffic> {
    vec![
        burst_across_the_boundary(),
        burst_at_the_start(),
        steady(seed),
        on_off(seed),
        zipf_clients(seed),
        like_a_log(seed),
    ]
}

/// Ten in the last second of a window, six half way through the next: the two-window rule lets
/// fifteen into one window of sixty seconds.
pub fn burst_across_the_boundary() -> Traffic {
    let ten = (0..10).map(|n| 59 * SECOND + n * 100 * MILLISECOND);
    let six = std::iter::repeat_n(90 * SECOND, 6);
    Traffic {
        name: "burst across the boundary".into(),
        about: "textbook: 10 in the last second of a window, 6 at half of the next".into(),
        quota: quota(10, 60 * SECOND),
        requests: ten.chain(six).map(single).collect(),
        speed: false,
    }
}

/// Ten in the first second of a window, one just after its end: refused by the two-window rule,
/// though the window is empty.
pub fn burst_at_the_start() -> Traffic {
    let ten = (0..10).map(|n| n * 100 * MILLISECOND);
    Traffic {
        name: "burst at the start".into(),
        about: "textbook: 10 in the first second of a window, 1 a second into the next".into(),
        quota: quota(10, 60 * SECOND),
        requests: ten.chain([61 * SECOND]).map(single).collect(),
        speed: false,
    }
}

/// One client that asks at random for slightly more than its quota, for an hour.
fn steady(seed: u64) -> Traffic {
    let mut random = StdRng::seed_from_u64(seed ^ 1);
    let between = Exp::new(11.0).expect("a positive rate");
    let requests = arrivals(&mut random, &between, 3_600.0)
        .map(single)
        .collect();
    Traffic {
        name: "steady".into(),
        about: "one client, 11 requests a second at random times, for an hour".into(),
        quota: quota(100, 10 * SECOND),
        requests,
        speed: false,
    }
}

/// Arrival times with random gaps in seconds, for so many seconds.
fn arrivals<'a>(
    random: &'a mut StdRng,
    between: &'a Exp<f64>,
    seconds: f64,
) -> impl Iterator<Item = Nanos> + 'a {
    let mut at = 0.0;
    std::iter::from_fn(move || {
        at += between.sample(random);
        (at < seconds).then_some((at * 1e9) as Nanos)
    })
}

/// One client that is silent and then asks for much at once, again and again.
fn on_off(seed: u64) -> Traffic {
    let mut random = StdRng::seed_from_u64(seed ^ 2);
    let pause = Exp::new(1.0 / 8.0).expect("a positive rate");
    let length = Exp::new(1.0 / 2.0).expect("a positive rate");
    let between = Exp::new(60.0).expect("a positive rate");
    let mut requests = Vec::new();
    let mut burst = 0.0;
    while burst < 3_600.0 {
        burst += pause.sample(&mut random);
        let lasts: f64 = length.sample(&mut random);
        let start = (burst * 1e9) as Nanos;
        requests.extend(arrivals(&mut random, &between, lasts).map(|at| single(start + at)));
        burst += lasts;
    }
    Traffic {
        name: "bursts".into(),
        about: "one client, on for 2 s and off for 8 s on average, 60 requests a second when on, for an hour".into(),
        quota: quota(100, 10 * SECOND),
        requests,
        speed: false,
    }
}

/// Many clients of very different size at once.
fn zipf_clients(seed: u64) -> Traffic {
    let mut random = StdRng::seed_from_u64(seed ^ 3);
    let between = Exp::new(200.0).expect("a positive rate");
    let client = Zipf::new(1_000.0, 1.0).expect("a sensible distribution");
    let times: Vec<Nanos> = arrivals(&mut random, &between, 600.0).collect();
    let requests = times.into_iter().map(|at| Request {
        at,
        client: client.sample(&mut random) as u32,
        cost: Cost::ONE,
    });
    Traffic {
        name: "zipf clients".into(),
        about: "1,000 clients, Zipf(1.0), 200 requests a second in all, for 10 minutes".into(),
        quota: quota(20, 10 * SECOND),
        requests: requests.collect(),
        speed: false,
    }
}

/// A day of an access log: few busy clients, visits of many requests, most of the day quiet.
fn like_a_log(seed: u64) -> Traffic {
    let mut random = StdRng::seed_from_u64(seed ^ 4);
    let client = Zipf::new(900.0, 1.0).expect("a sensible distribution");
    let gap = Exp::new(2.0).expect("a positive rate");
    let mut requests = Vec::new();
    for _ in 0..1_500 {
        let client = client.sample(&mut random) as u32;
        // Visits crowd around noon: the mean of three is likelier in the middle.
        let of_day: f64 = (0..3).map(|_| random.random::<f64>()).sum::<f64>() / 3.0;
        let mut at = of_day * 86_400.0;
        for _ in 0..random.random_range(1..=16) {
            requests.push(Request {
                // A log tells whole seconds.
                at: at as Nanos * SECOND,
                client,
                cost: Cost::ONE,
            });
            at += gap.sample(&mut random);
        }
    }
    requests.sort_by_key(|request| request.at);
    Traffic {
        name: "like a log".into(),
        about: "a synthetic day of an access log: 900 clients, Zipf(1.0), visits of 1 to 16 requests, whole seconds".into(),
        quota: quota(10, 10 * SECOND),
        requests,
        speed: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_requests_in_the_order_of_their_times() {
        for (once, again) in synthetic(7).iter().zip(synthetic(7)) {
            assert_eq!(once.requests, again.requests, "{}", once.name);
            assert!(once.requests.is_sorted_by_key(|r| r.at), "{}", once.name);
            assert!(!once.requests.is_empty());
        }
        let other = synthetic(8);
        assert_ne!(synthetic(7)[2].requests, other[2].requests);
    }
}
