//! The page of a run's folder, and the region of figures in the project's README.

use anyhow::{Context, Result};
use windowpane_lab_ground::figures::{bytes, list, millions, percent, thousands, time};
use windowpane_lab_measure::state::{LIMIT, State};

use super::companions::Companion;
use super::compare;
use super::markdown::text::{code, table};
use super::run::Run;
use super::verdict::{on_threads, verdict};

const IN_A_BROWSER: &str = "[report.html](report.html) in a browser or its twin ";
const COMPARED: &str = "[COMPARE.md](COMPARE.md) compares it with another run, row by row.";

/// Returns the Markdown of a run without its charts, each a paragraph of its own, and without what it
/// says of the page and of the comparison: for a run that keeps none of them.
pub(super) fn without_page(text: &str) -> String {
    let is_kept = |part: &&str| !part.starts_with("![") && part.trim_end() != COMPARED;
    let parts: Vec<&str> = text.split("\n\n").filter(is_kept).collect();
    let text = parts.join("\n\n").replace(IN_A_BROWSER, "");
    text.trim_end().to_string() + "\n"
}

/// The page of a run's folder: the exact command first, and at the end the runs of other benches that
/// were published with it.
pub(super) fn of_run(run: &Run, beside: &[Companion]) -> String {
    let mut text = format!("```sh\n{}\n```\n\n", run.environment.command);
    text += &format!(
        "at revision {} on {}, {} cores, {}. Read {IN_A_BROWSER}[REPORT.md](REPORT.md); the verdict:\n\n",
        code(&run.environment.git_revision),
        run.environment.cpu,
        run.environment.cores,
        run.environment.began
    );
    for sentence in verdict(run) {
        text += &format!("- {sentence}\n");
    }
    if run.folder.join(compare::FILE).is_file() {
        text += &format!("\n{COMPARED}\n");
    }
    let links: Vec<String> = beside.iter().map(|companion| companion.link("")).collect();
    if !links.is_empty() {
        text += &format!("\nOther benches, at the same revision: {}.\n", list(&links));
    }
    text
}

const BEGIN: &str = "<!-- figures:begin -->";
const END: &str = "<!-- figures:end -->";

/// `text` with the region between the markers filled anew from a run whose folder is `place`, as
/// seen from the file.
///
/// # Errors
/// If the markers are not there, in this order.
pub(super) fn fill(text: &str, run: &Run, place: &str) -> Result<String> {
    let missing = || format!("no region between `{BEGIN}` and `{END}` to fill");
    let begin = text.find(BEGIN).with_context(missing)? + BEGIN.len();
    let end = begin + text[begin..].find(END).with_context(missing)?;
    Ok(format!(
        "{}\n{}{}",
        &text[..begin],
        figures(run, place),
        &text[end..]
    ))
}

/// The table of figures that a newcomer sees first, and where they come from.
fn figures(run: &Run, place: &str) -> String {
    format!(
        "\n{}\nMeasured on {}, {} cores. The report, with minimum and maximum, latency, accuracy by traffic, quotas and environment: \
         [{}/REPORT.md]({place}/REPORT.md).\n\n",
        glance(run),
        run.environment.cpu,
        run.environment.cores,
        place.trim_start_matches("../"),
    )
}

/// The table of [`glance_table`] and what it tells.
fn glance(run: &Run) -> String {
    glance_table(run) + &glance_note(run)
}

/// What the table of [`glance_table`] tells.
pub(super) fn glance_note(run: &Run) -> String {
    format!(
        "Median of {} rounds on one key, limit {}: time a decision with 1 thread, million decisions a second of all threads with more. \
         *Worst overshoot*: the most that any window held above the limit, on any traffic.\n",
        run.environment.rounds,
        thousands(LIMIT),
    )
}

/// One line a limiter: exact or not, how fast, how large, how wrong.
pub(super) fn glance_table(run: &Run) -> String {
    let threads: Vec<usize> = run
        .threads()
        .into_iter()
        .filter(|threads| !run.is_oversubscribed(*threads))
        .collect();
    let mut header: Vec<String> = ["limiter", "exact"].map(String::from).to_vec();
    for state in [State::Allowed, State::Denied] {
        let column = |threads: &usize| format!("{}, {}", state.word(), on_threads(*threads));
        header.extend(threads.iter().map(column));
    }
    header.extend(["one key, full", "worst overshoot"].map(String::from));
    let rows: Vec<Vec<String>> = run
        .limiters()
        .map(|who| {
            let name = &who.contestant;
            let mut row = vec![code(name), if who.exact { "yes" } else { "no" }.into()];
            for state in [State::Allowed, State::Denied] {
                row.extend(
                    threads
                        .iter()
                        .map(|&threads| cell(run, name, state, threads)),
                );
            }
            row.push(run.bytes(name, LIMIT, "full").map_or("—".into(), bytes));
            let worst = run.worst(name);
            row.push(worst.map_or("—".into(), |row| percent(row.worst_overshoot_share)));
            row
        })
        .collect();
    table(&header, &rows)
}

/// A cell of the table: time with one thread, millions a second with more.
fn cell(run: &Run, name: &str, state: State, threads: usize) -> String {
    match run.rate(name, state, threads) {
        None => "—".into(),
        Some(rate) if threads == 1 => time(1e9 / rate.median),
        Some(rate) => format!("{} M/s", millions(rate.median)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charts_and_page_are_taken_out_of_markdown() {
        assert_eq!(COMPARED.matches(compare::FILE).count(), 2);
        assert_eq!(IN_A_BROWSER.matches(super::super::PAGE_FILE).count(), 2);
        let text = format!(
            "# A\n\n![b](b.svg)\n\n![c](c.svg)\n\nData: d\n\nRead {IN_A_BROWSER}e\n\n- ![f](g)\n\n{COMPARED}\n"
        );
        let without = "# A\n\nData: d\n\nRead e\n\n- ![f](g)\n";
        assert_eq!(without_page(&text), without);
        assert_eq!(without_page(without), without);
    }

    #[test]
    fn without_its_markers_nothing_is_filled() {
        let run = Run::load(std::path::Path::new("/nowhere"));
        assert!(run.unwrap_err().to_string().contains("holds no run"));
        assert!("no markers here".find(BEGIN).is_none());
    }
}
