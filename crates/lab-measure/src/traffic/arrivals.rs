//! When requests come, and whose they are.

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use rand_distr::{Distribution, Exp, Zipf};
use windowpane_core::{Cost, Nanos};

use super::Request;
use crate::definitions::{Accuracy, Arrivals, Clients};

const SECOND: Nanos = 1_000_000_000;
const DAY: f64 = 86_400.0;

/// The requests of a definition, in the order of their times.
pub(super) fn requests(definition: &Accuracy, seed: u64) -> Vec<Request> {
    let mut random = StdRng::seed_from_u64(seed);
    let clients = Drawn::of(&definition.clients);
    let mut requests = match &definition.arrivals {
        Arrivals::Listed { bursts } => {
            let times = bursts.iter().flat_map(|burst| {
                (0..u64::from(burst.count)).map(|nth| burst.at.0 + nth * burst.apart.0)
            });
            times.map(|at| request(at, 0)).collect()
        }
        Arrivals::Visits {
            visits,
            requests_at_most,
            gap,
        } => visit(
            *visits,
            *requests_at_most,
            gap.seconds(),
            &clients,
            &mut random,
        ),
        Arrivals::Poisson { per_second, r#for } => {
            let times = poisson(*per_second, r#for.seconds(), &mut random);
            given_to(times, &clients, &mut random)
        }
        Arrivals::OnOff {
            on,
            off,
            per_second,
            r#for,
        } => on_off(
            [on.seconds(), off.seconds()],
            *per_second,
            r#for.seconds(),
            &clients,
            &mut random,
        ),
        Arrivals::Day {
            per_second,
            swing,
            peak,
        } => {
            let times = day(*per_second, *swing, peak.seconds(), &mut random);
            given_to(times, &clients, &mut random)
        }
        Arrivals::Search { .. } => Vec::new(),
    };
    requests.sort_by_key(|request| request.at);
    requests
}

fn request(at: Nanos, client: u32) -> Request {
    Request {
        at,
        client,
        cost: Cost::ONE,
    }
}

fn nanos(seconds: f64) -> Nanos {
    (seconds * 1e9) as Nanos
}

fn exponential(mean: f64) -> Exp<f64> {
    Exp::new(1.0 / mean).expect("a positive mean")
}

/// Whose the next request is.
struct Drawn {
    count: u32,
    zipf: Option<Zipf<f64>>,
    /// How many attackers, and their share.
    attackers: (u32, f64),
}

impl Drawn {
    fn of(clients: &Clients) -> Drawn {
        let law = |exponent: f64| Zipf::new(f64::from(clients.count), exponent);
        Drawn {
            count: clients.count,
            zipf: clients
                .zipf
                .map(|exponent| law(exponent).expect("a checked exponent")),
            attackers: clients.attackers.map_or((0, 0.0), |a| (a.count, a.share)),
        }
    }

    fn next(&self, random: &mut StdRng) -> u32 {
        let (attackers, share) = self.attackers;
        if attackers > 0 && random.random_bool(share) {
            return self.count + random.random_range(0..attackers);
        }
        match self.zipf {
            Some(zipf) => zipf.sample(random) as u32 - 1,
            None => random.random_range(0..self.count),
        }
    }
}

fn given_to(times: Vec<Nanos>, clients: &Drawn, random: &mut StdRng) -> Vec<Request> {
    let times = times.into_iter();
    times.map(|at| request(at, clients.next(random))).collect()
}

fn poisson(per_second: f64, seconds: f64, random: &mut StdRng) -> Vec<Nanos> {
    let gap = exponential(1.0 / per_second);
    let mut times = Vec::new();
    let mut at = gap.sample(random);
    while at < seconds {
        times.push(nanos(at));
        at += gap.sample(random);
    }
    times
}

/// Each client is on and off by itself, so that bursts of different clients do not coincide; the
/// rate while on is the clients' together, an equal part for each.
fn on_off(
    [on, off]: [f64; 2],
    per_second: f64,
    seconds: f64,
    clients: &Drawn,
    random: &mut StdRng,
) -> Vec<Request> {
    let (lasts, pauses) = (exponential(on), exponential(off));
    let of_each = per_second / f64::from(clients.count);
    let mut requests = Vec::new();
    for client in 0..clients.count {
        let mut start = pauses.sample(random);
        while start < seconds {
            let end = start + lasts.sample(random);
            let length = end.min(seconds) - start;
            let times = poisson(of_each, length, random);
            requests.extend(times.iter().map(|at| request(nanos(start) + at, client)));
            start = end + pauses.sample(random);
        }
    }
    requests
}

/// A rate that swings once in a day, by thinning: drawn at its highest, kept by its height.
fn day(per_second: f64, swing: f64, peak: f64, random: &mut StdRng) -> Vec<Nanos> {
    let mut times = poisson(per_second * (1.0 + swing), DAY, random);
    times.retain(|&at| {
        let of_day = (at as f64 * 1e-9 - peak) / DAY * std::f64::consts::TAU;
        let height = (1.0 + swing * of_day.cos()) / (1.0 + swing);
        random.random_bool(height.clamp(0.0, 1.0))
    });
    times
}

/// Visits crowd around noon, at whole seconds, as a log tells them.
fn visit(
    visits: u32,
    requests_at_most: u32,
    gap: f64,
    clients: &Drawn,
    random: &mut StdRng,
) -> Vec<Request> {
    let gap = exponential(gap);
    let mut requests = Vec::new();
    for _ in 0..visits {
        let client = clients.next(random);
        // The mean of three is likelier in the middle.
        let of_day = (0..3).map(|_| random.random::<f64>()).sum::<f64>() / 3.0;
        let mut at = of_day * DAY;
        for _ in 0..random.random_range(1..=requests_at_most) {
            requests.push(request(at as Nanos * SECOND, client));
            at += gap.sample(random);
        }
    }
    requests
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definitions::{Attackers, Definition, Workload};

    #[test]
    fn attackers_are_further_clients_and_ask_for_their_share() {
        let clients = Clients {
            count: 10,
            attackers: Some(Attackers {
                count: 2,
                share: 0.5,
            }),
            ..Clients::default()
        };
        let (drawn, mut random) = (Drawn::of(&clients), StdRng::seed_from_u64(1));
        let mut of_client = [0_u32; 12];
        for _ in 0..10_000 {
            of_client[drawn.next(&mut random) as usize] += 1;
        }
        let attacks: u32 = of_client[10..].iter().sum();
        assert!((4_800..5_200).contains(&attacks), "{of_client:?}");
        assert!(of_client[10..].iter().all(|asked| *asked > 2_000));
        assert!(of_client[..10].iter().all(|asked| *asked < 700));
    }

    #[test]
    fn a_day_is_busiest_at_its_peak() {
        let of_hour = |peak: &str| {
            let text = format!(
                "name = \"a\"\nworkload = \"accuracy\"\nabout = \"b\"\nquota = \"1/1s\"\n\
                 arrivals = {{ process = \"day\", per_second = 1.0, swing = 0.8, peak = \"{peak}\" }}"
            );
            let read = Definition::read("a.toml", &text).unwrap();
            let Workload::Accuracy(day) = read.workload else {
                panic!("an accuracy");
            };
            let mut hours = [0_u32; 24];
            for request in requests(&day, 1) {
                hours[(request.at / (3_600 * SECOND)) as usize] += 1;
            }
            hours
        };
        for (peak, high, low) in [("6h", 6, 18), ("20h", 20, 8)] {
            let hours = of_hour(peak);
            // 1.8 against 0.2 of the mean.
            assert!(hours[high] > 5 * hours[low], "{peak}: {hours:?}");
        }
    }
}
