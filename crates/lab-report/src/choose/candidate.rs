//! The limiters that hold a need, with their figures, and why the others do not.

use serde::Serialize;
use windowpane_core::{Cost, Unit};
use windowpane_lab_contestants::table::{Entry, TABLE};
use windowpane_lab_contestants::{Info, Origin, Rule};
use windowpane_lab_ground::clock::{BenchClock, LabClock, Pace};
use windowpane_lab_measure::state::State;

use super::memory::{Source, all_keys, in_bytes, one_key};
use super::need::{Accuracy, Need};
use crate::cells::Cell;
use crate::run::Run;

/// The row of WHICH.md, and of the report's recommendation, that leads to a limiter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Row {
    /// Several machines share the quota.
    Machines,
    /// A rate with bursts on top.
    Smooth,
    /// Costs, quotas of requests, or limits far above the use: the log.
    Log,
    /// The bound holds exactly.
    Exact,
    /// The bound holds in every window, and denials may come early.
    NeverAbove,
    /// An estimate is enough.
    Estimate,
}

/// The figures of a limiter for a need; absent where the run has none.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Figures {
    /// Nanoseconds of an allowed decision of one thread.
    pub ns: Option<f64>,
    /// Allowed decisions a second of all threads.
    pub per_second: Option<f64>,
    /// Bytes for all keys, with the map that finds them.
    pub bytes: Option<u64>,
    /// How that was found.
    pub bytes_source: Option<Source>,
    /// The most that any window of the run's traffic held above the limit, as a share of it.
    pub worst_overshoot: Option<f64>,
}

/// A limiter that holds the need.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Candidate {
    /// The limiter's name.
    pub limiter: String,
    /// The store that holds it for many keys, as the run names it.
    pub store: Option<String>,
    /// `ours` or `rival`.
    pub origin: &'static str,
    /// Its row in WHICH.md.
    pub row: Row,
    /// Whether it decides as the log of accepted requests would.
    pub exact: bool,
    /// Whether no window can ever hold more than the quota.
    pub keeps_quota: bool,
    /// Whether a suspended thread delays no other.
    pub lock_free: bool,
    /// Its figures.
    #[serde(flatten)]
    pub figures: Figures,
    /// How far it is from exact: 0 is exact.
    #[serde(skip)]
    pub(super) class: u8,
    /// Whether its time grows with the cost, and the need has costs.
    #[serde(skip)]
    pub(super) is_slowed_by_cost: bool,
}

impl Candidate {
    /// The name of its figures in the run: the store's, or the limiter's.
    pub fn name(&self) -> &str {
        self.store.as_deref().unwrap_or(&self.limiter)
    }
}

/// A limiter that does not hold the need.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RuledOut {
    /// Its name, or that of its store.
    pub limiter: String,
    /// Why: the first reason.
    pub reason: String,
}

/// Returns what holds the need, in the order of preference where figures decide nothing: ours before
/// rivals, the default first, then the order of the table.
pub(super) fn candidates(run: &Run, need: &Need) -> (Vec<Candidate>, Vec<RuledOut>) {
    let (mut fit, mut ruled_out) = (Vec::new(), Vec::new());
    for entry in TABLE.entries() {
        for store in stores(entry, need) {
            let name = store.unwrap_or(entry.info().name);
            match check(run, entry, store, need) {
                Ok(candidate) => fit.push(candidate),
                Err(reason) => ruled_out.push(RuledOut {
                    limiter: name.into(),
                    reason,
                }),
            }
        }
    }
    let default = |candidate: &Candidate| candidate.limiter != crate::DEFAULT;
    fit.sort_by_key(|one| (one.is_slowed_by_cost, one.origin != "ours", default(one)));
    (fit, ruled_out)
}

/// The stores of an entry that the need asks for; `None` is the limiter by itself.
fn stores(entry: &'static Entry, need: &Need) -> Vec<Option<&'static str>> {
    match need.keys {
        1 => vec![None],
        _ => entry
            .many_keys
            .iter()
            .map(|store| Some(store.info().name))
            .collect(),
    }
}

fn check(
    run: &Run,
    entry: &'static Entry,
    store: Option<&'static str>,
    need: &Need,
) -> Result<Candidate, String> {
    let info = entry.info();
    if let Some(mistake) = entry.exhibit {
        return Err(format!("shown as a mistake: {mistake}"));
    }
    if need.machines > 1 {
        let limit = need.machines.saturating_mul(need.quotas.largest_limit());
        return Err(format!(
            "one in each process allows {limit} on {} machines",
            need.machines
        ));
    }
    holds(entry, need)?;
    accuracy_of(info.rule, info.keeps_quota, need)?;
    // A map finds the key under a lock of its shard; the flat table has none.
    let lock_free = entry.lock_free && store.is_none_or(|store| store.starts_with("flat/"));
    if need.lock_free && !lock_free {
        return Err("has a lock".into());
    }
    let memory = match store {
        None => one_key(run, entry, need),
        Some(store) => all_keys(run, entry, store, need),
    };
    if let Some(most) = need.memory {
        match memory {
            None => return Err("its memory is not known".into()),
            Some((bytes, _)) if bytes > most => return Err(format!("takes {}", in_bytes(bytes))),
            _ => {}
        }
    }
    let name = store.unwrap_or(info.name);
    let rate = |threads: usize| {
        let speed = run.speed(name, cell(run, need, threads))?;
        Some(speed.rates.median)
    };
    Ok(Candidate {
        limiter: info.name.into(),
        store: store.map(Into::into),
        origin: info.origin.word(),
        row: row(&info),
        exact: info.is_exact(),
        keeps_quota: info.keeps_quota,
        lock_free,
        figures: Figures {
            ns: rate(1).map(|rate| 1e9 / rate),
            per_second: rate(need.threads),
            bytes: memory.map(|(bytes, _)| bytes),
            bytes_source: memory.map(|(_, source)| source),
            worst_overshoot: run.worst(info.name).map(|row| row.worst_overshoot_share),
        },
        class: class(info.rule),
        is_slowed_by_cost: need.cost > 1 && info.costs_take_long,
    })
}

/// The workload of many keys whose figures rank.
pub const WORKLOAD: &str = "10,000 keys, allowed";

/// The cell whose figures rank: that many threads, or the nearest fewer that were measured.
pub fn cell(run: &Run, need: &Need, threads: usize) -> Cell<'static> {
    let nearest = |measured: Vec<usize>| {
        let below = measured.iter().copied().filter(|one| *one <= threads).max();
        below.or(measured.iter().copied().min()).unwrap_or(1)
    };
    match need.keys {
        1 => Cell::OneKey(State::Allowed, nearest(run.threads())),
        _ => Cell::Keys(WORKLOAD, nearest(run.keyed_threads(WORKLOAD))),
    }
}

/// Whether the limiter can be built for the quotas and takes the costs.
fn holds(entry: &Entry, need: &Need) -> Result<(), String> {
    // On real time, as a user would: some let no other clock be set.
    let clock = LabClock::Bench(BenchClock::new(Pace::REAL));
    let info = entry.info();
    let largest = need.quotas.largest_limit();
    let built = entry.one_key.build_for(&need.quotas, clock);
    let built = built.map_err(|cannot| format!("cannot hold the quota: {}", cannot.0))?;
    if need.cost > 1 {
        let cost = Cost::new(need.cost.min(2)).ok_or("a cost of 0")?;
        if let Err(cannot) = built.decide_cost(cost) {
            return Err(format!("cannot take costs: {}", cannot.0));
        }
        let counts_requests = need
            .quotas
            .iter()
            .any(|quota| quota.unit() == Unit::Requests);
        if info.origin == Origin::Rival && counts_requests {
            return Err("cannot count requests that cost more than 1".into());
        }
    }
    if need.cost > largest {
        return Err(format!(
            "a cost of {} never fits a limit of {largest}",
            need.cost
        ));
    }
    Ok(())
}

/// Whether a rule is as accurate as the need asks.
pub(super) fn accuracy_of(rule: Rule, keeps_quota: bool, need: &Need) -> Result<(), String> {
    let is_exact = rule == Rule::Exact;
    let most_above = match rule {
        _ if keeps_quota => 0.0,
        Rule::TwoCounter | Rule::TokenBucket => {
            1.0 - 1.0 / need.quotas.largest_limit().max(1) as f64
        }
        Rule::FixedWindow => 1.0,
        Rule::Exact | Rule::OneSided | Rule::Other => f64::INFINITY,
    };
    match need.accuracy {
        Accuracy::Unsaid => Ok(()),
        Accuracy::Exact if is_exact => Ok(()),
        Accuracy::Exact => Err("approximate".into()),
        Accuracy::NeverAbove if keeps_quota => Ok(()),
        Accuracy::AtMost(most) if most_above <= most => Ok(()),
        Accuracy::NeverAbove | Accuracy::AtMost(_) if most_above.is_finite() => {
            Err("a window can hold up to twice the limit".into())
        }
        Accuracy::NeverAbove | Accuracy::AtMost(_) => Err("it has no bound on a window".into()),
        Accuracy::Smooth if rule == Rule::TokenBucket => Ok(()),
        Accuracy::Smooth => Err("what a burst took comes back all at once".into()),
    }
}

/// How far a rule is from exact: 0 is exact.
pub(super) fn class(rule: Rule) -> u8 {
    match rule {
        Rule::Exact => 0,
        Rule::OneSided => 1,
        Rule::TwoCounter => 2,
        Rule::TokenBucket => 3,
        Rule::FixedWindow => 4,
        Rule::Other => 5,
    }
}

fn row(info: &Info) -> Row {
    match info.rule {
        Rule::Exact if info.costs_take_long => Row::Exact,
        Rule::Exact => Row::Log,
        Rule::OneSided => Row::NeverAbove,
        Rule::TokenBucket => Row::Smooth,
        Rule::TwoCounter | Rule::FixedWindow | Rule::Other => Row::Estimate,
    }
}
