//! This run beside the one before it.

use windowpane_lab_ground::figures::{millions, percent, times};

use super::super::run::{BEFORE_FILE, Run};
use super::super::verdict::{code, on_threads};
use super::text::{data, strings, table_of, words};

/// Which rows differ from those of the run before by more than the noise.
pub(super) fn before(run: &Run) -> String {
    let Some(first) = run.before.first() else {
        return String::new();
    };
    let revision = match first.before_revision == run.environment.git_revision {
        true => "the same revision".to_string(),
        false => format!("revision {}", code(&first.before_revision)),
    };
    let shown: Vec<_> = run.before.iter().filter(|row| row.shown).collect();
    let mut text = format!(
        "## Beside the run before it\n\nThat of {}, {revision}: of {} rows {} differ by more than the noise.\n\n",
        words(&first.before_began),
        run.before.len(),
        shown.len()
    );
    if shown.is_empty() {
        return text;
    }
    let rows: Vec<Vec<String>> = shown
        .into_iter()
        .map(|row| {
            vec![
                code(&row.contestant),
                row.state.clone(),
                on_threads(row.threads),
                millions(row.before_per_second),
                millions(row.per_second),
                times(row.ratio),
                row.noise.map_or("not measured".into(), percent),
            ]
        })
        .collect();
    let header = strings([
        "limiter",
        "state",
        "threads",
        "before, M/s",
        "now, M/s",
        "now ÷ before",
        "noise",
    ]);
    text += &table_of(3, &header, &rows);
    text += &data(&[BEFORE_FILE]);
    text
}
