//! One thread stopped in the middle of a decision: what the others see.

use windowpane_lab_ground::figures::{thousands, time};
use windowpane_lab_measure::rows::StalledRow;

use super::super::run::Run;
use super::super::verdict::code;
use super::text::{data, strings, table_of};

pub(super) fn stalled(run: &Run) -> String {
    let Some(first) = run.stalled.first() else {
        return String::new();
    };
    let mut rows: Vec<&StalledRow> = run.stalled.iter().collect();
    rows.sort_by(|a, b| (&a.state, a.max).cmp(&(&b.state, b.max)));
    let rows: Vec<Vec<String>> = rows
        .into_iter()
        .map(|row| {
            let mut cells = vec![code(&row.contestant), row.state.clone()];
            if row.cannot.is_empty() {
                let each = row.meanwhile.checked_div(row.stalls);
                cells.push(thousands(row.stalls));
                cells.push(each.map_or("—".into(), thousands));
                cells.extend([row.p50, row.p99, row.p99_9, row.max].map(|t| time(t as f64)));
            } else {
                cells.extend(strings(["cannot", "—", "—", "—", "—", "—"]));
            }
            cells
        })
        .collect();
    let header = strings([
        "limiter",
        "state",
        "stalls",
        "decisions meanwhile, a stall",
        "p50",
        "p99",
        "p99.9",
        "max",
    ]);
    format!(
        "## A stalled thread\n\nOne thread is stopped for {} in the middle of a decision, again and again, while it reads the clock: \
         with the lock held where a limiter reads the clock inside its lock, between reading and claim where there is no lock. \
         Who reads the clock before it locks is not caught in its lock by this, though a machine can stop it there, too. \
         Service times of {} other threads in a closed loop; they share the cores with it.\n\n{}{}",
        time(first.stall_ns as f64),
        first.threads,
        table_of(2, &header, &rows),
        data(&["stalled.csv"])
    )
}
