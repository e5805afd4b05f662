//! The algorithms for several machines, which run on a shared Redis or Valkey.

use std::path::Path;

use windowpane_lab_contestants::Rule;

use super::candidate::{Candidate, Figures, Row, RuledOut, accuracy_of, class};
use super::memory::{Source, in_bytes};
use super::need::Need;
use crate::run::Run;

/// An algorithm of the store.
struct Algorithm {
    name: &'static str,
    rule: Rule,
    /// About the bytes of a key for a number of accepted requests, its name and the server's own
    /// bookkeeping included: the page of `windowpane-redis` on the server has them.
    state: fn(u64) -> u64,
}

const ALGORITHMS: [Algorithm; 3] = [
    Algorithm {
        name: "redis/log",
        rule: Rule::Exact,
        state: |entries| 264 + 16 * entries,
    },
    Algorithm {
        name: "redis/two-counter",
        rule: Rule::TwoCounter,
        state: |_| 136,
    },
    Algorithm {
        name: "redis/gcra",
        rule: Rule::TokenBucket,
        state: |_| 120,
    },
];

/// Numbers in scripts are exact up to here.
const EXACT: u128 = 1 << 53;

/// Returns the algorithms that hold a need of several machines, and why the others do not.
pub(super) fn candidates(run: &Run, need: &Need) -> (Vec<Candidate>, Vec<RuledOut>) {
    let (mut fit, mut ruled_out) = (Vec::new(), Vec::new());
    for algorithm in &ALGORITHMS {
        match check(run, algorithm, need) {
            Ok(candidate) => fit.push(candidate),
            Err(reason) => ruled_out.push(RuledOut {
                limiter: algorithm.name.into(),
                reason,
            }),
        }
    }
    (fit, ruled_out)
}

fn check(run: &Run, algorithm: &Algorithm, need: &Need) -> Result<Candidate, String> {
    let is_exact = algorithm.rule == Rule::Exact;
    let first = need.quotas[0];
    let micros = u128::from(first.window() / 1_000);
    if need.quotas.len() > 1 && !is_exact {
        return Err("holds one quota".into());
    }
    if need.quotas.iter().any(|quota| quota.window() % 1_000 != 0) {
        return Err("counts whole microseconds".into());
    }
    if algorithm.rule == Rule::TwoCounter && u128::from(first.limit()) * micros > EXACT {
        return Err("limit times window is too large for a script".into());
    }
    if algorithm.rule == Rule::TokenBucket && u128::from(first.limit()) > micros {
        return Err("holds at most one permit a microsecond".into());
    }
    accuracy_of(algorithm.rule, is_exact, need)?;
    let (each, source) = counted(&run.folder, algorithm.name, need).map_or_else(
        || ((algorithm.state)(need.entries()), Source::Formula),
        |bytes| (bytes, Source::Run),
    );
    let bytes = each.saturating_mul(need.keys);
    if need.memory.is_some_and(|most| bytes > most) {
        return Err(format!("takes {} on the server", in_bytes(bytes)));
    }
    Ok(Candidate {
        limiter: algorithm.name.into(),
        store: None,
        origin: "ours",
        row: Row::Machines,
        exact: is_exact,
        keeps_quota: is_exact,
        lock_free: true,
        figures: Figures {
            bytes: Some(bytes),
            bytes_source: Some(source),
            ..Figures::default()
        },
        class: class(algorithm.rule),
        is_slowed_by_cost: false,
    })
}

/// What the server took for a key, by the run of the bench `redis` beside this run, in proportion.
fn counted(folder: &Path, name: &str, need: &Need) -> Option<u64> {
    let mut reader = csv::Reader::from_path(folder.join("redis/redis-memory.csv")).ok()?;
    let name = name.strip_prefix("redis/")?;
    let rows = reader.records().filter_map(Result::ok);
    let rows = rows.filter(|row| row.get(0) == Some(name));
    let mut counted: Vec<(u64, u64)> = rows
        .filter_map(|row| Some((row.get(1)?.parse().ok()?, row.get(2)?.parse().ok()?)))
        .collect();
    counted.sort_unstable();
    let entries = need.entries();
    let above = counted.iter().find(|(limit, _)| *limit >= entries);
    let (limit, bytes) = *above.or(counted.last())?;
    let is_constant = counted.iter().all(|(_, same)| *same == bytes);
    Some(if is_constant || entries <= limit {
        bytes
    } else {
        bytes * entries.div_ceil(limit.max(1))
    })
}
