//! The reasons of a ranking, in words.

use std::cmp::Ordering;

use windowpane_lab_ground::figures::{bytes, digits, percent, thousands, times};
use windowpane_lab_measure::state::State;
use windowpane_lab_report::{Run, on_threads};

use super::memory::{MOST_COUNTED, Source};
use super::need::Need;
use super::rank::{Place, class};

/// Returns why a place comes where it does.
pub(super) fn reason(
    run: &Run,
    need: &Need,
    threads: usize,
    before: &[Place],
    place: &Place,
    fastest: &Place,
) -> String {
    let accuracy = match (place.exact, place.keeps_quota) {
        (true, _) => "exact".to_string(),
        (false, true) => {
            let early = place
                .figures
                .worst_false_denies
                .filter(|share| *share > 0.0);
            let early = early.map_or(String::new(), |share| {
                format!(" (up to {} of a traffic's requests)", percent(share))
            });
            format!("never above the quota, but denies some early{early}")
        }
        (false, false) => match (
            &place.figures.worst_overshoot_on,
            place.figures.worst_overshoot,
        ) {
            (Some(on), Some(share)) => format!(
                "let through up to {} above the limit ({on})",
                percent(share)
            ),
            _ => "an estimate, though it was never seen above the limit".into(),
        },
    };
    let compared = match before.last() {
        None => "the first".to_string(),
        Some(last) => match class(need, last).cmp(&class(need, place)) {
            Ordering::Equal => beside(run, threads, last, place, fastest),
            _ if class(need, last).0 != class(need, place).0 => {
                "so it comes after all that are more accurate".into()
            }
            _ => "here a cost of k takes time that grows with k".into(),
        },
    };
    let compared = match (before.is_empty(), place.figures.allowed_per_second) {
        (_, None) => format!("its speed with {} was not measured", on_threads(threads)),
        (true, Some(_)) if place.limiter == fastest.limiter => {
            format!(
                "the fastest of {} with {}",
                among(need, place),
                on_threads(threads)
            )
        }
        (true, Some(_)) => format!(
            "no difference in speed is shown to `{}` with {}, {}",
            fastest.limiter,
            on_threads(threads),
            match fastest.figures.bytes {
                Some(_) => "and it takes less memory",
                None => "whose memory is not known",
            }
        ),
        (false, Some(_)) => compared,
    };
    format!("{accuracy}; {compared}")
}

/// Those with whom the first place competes.
fn among(need: &Need, first: &Place) -> &'static str {
    match class(need, first).0 {
        _ if need.says_accuracy() => "those that fit",
        0 => "the exact ones that fit",
        1 => "those that fit and keep the quota",
        _ => "those that fit",
    }
}

/// Two neighbours of one class.
fn beside(run: &Run, threads: usize, last: &Place, place: &Place, fastest: &Place) -> String {
    let difference = run.difference(&place.limiter, &last.limiter, State::Allowed, threads);
    match difference {
        Some(difference) if difference.is_smaller() => {
            format!(
                "makes {} as many decisions a second as `{}`",
                times(difference.ratio()),
                last.limiter
            )
        }
        Some(_) if place.figures.bytes.is_none() || last.figures.bytes.is_none() => {
            format!(
                "no difference in speed is shown to `{}`, and the memory of one of them is not known",
                last.limiter
            )
        }
        Some(_) if place.figures.bytes > last.figures.bytes => {
            format!(
                "no difference in speed is shown to `{}`, but it takes more memory",
                last.limiter
            )
        }
        Some(_) if place.limiter == fastest.limiter || place.figures.bytes < last.figures.bytes => {
            format!(
                "not shown to be slower than `{}`, but than one above it",
                last.limiter
            )
        }
        Some(_) => format!(
            "no difference to `{}` is shown in speed, nor is there one in memory",
            last.limiter
        ),
        None => format!("no common round with `{}`", last.limiter),
    }
}

/// `50,000 keys`.
pub(super) fn keys(keys: u64) -> String {
    match keys {
        1 => "1 key".into(),
        _ => format!("{} keys", thousands(keys)),
    }
}

/// Bytes with a unit: `413 MB`.
pub(super) fn in_bytes(count: u64) -> String {
    let units = [
        ("TB", 1_000_000_000_000),
        ("GB", 1_000_000_000),
        ("MB", 1_000_000),
        ("kB", 1_000),
    ];
    let unit = units.into_iter().find(|(_, size)| count >= *size);
    unit.map_or_else(
        || bytes(count),
        |(unit, size)| format!("{} {unit}", digits(count as f64 / size as f64)),
    )
}

/// How a figure of memory came about, where it does not stand in the run.
pub(super) fn how(source: Source) -> String {
    match source {
        Source::Run | Source::Unknown => String::new(),
        Source::Counted => " (counted now)".into(),
        Source::Estimated => format!(" (estimated from a limit of {})", thousands(MOST_COUNTED)),
    }
}
