//! Who was measured, where, by which rules, and how to do it again.

use windowpane_lab_ground::figures::thousands;

use super::super::run::Run;
use super::super::verdict::code;
use super::text::{block, data, left_aligned, strings, words, yes};
use windowpane_lab_measure::folder::HISTOGRAMS;

pub(super) fn who(run: &Run) -> String {
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
    text += &data(&["contestants.csv"]);
    text += "The shared clock is the time-stamp counter. `clock-only` in the tables is no limiter: one reading of that clock, the floor.\n\n";
    text
}

pub(super) fn environment(run: &Run) -> String {
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
        (
            "two readings of the clock differ by",
            format!("{} ns", environment.clock_step_ns),
        ),
        ("frequency governor", environment.frequency_governor.clone()),
        (
            "busy with others at the start",
            format!("{} %", environment.busy_percent),
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
    .map(|(what, value)| vec![what.to_string(), words(&value)])
    .collect();
    format!(
        "## Environment\n\n{}{}",
        left_aligned(&strings(["what", "value"]), &rows),
        data(&["environment.json"])
    )
}

pub(super) const RULES: &str = "\
## Rules

- Throughput is decisions over the last worker's end less the first worker's start, by the workers' own clocks. Workers are spawned, pinned and warmed before a barrier.
- One virtual call makes 512 decisions in a loop compiled for the limiter; what a limiter answers is kept from the optimiser whole.
- All are on the same clock, with the same quota, on one key, cost 1, in the same state at the start, built anew for each measurement; each round runs all cells in a random order of its own.
- The state's share of allowed decisions is measured; a measurement whose share is not what its name says counts for nothing.
- Median, minimum and maximum over rounds, never a best-of. A median is a value that was measured: of an even number of them the lower of the two in the middle.

";

pub(super) fn reproduce(run: &Run) -> String {
    format!(
        "## Reproduce\n\n{}\
         at the revision above, in a clean work tree. The order of the rounds follows from the seed. \
         A row of the raw data is a measurement a round; round 0 in `latency.csv` is all rounds' histograms together, round 0 in `throughput.csv` the pairs before the first round. \
         `summary.csv` holds the medians, ratios and noise told here. `{HISTOGRAMS}` holds the histograms: an interval log of HdrHistogram in gzip, one line per cell.\n\n",
        block("sh", &run.environment.command)
    )
}
