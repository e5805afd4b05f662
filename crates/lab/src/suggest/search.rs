//! The least limit that reaches the targets, and the curve around it.

use std::collections::BTreeMap;
use std::thread;

use windowpane_core::{BuildError, Nanos, Quota, Quotas, Unit, format_nanos};
use windowpane_lab_contestants::registry::{Algorithm, ORACLE, find};

use super::Options;
use super::outcome::{Outcome, counted, outcome};
use super::summary::{Point, SCHEMA, Suggested, Suggestion, WindowSummary};
use super::traffic::Traffic;
use crate::replay::{ReplayError, Skipped};

/// Limits of a curve, about.
const POINTS: u32 = 32;

/// Suggests a limit for each window.
///
/// The log is decided once for each limit that is tried: some twenty to find the least, and those of
/// the curve. Clients whose busiest window holds no more than the limit are left out of it. Exact
/// limiters decide alike, and are tried once. Each other limiter has a thread of its own.
///
/// # Errors
/// [`ReplayError::Usage`] if a window is not one.
pub fn suggest(traffic: &mut Traffic, options: &Options) -> Result<Suggestion, ReplayError> {
    let windows = options
        .windows
        .iter()
        .map(|window| of_window(traffic, *window, options))
        .collect::<Result<_, _>>()?;
    Ok(Suggestion {
        schema: SCHEMA,
        input: traffic.input.clone(),
        given: options.given.iter().map(ToString::to_string).collect(),
        targets: options.targets,
        windows,
    })
}

fn of_window(
    traffic: &mut Traffic,
    window: Nanos,
    options: &Options,
) -> Result<WindowSummary, ReplayError> {
    let usage = |error: &dyn std::fmt::Display| ReplayError::Usage(format!("--window: {error}"));
    Quota::from_nanos(1, window, Unit::Permits).map_err(|error| usage(&error))?;
    let given = options.given.iter().map(|quota| quota.window());
    for window in given.chain([window]) {
        traffic.count_peaks(window);
        traffic.count_peaks(window.saturating_mul(2));
    }
    let traffic = &*traffic;
    let busiest = |window| traffic.peaks(window).iter().copied().max().unwrap_or(1);
    let mut summary = WindowSummary {
        window: format_nanos(window),
        busiest_window: busiest(window),
        algorithms: Vec::new(),
        skipped: Vec::new(),
    };
    let search = |algorithm: &'static Algorithm| Search {
        traffic,
        algorithm,
        window,
        options,
        tried: BTreeMap::new(),
        most: busiest(counted(algorithm, window)),
    };
    // Exact limiters decide alike: the oracle is tried for all of them.
    let tried = |algorithm: &'static Algorithm| match algorithm.info.is_exact() {
        true => find(ORACLE).unwrap_or(algorithm),
        false => algorithm,
    };
    let mut all: Vec<&'static Algorithm> = options.algorithms.iter().copied().map(tried).collect();
    let mut seen = Vec::new();
    all.retain(|algorithm| {
        let is_new = !seen.contains(&algorithm.info.name);
        seen.push(algorithm.info.name);
        is_new
    });
    let found: Vec<(&str, Result<Found, BuildError>)> = thread::scope(|scope| {
        let start = |algorithm: &&'static Algorithm| {
            let search = search(algorithm);
            (algorithm.info.name, scope.spawn(move || search.run()))
        };
        let threads: Vec<_> = all.iter().map(start).collect();
        let end = |(name, thread): (_, thread::ScopedJoinHandle<'_, _>)| {
            let found = thread.join();
            (
                name,
                found.unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            )
        };
        threads.into_iter().map(end).collect()
    });
    for algorithm in &options.algorithms {
        // One that cannot hold quotas of that many has its own error.
        let quotas = search(algorithm).quotas(1);
        let fits = (algorithm.build)(&quotas, Default::default()).map(drop);
        let name = tried(algorithm).info.name;
        let of = found.iter().find(|(of, _)| *of == name);
        let of = fits.and_then(|()| of.map(|(_, found)| found.clone()).transpose());
        match of {
            Ok(Some(found)) => summary.algorithms.push(found.of(algorithm)),
            Ok(None) => {}
            Err(error) => summary.skipped.push(Skipped {
                name: algorithm.info.name,
                reason: error.to_string(),
            }),
        }
    }
    Ok(summary)
}

/// What was found for an algorithm.
#[derive(Clone)]
struct Found {
    limit: Option<u64>,
    tried: BTreeMap<u64, Outcome>,
}

impl Found {
    fn of(self, algorithm: &Algorithm) -> Suggested {
        let point = |(limit, denied)| Point { limit, denied };
        Suggested {
            name: algorithm.info.name,
            exact: algorithm.info.is_exact(),
            limit: self.limit,
            denied: self.limit.map(|limit| self.tried[&limit]),
            curve: self.tried.into_iter().map(point).collect(),
        }
    }
}

struct Search<'a> {
    traffic: &'a Traffic,
    algorithm: &'a Algorithm,
    window: Nanos,
    options: &'a Options,
    tried: BTreeMap<u64, Outcome>,
    /// The limit at which this window's quota denies nothing.
    most: u64,
}

impl Search<'_> {
    fn run(mut self) -> Result<Found, BuildError> {
        let limit = match self.reaches(self.most)? {
            false => None,
            true => {
                // At `high` the targets are reached, below `low` they are not.
                let (mut low, mut high) = (1, self.most);
                while low < high {
                    let middle = low + (high - low) / 2;
                    match self.reaches(middle)? {
                        true => high = middle,
                        false => low = middle + 1,
                    }
                }
                Some(high)
            }
        };
        self.draw_curve(limit)?;
        Ok(Found {
            limit,
            tried: self.tried,
        })
    }

    /// Tries limits in equal ratios from a tenth of the one that is suggested, or 1, to the one that
    /// denies nothing.
    fn draw_curve(&mut self, limit: Option<u64>) -> Result<(), BuildError> {
        let least = limit
            .map_or(1, |limit| limit.div_ceil(10))
            .min(self.most)
            .max(1) as f64;
        let ratio = (self.most as f64 / least).powf(1.0 / f64::from(POINTS));
        for nth in 0..=POINTS {
            let limit = (least * ratio.powi(nth as i32)).round() as u64;
            self.try_limit(limit.clamp(1, self.most))?;
        }
        Ok(())
    }

    fn reaches(&mut self, limit: u64) -> Result<bool, BuildError> {
        let (clients, requests) = (self.traffic.clients() as u64, self.traffic.requests());
        let outcome = self.try_limit(limit)?;
        Ok(self.options.targets.reached(&outcome, clients, requests))
    }

    fn try_limit(&mut self, limit: u64) -> Result<Outcome, BuildError> {
        if let Some(known) = self.tried.get(&limit) {
            return Ok(*known);
        }
        let quotas = self.quotas(limit);
        let outcome = outcome(self.traffic, self.algorithm, &quotas, self.options.buckets)?;
        self.tried.insert(limit, outcome);
        Ok(outcome)
    }

    fn quotas(&self, limit: u64) -> Quotas {
        let own = Quota::from_nanos(limit, self.window, Unit::Permits);
        let all = self.options.given.iter().copied().chain(own);
        // The window was one with a limit of 1, and the given quotas were read.
        Quotas::new(all).expect("quotas that were checked")
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use proptest::prelude::*;
    use windowpane_lab_contestants::registry::algorithms;
    use windowpane_lab_input::{Input, InputOptions};

    use super::super::outcome::of_client;
    use super::super::{Targets, read};
    use super::*;

    fn traffic(requests: &[(u64, u8, u64)]) -> Traffic {
        let line = |(time, key, cost): &(u64, u8, u64)| format!("{time},{key},{cost}\n");
        let lines: String = requests.iter().map(line).collect();
        let text = format!("time,key,cost\n{lines}");
        let input = Input::new("in", move || Ok(Box::new(Cursor::new(text))));
        read(vec![input], false, &InputOptions::default()).unwrap()
    }

    fn options(targets: Targets, given: &str) -> Options {
        Options {
            windows: vec![10_000_000],
            given: given
                .split_terminator(' ')
                .map(|quota| quota.parse().unwrap())
                .collect(),
            algorithms: algorithms().collect(),
            buckets: 5,
            targets,
        }
    }

    fn requests() -> impl Strategy<Value = Vec<(u64, u8, u64)>> {
        prop::collection::vec((0..100_u64, 0..4_u8, 1..3_u64), 1..80)
    }

    proptest! {
        #[test]
        fn leaving_out_clients_who_ask_for_less_changes_nothing(
            requests in requests(), limit in 2..30_u64, second in 2..30_u64,
        ) {
            let mut traffic = traffic(&requests);
            for window in [10_000_000, 20_000_000, 40_000_000] {
                traffic.count_peaks(window);
            }
            for quotas in [format!("{limit}/10ms"), format!("{limit}/10ms, {second}/20ms")] {
                let quotas = Quotas::parse(quotas.as_str()).unwrap();
                for algorithm in algorithms() {
                    let Ok(found) = outcome(&traffic, algorithm, &quotas, 5) else {
                        continue;
                    };
                    let mut all = Outcome::default();
                    for client in 0..traffic.clients() {
                        let build = windowpane_lab_contestants::registry::BuildOptions {
                            buckets: 5,
                            ..Default::default()
                        };
                        let of = of_client(traffic.client(client), algorithm, &quotas, build);
                        let of = of.unwrap();
                        all.requests_denied += of.requests_denied;
                        all.clients_denied += of.clients_denied;
                        all.longest_block_ns = all.longest_block_ns.max(of.longest_block_ns);
                    }
                    prop_assert_eq!(found, all, "{}", algorithm.info.name);
                }
            }
        }

        #[test]
        fn a_suggested_limit_reaches_the_target_and_one_less_does_not(
            requests in requests(), clients in 0..4_u32, share in 0..20_u32,
        ) {
            let mut traffic = traffic(&requests);
            let targets = Targets {
                clients: (clients < 3).then_some(f64::from(clients) / 4.0),
                requests: Some(f64::from(share) / 40.0),
            };
            let options = options(targets, "");
            let suggested = suggest(&mut traffic, &options).unwrap();
            let (all, of) = (traffic.clients() as u64, traffic.requests());
            prop_assert_eq!(suggested.windows[0].algorithms.len(), algorithms().count());
            for found in &suggested.windows[0].algorithms {
                let algorithm = find(found.name).unwrap();
                let denied = |limit: u64| {
                    let quotas = Quotas::parse(format!("{limit}/10ms").as_str()).unwrap();
                    outcome(&traffic, algorithm, &quotas, 5).unwrap()
                };
                let limit = found.limit.unwrap();
                prop_assert_eq!(found.denied, Some(denied(limit)));
                prop_assert!(targets.reached(&denied(limit), all, of));
                if limit > 1 {
                    prop_assert!(!targets.reached(&denied(limit - 1), all, of), "{}", found.name);
                }
                prop_assert!(found.curve.iter().all(|point| point.denied == denied(point.limit)));
            }
        }

        #[test]
        fn exact_limits_for_clients_are_a_quantile_of_busiest_windows(
            requests in requests(), clients in 0..4_usize,
        ) {
            let mut traffic = traffic(&requests);
            let targets = Targets {
                clients: Some(clients as f64 / traffic.clients() as f64),
                requests: None,
            };
            let suggested = suggest(&mut traffic, &options(targets, "")).unwrap();
            // All pairs of requests, without a sliding window.
            let mut peaks: Vec<u64> = (0..4).map(|key| {
                let of = || requests.iter().filter(|(_, of, _)| *of == key);
                let sum = |(end, ..): &(u64, u8, u64)| {
                    let within = of().filter(|(at, ..)| at <= end && at + 10 > *end);
                    within.map(|(.., cost)| cost).sum::<u64>()
                };
                of().map(sum).max().unwrap_or(0)
            }).collect();
            peaks.sort_unstable_by_key(|peak| std::cmp::Reverse(*peak));
            let expected = peaks.get(clients).copied().unwrap_or(1).max(1);
            prop_assert_eq!(suggested.windows[0].algorithms[0].limit, Some(expected));
        }
    }

    #[test]
    fn a_given_quota_that_denies_too_much_leaves_no_limit() {
        let mut traffic = traffic(&[(0, 1, 1), (1, 1, 1), (2, 1, 1)]);
        let targets = Targets {
            clients: None,
            requests: Some(0.5),
        };
        let found = suggest(&mut traffic, &options(targets, "1/100ms")).unwrap();
        let [window] = &found.windows[..] else {
            panic!("one window")
        };
        assert_eq!(window.algorithms[0].limit, None);
        assert!(
            window
                .skipped
                .iter()
                .any(|skipped| skipped.name == "packed-counter")
        );
        let found = suggest(&mut traffic, &options(targets, "2/100ms")).unwrap();
        assert_eq!(found.windows[0].algorithms[0].limit, Some(2));
    }
}
