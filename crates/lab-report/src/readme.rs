//! The page of a run's folder, and the region of figures in the project's README.

use anyhow::{Context, Result};
use windowpane_lab_ground::figures::{list, thousands};
use windowpane_lab_measure::state::LIMIT;

use super::companions::Companion;
use super::compare;
use super::markdown::text::{block, code};
use super::report::{Cell, advice, glance, item, rows};
use super::run::Run;

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
    let mut text = block("sh", &run.environment.command);
    text += &format!(
        "at revision {} on {}, {} cores, {}. Read {IN_A_BROWSER}[REPORT.md](REPORT.md). In short:\n\n",
        code(&run.environment.git_revision),
        run.environment.cpu,
        run.environment.cores,
        run.environment.began
    );
    advice(run).iter().for_each(|one| text += &item(one));
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

/// `text` with the region between the markers filled from a run whose folder is `place`, as
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

/// The columns of the table that a page shows.
const COLUMNS: usize = 8;

/// The table of figures that a newcomer sees first, and where they come from.
fn figures(run: &Run, place: &str) -> String {
    let mut table = glance(run);
    // What the bound of each promises stands in the page's own words.
    let left_out = ["10,000 keys, allowed", "worst overshoot"];
    let is_kept: Vec<bool> = table
        .columns
        .iter()
        .map(|one| !left_out.contains(&one.title.as_str()))
        .collect();
    let kept = |cells: &mut dyn Iterator<Item = Cell>| -> Vec<Cell> {
        let cells = cells.zip(&is_kept).filter(|(_, kept)| **kept);
        cells.map(|(cell, _)| cell).take(COLUMNS).collect()
    };
    for row in &mut table.rows {
        row.cells = kept(&mut std::mem::take(&mut row.cells).into_iter());
    }
    let columns = table
        .columns
        .into_iter()
        .zip(&is_kept)
        .filter(|(_, kept)| **kept);
    table.columns = columns.map(|(column, _)| column).take(COLUMNS).collect();
    format!(
        "\n{}One key, limit {}. *Served*: what was served beside an exact log, over traffics. Measured on {}, {} cores; \
         intervals, keys, tails and accuracy are in the report: [{}/REPORT.md]({place}/REPORT.md).\n\n",
        rows(&table),
        thousands(LIMIT),
        run.environment.cpu,
        run.environment.cores,
        place.trim_start_matches("../"),
    )
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
