//! How wrong the approximate limiters were.

use windowpane_lab_ground::figures::percent;
use windowpane_lab_measure::rows::AccuracyRow;

use super::{Finding, code};
use crate::markdown::text::words;
use crate::run::Run;

pub(super) fn wrong(run: &Run) -> Finding {
    let parts = run
        .limiters()
        .filter(|who| !who.exact)
        .filter_map(|who| how_wrong(run, &who.contestant))
        .collect();
    Finding {
        head: "**How wrong the approximate ones were** (shares: of traffic at one server, of at least 1,000 requests that no search made; the rest stands in the tables):"
            .into(),
        parts,
        between: "; ",
    }
}

fn how_wrong(run: &Run, name: &str) -> Option<String> {
    let worst = run.worst(name)?;
    let share = |count: u64, requests: u64| count as f64 / requests.max(1) as f64;
    let most = |wrong: fn(&AccuracyRow) -> u64| {
        run.accuracy
            .iter()
            .filter(|row| row.contestant == name && row.has_shares())
            .max_by(|a, b| share(wrong(a), a.requests).total_cmp(&share(wrong(b), b.requests)))
    };
    let (allows, denies) = (most(|row| row.false_allows)?, most(|row| row.false_denies)?);
    let overshoot = match worst.worst_overshoot {
        0 => "never let through more than the limit".to_string(),
        _ => format!(
            "let through up to {} above the limit in one window (*{}*)",
            percent(worst.worst_overshoot_share),
            words(&worst.traffic)
        ),
    };
    let of = |row: &AccuracyRow, count: u64| match count {
        0 => "none".to_string(),
        _ => format!(
            "up to {} (*{}*)",
            percent(share(count, row.requests)),
            words(&row.traffic)
        ),
    };
    Some(format!(
        "{} {overshoot}, wrongly allowed {} of the requests, wrongly denied {}",
        code(name),
        of(allows, allows.false_allows),
        of(denies, denies.false_denies)
    ))
}
