//! What a run cannot tell, by its own rows.

use std::collections::BTreeMap;

use windowpane_lab_ground::figures::{list, percent, thousands};
use windowpane_lab_ground::latency::{Latency, ResponseTime, ServiceTime};
use windowpane_lab_measure::definitions;
use windowpane_lab_measure::plan::{Mode, REFERENCE};
use windowpane_lab_measure::rows::LatencyRow;
use windowpane_lab_measure::state::{LIMIT, State};
use windowpane_lab_measure::trace;

use super::super::run::Run;
use super::super::verdict::{code, on_threads};
use super::keyed;
use super::text::{items, words};

/// Above this noise, "no difference shown" means little.
const WIDE: f64 = 0.25;

/// Of fewer decisions, less than ten are above p99.99.
const LEAST_FOR_TAIL: u64 = 100_000;

pub(super) fn cannot_tell(run: &Run) -> String {
    let told = [
        Some(machines(run)),
        Some(cores(run)),
        rounds(run),
        small_differences(run),
        thrown_away(run),
        not_measured(run),
        cannot(run),
        Some(costs_and_limits()),
        Some(traffic(run)),
        rare(run),
        Some("**Whether latency, memory and accuracy differ by chance.** Only differences of speed are held against the noise.".into()),
        dirty(run),
    ];
    format!(
        "## What this run cannot tell\n\n{}",
        items(told.into_iter().flatten())
    )
}

fn machines(run: &Run) -> String {
    let environment = &run.environment;
    let below = match environment.hypervisor.as_str() {
        "none" => "without a hypervisor".into(),
        "unknown" => "and whether there is a hypervisor below is not known".into(),
        name => format!(
            "a virtual machine ({}): what else its host did meanwhile is not seen",
            words(name)
        ),
    };
    let frequency = match environment.frequency_governor.as_str() {
        "unknown" => " How the cores' frequency was governed is not known.",
        _ => "",
    };
    format!(
        "**Other machines.** All was measured on one: {}, {} cores, {below}.{frequency} `cargo bench` tells of yours.",
        words(&environment.cpu),
        environment.cores
    )
}

fn cores(run: &Run) -> String {
    let over: Vec<String> = run
        .threads()
        .into_iter()
        .filter(|threads| run.is_oversubscribed(*threads))
        .map(|threads| threads.to_string())
        .collect();
    let most = run.environment.cores;
    match over.is_empty() {
        true => format!(
            "**More cores than {most}**, and more threads than were measured: {}.",
            list(
                &run.threads()
                    .iter()
                    .map(usize::to_string)
                    .collect::<Vec<_>>()
            )
        ),
        false => format!(
            "**More cores than {most}.** With {} threads there are more threads than cores: \
             that shows what a preempted thread costs, not how a limiter scales.",
            list(&over)
        ),
    }
}

fn rounds(run: &Run) -> Option<String> {
    let environment = &run.environment;
    (environment.rounds < environment.rounds_planned).then(|| {
        format!(
            "**What more rounds would.** {} of {} planned rounds are in it{}.",
            environment.rounds,
            environment.rounds_planned,
            match environment.partial.as_str() {
                "" => ": no more fitted into its time".to_string(),
                why => format!(": {}", words(why)),
            }
        )
    })
}

fn small_differences(run: &Run) -> Option<String> {
    let mut cells = 0;
    let mut wide = Vec::new();
    let mut without = 0;
    for state in State::ALL {
        for threads in run.threads() {
            cells += 1;
            match run.noise(state, threads) {
                noise if !noise.is_finite() => without += 1,
                noise if noise > WIDE => wide.push(format!(
                    "{} with {} ({})",
                    state.word(),
                    on_threads(threads),
                    percent(noise)
                )),
                _ => {}
            }
        }
    }
    let keyed = keyed::noises(run);
    let wide_keyed = keyed.iter().filter(|noise| **noise > WIDE).count();
    let mut parts = Vec::new();
    if !wide.is_empty() {
        parts.push(format!(
            "In {} of {cells} rows of the noise, {} against itself was more than {:.0} % apart: {}.",
            wide.len(),
            code(REFERENCE),
            WIDE * 100.0,
            list(&wide)
        ));
    }
    if wide_keyed > 0 {
        parts.push(format!(
            "Over many keys that was so in {wide_keyed} of {} tables.",
            keyed.len()
        ));
    }
    if !parts.is_empty() {
        parts.push(
            "There \"no difference shown\" means little: no smaller difference could be shown."
                .into(),
        );
    }
    if without > 0 {
        parts.push(format!(
            "In {without} of {cells} rows noise was not measured, so that no difference can be shown."
        ));
    }
    (!parts.is_empty()).then(|| format!("**Small differences.** {}", parts.join(" ")))
}

/// Measurements of one kind and state: how many, and of those how many count for nothing; in how
/// many cells, and in how many of these nothing is left.
#[derive(Default)]
struct Counted {
    rows: usize,
    thrown: usize,
    cells: BTreeMap<(String, usize, Option<u32>), bool>,
}

impl Counted {
    fn add(&mut self, who: &str, threads: usize, load: Option<u32>, counts: bool) {
        self.rows += 1;
        self.thrown += usize::from(!counts);
        *self
            .cells
            .entry((who.to_string(), threads, load))
            .or_default() |= counts;
    }
}

/// Who has no figure, and with how many measurements: what was measured and does not count.
fn thrown_away(run: &Run) -> Option<String> {
    let mut counted: BTreeMap<(&str, &str), Counted> = BTreeMap::new();
    let throughput = run.throughput.iter().filter(|row| row.cannot.is_empty());
    for row in throughput.filter(|row| row.round > 0) {
        let of = counted.entry(("throughput", &row.state)).or_default();
        of.add(&row.contestant, row.threads, None, row.share_ok);
    }
    let latency = run.latency.iter().filter(|row| row.cannot.is_empty());
    for row in latency.filter(|row| row.round > 0) {
        let of = counted.entry((&row.kind, &row.state)).or_default();
        of.add(&row.contestant, row.threads, row.load_percent, row.share_ok);
    }
    let parts: Vec<String> = counted
        .into_iter()
        .filter(|(_, of)| of.thrown > 0)
        .map(|((kind, state), of)| {
            let nothing_left = of.cells.values().filter(|counts| !**counts).count();
            let left = match nothing_left {
                0 => "each cell has a figure from the others".to_string(),
                _ => format!(
                    "nothing is left of {nothing_left} of {} cells",
                    of.cells.len()
                ),
            };
            format!(
                "{} of {} measurements of {kind}, *{state}* ({left})",
                of.thrown, of.rows
            )
        })
        .collect();
    (!parts.is_empty()).then(|| {
        format!(
            "**What was thrown away.** The share of allowed decisions was not what the state's name says in {}. \
             For *mixed* the pace of the clock is found from each limiter's full speed beforehand: where that changes, or the loop that is timed is slower, other than about half are allowed.",
            list(&parts)
        )
    })
}

fn not_measured(run: &Run) -> Option<String> {
    let mut missing = Vec::new();
    missing.extend(latencies::<ResponseTime>(run));
    missing.extend(latencies::<ServiceTime>(run));
    let in_run = |name: &str| run.keyed.iter().any(|row| row.workload == name);
    match run.keyed.is_empty() {
        true => missing.push("many keys".into()),
        false => missing.extend(
            definitions::keyed()
                .filter(|keyed| !in_run(&keyed.name))
                .map(|keyed| format!("*{}*", words(&keyed.name))),
        ),
    }
    if !run
        .keyed_memory
        .iter()
        .any(|row| row.keys == keyed::MOST_KEYS)
    {
        missing.push(format!("memory of {} keys", thousands(keyed::MOST_KEYS)));
    }
    if run.stalled.is_empty() {
        missing.push("a stalled thread".into());
    }
    let hint = match run.environment.mode == Mode::Full.word() {
        true => "",
        false => " `cargo bench -- --full` measures every cell that there is.",
    };
    (!missing.is_empty()).then(|| format!("**What was not measured:** {}.{hint}", list(&missing)))
}

/// States of which one kind of latency was not measured.
fn latencies<L: Latency>(run: &Run) -> Option<String> {
    let of = |state: &State| {
        let is = |row: &LatencyRow| row.kind == L::LABEL && row.state == state.word();
        run.latency.iter().any(is)
    };
    let missing: Vec<String> = State::ALL
        .into_iter()
        .filter(|state| !of(state))
        .map(|state| format!("*{}*", state.word()))
        .collect();
    (!missing.is_empty()).then(|| format!("{} of {} decisions", L::LABEL, list(&missing)))
}

fn cannot(run: &Run) -> Option<String> {
    let mut by_name: BTreeMap<&str, usize> = BTreeMap::new();
    for row in run.accuracy.iter().filter(|row| !row.cannot.is_empty()) {
        *by_name.entry(&row.contestant).or_default() += 1;
    }
    let all = run.traffics().len();
    let mut names: Vec<(&str, usize)> = by_name.into_iter().collect();
    names.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let told: Vec<String> = names
        .into_iter()
        .map(|(name, count)| format!("{} {count} of {all}", code(name)))
        .collect();
    (!told.is_empty()).then(|| {
        format!(
            "**How those do who cannot express a traffic:** {}; the reasons stand below the tables.",
            list(&told)
        )
    })
}

fn costs_and_limits() -> String {
    format!(
        "**Other costs and limits.** Speed is that of requests that cost 1 at a limit of {}; the time beside a traffic of costly requests, \
         tokens for example, is that of cost 1, too. Memory alone is told by limit.",
        thousands(LIMIT)
    )
}

fn traffic(run: &Run) -> String {
    let (recorded, made): (Vec<_>, Vec<_>) = run
        .traffics()
        .into_iter()
        .partition(|row| trace::is_recorded(&row.about));
    let recorded: Vec<String> = recorded
        .iter()
        .map(|row| format!("*{}*", words(&row.traffic)))
        .collect();
    match recorded.is_empty() {
        true => format!(
            "**Your traffic.** All {} kinds were made up, from seed {}; none was recorded. `{}` names yours.",
            made.len(),
            run.environment.seed,
            trace::VARIABLE
        ),
        false => format!(
            "**Your traffic.** Recorded: {}; {} further kinds were made up, from seed {}.",
            list(&recorded),
            made.len(),
            run.environment.seed
        ),
    }
}

fn rare(run: &Run) -> Option<String> {
    let rows = || run.latency.iter().filter(|row| row.round == 0);
    let few = rows().filter(|row| row.samples < LEAST_FOR_TAIL).count();
    let all = rows().count();
    (all > 0).then(|| {
        let counted = match few {
            0 => String::new(),
            _ => format!(
                " In {few} of {all} rows of latency p99.99 stands for fewer than ten decisions."
            ),
        };
        format!("**Rare events.** A maximum is one decision, and another run has another.{counted}")
    })
}

fn dirty(run: &Run) -> Option<String> {
    (run.environment.git_dirty == Some(true)).then(|| {
        "**What exactly was measured.** The work tree differed from the revision.".to_string()
    })
}
