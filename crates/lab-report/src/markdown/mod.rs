//! A run as Markdown.

mod about;
mod accuracy;
pub(super) mod attack;
mod before;
mod cannot_tell;
pub(super) mod keyed;
mod latency;
mod memory;
mod speed;
mod stalled;
pub(super) mod text;
mod two_counter;

use text::data;
use windowpane_lab_ground::latency::{ResponseTime, ServiceTime};
use windowpane_lab_measure::latency::LOADS;
use windowpane_lab_measure::rows::LatencyRow;

use super::readme::{glance_note, glance_table};
use super::run::Run;
use super::verdict::{Finding, findings};

/// The report. Its page in HTML is made of this text: section by section, each figure with the
/// paragraph of its data.
pub(super) fn report(run: &Run) -> String {
    let mut text = String::from("# Sliding-window rate limiters, measured\n\n");
    text += &verdict(run);
    text += &speed::throughput(run);
    text += &speed::target_table(run);
    text += &latency::latency::<ResponseTime>(run);
    text += &latency::latency::<ServiceTime>(run);
    text += &accuracy::accuracy(run);
    text += &two_counter::wrongly_denied(run);
    text += &memory::memory(run);
    text += &keyed::keyed(run);
    text += &stalled::stalled(run);
    text += &two_counter::published(run);
    text += &about::who(run);
    text += &about::environment(run);
    text += &speed::noise(run);
    text += &before::before(run);
    text += about::RULES;
    text += &about::reproduce(run);
    text += &cannot_tell::cannot_tell(run);
    text.trim_end().to_string() + "\n"
}

/// The verdict and the table that shows it.
fn verdict(run: &Run) -> String {
    format!(
        "## Verdict\n\n{}\n### At a glance\n\n{}{}{}\n{}",
        findings(run)
            .iter()
            .map(Finding::as_items)
            .collect::<String>(),
        glance_table(run),
        data(&["summary.csv", "memory.csv", "accuracy.csv"]),
        glance_note(run),
        "[Who](#who) says what stands behind each name, [what this run cannot tell](#what-this-run-cannot-tell) how far all this goes.\n\n",
    )
}

/// The percentiles of a row, in the order of their labels.
pub(super) fn percentiles(row: &LatencyRow) -> [u64; 6] {
    [row.p50, row.p90, row.p99, row.p99_9, row.p99_99, row.max]
}

/// The loads whose curves are drawn: the middle one.
pub(super) const CHARTED_LOAD: u32 = LOADS[1];
