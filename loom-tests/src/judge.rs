//! Which outcomes may be.

use std::fmt;

use windowpane_core::{Cost, Nanos};

use crate::run::Outcome;
use crate::script::Script;

/// A rule that an outcome breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Broken {
    /// More permits than the limit were recorded inside one window.
    TooMany { quota: usize, until: Nanos },
    /// The calls, made one after another in whatever order, never answer so.
    NoOrder,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Broken::TooMany { quota, until } => write!(
                f,
                "too many permits in the window of quota {} that ends at {until}",
                quota + 1
            ),
            Broken::NoOrder => f.write_str("no order of the calls, one after another, answers so"),
        }
    }
}

/// The first rule that `outcome` breaks, if any. `possible` are the outcomes of all sequential
/// orders; in an `exact` limiter's windows it also counts for itself.
pub(crate) fn broken(
    script: &Script,
    outcome: &Outcome,
    possible: &[Outcome],
    exact: bool,
) -> Option<Broken> {
    // A reset gives permits back, so then the count would say nothing.
    let counts = exact && !script.resets();
    let too_many = counts.then(|| too_many(script, outcome)).flatten();
    too_many.or_else(|| (!possible.contains(outcome)).then_some(Broken::NoOrder))
}

/// The first window that holds more than its quota allows, by nothing but the recorded times and
/// the costs of what was allowed.
fn too_many(script: &Script, outcome: &Outcome) -> Option<Broken> {
    let charges: Vec<(Nanos, Cost)> = script
        .calls()
        .zip(outcome)
        .filter_map(|((_, call), answer)| Some((answer.charged_at(call)?, call.cost()?)))
        .collect();
    script.quotas.iter().enumerate().find_map(|(index, quota)| {
        let used = |until: Nanos| -> u64 {
            let inside = |at: Nanos| at <= until && until - at < quota.window();
            let charges = charges.iter().filter(|(at, _)| inside(*at));
            charges.map(|(_, cost)| quota.charge(*cost)).sum()
        };
        let full = charges.iter().find(|(at, _)| used(*at) > quota.limit());
        full.map(|(until, _)| Broken::TooMany {
            quota: index,
            until: *until,
        })
    })
}
