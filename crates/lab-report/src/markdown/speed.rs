//! Throughput, what was set out for, and noise.

use std::fmt::Write as _;

use windowpane_lab_ground::figures::{digits, millions, percent};
use windowpane_lab_measure::plan::REFERENCE;
use windowpane_lab_measure::state::State;

use super::super::charts;
use super::super::run::Run;
use super::super::targets::targets;
use super::super::verdict::{code, on_threads};
use super::text::{
    capital, count_for_nothing, data, image, items, spread, strings, table, words, yes,
};

/// The file of decisions a second, a row a round.
const THROUGHPUT: &str = "throughput.csv";
/// The file of medians, ratios and noise.
const SUMMARY: &str = "summary.csv";

pub(super) fn throughput(run: &Run) -> String {
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
        text += &data(&[THROUGHPUT]);
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
        text += &data(&[THROUGHPUT, SUMMARY]);
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

/// Contestants that cannot be measured somewhere, and measurements that do not count.
fn not_counted(run: &Run) -> String {
    let cannot = run.throughput.iter().filter(|row| !row.cannot.is_empty());
    let mut reasons: Vec<String> = cannot
        .map(|row| {
            format!(
                "{} cannot be measured in *{}*: {}",
                code(&row.contestant),
                row.state,
                words(&row.cannot)
            )
        })
        .collect();
    reasons.sort();
    reasons.dedup();
    let rows = run.throughput.iter();
    let rows = rows.filter(|row| row.round > 0 && row.cannot.is_empty());
    reasons.extend(count_for_nothing(rows.map(|row| row.share_ok)));
    items(reasons.into_iter().map(|reason| reason + "."))
}

pub(super) fn target_table(run: &Run) -> String {
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
        "## What the lock-free limiters set out for\n\n{}{}",
        table(&header, &rows),
        data(&[SUMMARY, THROUGHPUT])
    )
}

pub(super) fn noise(run: &Run) -> String {
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
        "## Noise\n\n{} against itself, before the rounds and in each of them: what nine of ten pairs do not exceed. \
         A difference between two limiters is told only if it is larger than this and the 95 % bootstrap interval of its median over the rounds excludes equality; otherwise \"no difference shown\".\n\n{}{}",
        code(REFERENCE),
        table(&header, &rows),
        data(&[SUMMARY, THROUGHPUT])
    )
}
