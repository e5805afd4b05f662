//! A run as Markdown.

use std::fmt::Write as _;

use crate::measure::latency::{LABELS, LOADS, Latency, ResponseTime, ServiceTime};
use crate::measure::memory::{Fill, LIMITS};
use crate::measure::rows::{AccuracyRow, LatencyRow};
use crate::measure::state::State;

use super::charts;
use super::figures::{bytes, digits, millions, percent, thousands, time};
use super::run::Run;
use super::spread::Spread;
use super::targets::targets;
use super::verdict::{code, on_threads, verdict};

/// The report.
pub(super) fn report(run: &Run) -> String {
    let mut text = String::new();
    text += "# Sliding-window rate limiters, measured\n\n## Verdict\n\n";
    for sentence in verdict(run) {
        let _ = writeln!(text, "- {sentence}");
    }
    text += "\n";
    text += &who(run);
    text += &throughput(run);
    text += &target_table(run);
    text += &accuracy(run);
    text += &memory(run);
    text += &latency::<ResponseTime>(run);
    text += &latency::<ServiceTime>(run);
    text += &noise(run);
    text += &environment(run);
    text += RULES;
    text += &reproduce(run);
    text
}

/// A Markdown table.
pub(super) fn table(header: &[String], rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let mut text = line(header);
    // The first column is text, the others are figures.
    let mut rule = vec!["---".to_string()];
    rule.resize(header.len(), "---:".into());
    text += &line(&rule);
    rows.iter().for_each(|row| text += &line(row));
    text + "\n"
}

fn strings<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.map(String::from).to_vec()
}

fn image(title: &str, file: &str) -> String {
    format!("![{title}]({file})\n\n")
}

fn yes(is: bool) -> String {
    if is { "yes".into() } else { "no".into() }
}

fn who(run: &Run) -> String {
    let rows: Vec<Vec<String>> = run
        .limiters()
        .map(|who| {
            vec![
                code(&who.contestant),
                who.origin.clone(),
                yes(who.exact),
                who.about.clone(),
                who.clock.clone(),
                if who.cannot.is_empty() {
                    "—".into()
                } else {
                    who.cannot.clone()
                },
            ]
        })
        .collect();
    let header = strings(["limiter", "whose", "exact", "what", "clock", "cannot"]);
    let mut text = String::from("## Who\n\n");
    text += &left_aligned(&header, &rows);
    text += "The shared clock is the time-stamp counter. `clock-only` in the tables below is no limiter: one reading of that clock, the floor.\n\n";
    text
}

/// A table of words.
fn left_aligned(header: &[String], rows: &[Vec<String>]) -> String {
    table(header, rows).replacen("---:", "---", header.len())
}

fn spread(rate: Spread, write: impl Fn(f64) -> String) -> String {
    format!(
        "**{}** ({}–{})",
        write(rate.median),
        write(rate.min),
        write(rate.max)
    )
}

fn throughput(run: &Run) -> String {
    let mut text = format!(
        "## Throughput\n\nMillion decisions a second on one key, all threads together: **median** (minimum–maximum) of {} rounds. \
         Time a decision is given for one thread; with more there is no such time.\n\n",
        run.environment.rounds
    );
    let threads = run.threads();
    for state in State::ALL {
        let _ = write!(
            text,
            "### {}\n\nQuota: {}.\n\n",
            capital(state.word()),
            state.stated()
        );
        text += &image(
            &format!("Throughput by threads where all is {}", state.word()),
            &charts::throughput_file(state),
        );
        let mut header = strings(["limiter", "exact", "time, 1 thread"]);
        header.extend(
            threads
                .iter()
                .map(|&threads| match run.is_oversubscribed(threads) {
                    true => format!("{}, oversubscribed", on_threads(threads)),
                    false => on_threads(threads),
                }),
        );
        text += &table(&header, &throughput_rows(run, state, &threads));
    }
    text += &not_counted(run);
    text
}

fn throughput_rows(run: &Run, state: State, threads: &[usize]) -> Vec<Vec<String>> {
    let ranking = run.ranking(state, threads.first().copied().unwrap_or(1));
    let mut names: Vec<String> = ranking.places.into_iter().map(|(name, _)| name).collect();
    let others = run.contestants.iter().map(|who| &who.contestant);
    let missing: Vec<String> = others
        .filter(|name| !names.contains(name))
        .cloned()
        .collect();
    names.extend(missing);
    names
        .iter()
        .map(|name| {
            let one = run.rate(name, state, 1).map(|rate| rate.inverse(1e9));
            let exact =
                run.contestant(name)
                    .map_or(String::new(), |who| match who.origin.as_str() {
                        "floor" => "—".into(),
                        _ => yes(who.exact),
                    });
            let mut row = vec![code(name), exact];
            row.push(one.map_or("—".into(), |one| spread(one, digits) + " ns"));
            row.extend(threads.iter().map(|&threads| {
                run.rate(name, state, threads)
                    .map_or("—".into(), |rate| spread(rate, millions))
            }));
            row
        })
        .collect()
}

/// Measurements whose share of allowed decisions was not what their state says, and contestants
/// that cannot be measured somewhere.
fn not_counted(run: &Run) -> String {
    let cannot = run.throughput.iter().filter(|row| !row.cannot.is_empty());
    let mut reasons: Vec<String> = cannot
        .map(|row| {
            format!(
                "{} cannot be measured in *{}*: {}",
                code(&row.contestant),
                row.state,
                row.cannot
            )
        })
        .collect();
    reasons.sort();
    reasons.dedup();
    let off = run
        .throughput
        .iter()
        .filter(|row| !row.share_ok && row.cannot.is_empty());
    let off_latency = run
        .latency
        .iter()
        .filter(|row| !row.share_ok && row.cannot.is_empty());
    let count = off.count() + off_latency.count();
    if count > 0 {
        reasons.push(format!(
            "{count} measurements count for nothing, because their share of allowed decisions was not what their state's name says even at the third try; `share_ok` in the CSV is false for them"
        ));
    }
    reasons
        .into_iter()
        .map(|reason| format!("- {reason}.\n"))
        .collect::<String>()
        + "\n"
}

fn target_table(run: &Run) -> String {
    let rows: Vec<Vec<String>> = targets(run)
        .into_iter()
        .map(|target| {
            let bound = match target.at_most {
                true => format!("at most {}", target.bound),
                false => format!("at least {}", target.bound),
            };
            let met = match target.is_met() {
                true => "met",
                false => "**missed**",
            };
            let ratio = format!("{:.2}", target.ratio.median);
            let range = format!("{:.2}–{:.2}", target.ratio.min, target.ratio.max);
            vec![target.what, ratio, range, bound, met.into()]
        })
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    let header = strings([
        "ratio",
        "median of rounds",
        "minimum–maximum",
        "set out for",
        "result",
    ]);
    format!(
        "## What the lock-free limiters set out for\n\n{}",
        table(&header, &rows)
    )
}

fn accuracy(run: &Run) -> String {
    let mut text = String::from(
        "## Accuracy, beside speed\n\nEach decision is compared with the oracle's, which is fed what the limiter itself accepted. \
         *False allows* and *false denies* are shares of all requests; *overshoot* is the most that any window of any client held above the limit.\n\n",
    );
    text += &image("Worst overshoot beside speed", charts::ACCURACY_FILE);
    for traffic in run.traffics() {
        let _ = write!(
            text,
            "### {}\n\n{} requests of {} clients, {} for each.\n\n",
            capital(&traffic.traffic),
            thousands(traffic.requests),
            thousands(traffic.clients),
            code(&traffic.quota)
        );
        let rows: Vec<Vec<String>> = run
            .limiters()
            .map(|who| accuracy_row(run, &who.contestant, traffic))
            .collect();
        let header = strings([
            "limiter",
            "allowed",
            "false allows",
            "false denies",
            "worst overshoot",
            "time, allowed, 1 thread",
        ]);
        text += &table(&header, &rows);
    }
    text
}

fn accuracy_row(run: &Run, name: &str, traffic: &AccuracyRow) -> Vec<String> {
    let speed = run.rate(name, State::Allowed, 1);
    let speed = speed.map_or("—".into(), |rate| time(1e9 / rate.median));
    match run.accuracy_of(name, &traffic.traffic) {
        Some(row) => {
            let share = |count: u64| percent(count as f64 / row.requests.max(1) as f64);
            vec![
                code(name),
                thousands(row.allowed),
                share(row.false_allows),
                share(row.false_denies),
                percent(row.worst_overshoot_share),
                speed,
            ]
        }
        None => {
            let mut row = vec![code(name)];
            row.resize(5, "cannot".into());
            row.push(speed);
            row
        }
    }
}

fn memory(run: &Run) -> String {
    let mut text = String::from(
        "## Memory\n\nBytes that one limiter for one key takes, counted by the allocator, requests one nanosecond apart. \
         *At most* is what the limiter's own formula allows.\n\n",
    );
    text += &image("Memory of one key by limit, full", charts::MEMORY_FILE);
    let mut header = strings(["limiter", "formula"]);
    for limit in LIMITS {
        header.push(format!("{} empty / half / full", thousands(limit)));
        header.push("at most".into());
    }
    let rows: Vec<Vec<String>> = run
        .limiters()
        .map(|who| {
            let mut row = vec![code(&who.contestant), who.memory.clone()];
            for limit in LIMITS {
                let of = |fill: Fill| {
                    run.bytes(&who.contestant, limit, fill.word())
                        .map_or("—".into(), thousands)
                };
                row.push(Fill::ALL.map(of).join(" / "));
                let at_most = run
                    .memory
                    .iter()
                    .find(|row| row.contestant == who.contestant && row.limit == limit)
                    .and_then(|row| row.at_most);
                row.push(at_most.map_or("—".into(), bytes));
            }
            row
        })
        .collect();
    text + &table(&header, &rows)
}

fn latency<L: Latency>(run: &Run) -> String {
    let cells = run.latency_cells::<L>();
    if cells.is_empty() {
        return String::new();
    }
    let open = cells.iter().any(|(_, _, load)| load.is_some());
    let mut text = format!("## Latency: {}\n\n", L::LABEL);
    text += match open {
        true => {
            "Open loop: decisions come on a schedule at a share of the capacity of the instrumented loop, and each is timed from its \
             *intended* start, so that a stall counts for all who waited. Nothing is subtracted. Lateness is how long after the intended start a decision was begun.\n\n"
        }
        false => {
            "Closed loop: the next decision starts when the last has ended, so these are times of one decision and **not** response times. \
             Nothing is subtracted: `empty-pair` is two readings of the clock with nothing in between, `clock-only` one reading in between. \
             With more threads than cores a thread can be preempted inside a decision; the floor's rows show what that costs without any limiter.\n\n"
        }
    };
    for (state, threads, load) in cells {
        if !charts::is_charted::<L>(run, state, threads, load) {
            continue;
        }
        text += &image(
            &charts::latency_title::<L>(state, threads, load),
            &charts::latency_file::<L>(state, threads, load),
        );
    }
    for (state, threads, load) in run.latency_cells::<L>() {
        let oversubscribed = match run.is_oversubscribed(threads) {
            true => format!(" on {} cores: oversubscribed", run.environment.cores),
            false => String::new(),
        };
        let at = load.map_or(String::new(), |load| format!(", {load} % of capacity"));
        let _ = write!(
            text,
            "### {}, {}, {}{oversubscribed}{at}\n\n",
            capital(L::LABEL),
            state.word(),
            on_threads(threads)
        );
        text += &latency_table::<L>(run, state, threads, load);
    }
    text
}

fn latency_table<L: Latency>(run: &Run, state: State, threads: usize, load: Option<u32>) -> String {
    let mut header = strings(["limiter"]);
    header.extend(LABELS.map(String::from));
    header.push("samples".into());
    match load {
        Some(_) => header.extend(strings([
            "achieved ÷ intended",
            "lateness p99",
            "capacity, M/s",
        ])),
        None => header.push("M/s".into()),
    }
    let mut rows: Vec<&LatencyRow> = run
        .latency
        .iter()
        .filter(|row| {
            row.round == 0
                && row.kind == L::LABEL
                && row.state == state.word()
                && row.threads == threads
                && row.load_percent == load
        })
        .collect();
    rows.sort_by_key(|row| (row.p50, row.p99));
    let rows: Vec<Vec<String>> = rows
        .into_iter()
        .map(|row| {
            let mut cells = vec![code(&row.contestant)];
            cells.extend(percentiles(row).map(|nanos| time(nanos as f64)));
            cells.push(thousands(row.samples));
            match row.intended_per_second {
                Some(intended) => {
                    cells.push(format!("{:.2}", row.achieved_per_second / intended));
                    cells.push(row.late_p99.map_or("—".into(), |nanos| time(nanos as f64)));
                    cells.push(millions(row.capacity_per_second));
                }
                None => cells.push(millions(row.achieved_per_second)),
            }
            cells
        })
        .collect();
    table(&header, &rows)
}

/// The percentiles of a row, in the order of their labels.
pub(super) fn percentiles(row: &LatencyRow) -> [u64; 6] {
    [row.p50, row.p90, row.p99, row.p99_9, row.p99_99, row.max]
}

fn noise(run: &Run) -> String {
    let threads = run.threads();
    let mut header = strings(["state"]);
    header.extend(threads.iter().map(|&threads| on_threads(threads)));
    let rows: Vec<Vec<String>> = State::ALL
        .into_iter()
        .map(|state| {
            let mut row = vec![state.word().to_string()];
            row.extend(
                threads
                    .iter()
                    .map(|&threads| match run.noise(state, threads) {
                        noise if noise.is_finite() => percent(noise),
                        _ => "not measured".into(),
                    }),
            );
            row
        })
        .collect();
    format!(
        "## Noise\n\n{} against itself, before the rounds and in each of them: the largest difference of a pair. \
         A difference between two limiters is told only if it is larger than this and the 95 % bootstrap interval of its median over the rounds excludes equality; otherwise \"no difference shown\".\n\n{}",
        code(crate::measure::plan::REFERENCE),
        table(&header, &rows)
    )
}

fn environment(run: &Run) -> String {
    let environment = &run.environment;
    let dirty = match environment.git_dirty {
        Some(true) => " (the work tree differed from it)",
        Some(false) => " (the work tree was clean)",
        None => "",
    };
    let rows: Vec<Vec<String>> = [
        ("began", environment.began.clone()),
        ("took", format!("{} s", environment.seconds)),
        ("CPU", environment.cpu.clone()),
        ("cores", environment.cores.to_string()),
        (
            "memory",
            format!("{} MiB", thousands(environment.memory_bytes >> 20)),
        ),
        ("kernel", environment.kernel.clone()),
        ("hypervisor", environment.hypervisor.clone()),
        ("clock source", environment.clock_source.clone()),
        ("frequency governor", environment.frequency_governor.clone()),
        (
            "load average at the start",
            digits(environment.load_average),
        ),
        ("workers pinned", yes(environment.pinned)),
        ("rustc", environment.rustc.clone()),
        ("build", environment.flags.clone()),
        ("revision", format!("{}{dirty}", environment.git_revision)),
        ("Cargo.lock", environment.lock_file_hash.clone()),
        ("seed", environment.seed.to_string()),
        (
            "rounds",
            format!("{} of {}", environment.rounds, environment.rounds_planned),
        ),
    ]
    .into_iter()
    .map(|(what, value)| vec![what.to_string(), value])
    .collect();
    format!(
        "## Environment\n\n{}",
        left_aligned(&strings(["what", "value"]), &rows)
    )
}

const RULES: &str = "\
## Rules

- Throughput is decisions over the last worker's end less the first worker's start, by the workers' own clocks. Workers are spawned, pinned and warmed before a barrier.
- One virtual call makes 512 decisions in a loop compiled for the limiter; what a limiter answers is kept from the optimiser whole.
- All are on the same clock, with the same quota, on one key, cost 1, in the same state at the start, built anew for each measurement; each round runs all cells in a random order of its own.
- The state's share of allowed decisions is measured; a measurement whose share is not what its name says counts for nothing.
- Median, minimum and maximum over rounds, never a best-of. A median is a value that was measured.
- What this run cannot tell: other processors, more cores, many keys, other limits.

";

fn reproduce(run: &Run) -> String {
    format!(
        "## Reproduce\n\n```sh\n{}\n```\n\nRaw data beside this file: `throughput.csv`, `latency.csv`, `memory.csv`, `accuracy.csv`, `contestants.csv` (a row a measurement a round; round 0 in `latency.csv` is all rounds' histograms together, round 0 in `throughput.csv` the pairs before the first round), `summary.csv` (every median, ratio and noise told here), `histograms/` (HdrHistogram V2, compressed, and as `percentiles.csv`), `environment.json`. The order of the rounds follows from the seed.\n",
        run.environment.command
    )
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or(String::new(), |first| {
        first.to_uppercase().chain(letters).collect()
    })
}

/// The loads whose curves are drawn: the middle one.
pub(super) const CHARTED_LOAD: u32 = LOADS[1];
