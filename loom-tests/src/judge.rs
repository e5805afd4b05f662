//! Which outcomes may be.

use std::collections::BTreeSet;
use std::fmt;

use windowpane_core::{Cost, Nanos};

use crate::run::Outcome;
use crate::script::Script;
use crate::subject::Counted;

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
/// orders; in the windows that are `counted` it also counts for itself.
pub(crate) fn broken(
    script: &Script,
    outcome: &Outcome,
    possible: &[Outcome],
    counted: Counted,
) -> Option<Broken> {
    // A reset gives permits back, so then the count would say nothing.
    let counts = counted != Counted::None && !script.resets();
    let too_many = counts.then(|| too_many(script, outcome, counted)).flatten();
    too_many.or_else(|| (!in_some_order(script, outcome, possible)).then_some(Broken::NoOrder))
}

/// Whether the answers to each key's calls are those of some sequential order. Keys are judged one
/// by one, as limiters apart would be: threads that ask for several may disagree about which was
/// charged first, as long as nothing else tells them.
fn in_some_order(script: &Script, outcome: &Outcome, possible: &[Outcome]) -> bool {
    let keys: BTreeSet<Option<u64>> = script.calls().map(|(_, call)| call.key()).collect();
    let agree = |key: Option<u64>, order: &Outcome| {
        let answers = outcome.iter().zip(order);
        let mut both = script.calls().zip(answers);
        both.all(|((_, call), (answer, ordered))| call.key() != key || answer == ordered)
    };
    keys.into_iter()
        .all(|key| possible.iter().any(|order| agree(key, order)))
}

/// The first window that holds more than its quota allows, by nothing but the recorded times and
/// the costs of what was allowed to each key.
pub(crate) fn too_many(script: &Script, outcome: &Outcome, counted: Counted) -> Option<Broken> {
    let charges: Vec<(Option<u64>, Nanos, Cost)> = script
        .calls()
        .zip(outcome)
        .filter_map(|((_, call), answer)| {
            Some((call.key(), answer.charged_at(call)?, call.cost()?))
        })
        .collect();
    script.quotas.iter().enumerate().find_map(|(index, quota)| {
        let window = quota.window();
        let used = |of: Option<u64>, until: Nanos| -> u64 {
            let inside = |at: Nanos| match counted {
                Counted::Aligned => at / window == until / window,
                _ => at <= until && until - at < window,
            };
            let charges = charges.iter();
            let charges = charges.filter(|(key, at, _)| *key == of && inside(*at));
            charges.map(|(_, _, cost)| quota.charge(*cost)).sum()
        };
        let full = charges
            .iter()
            .find(|(key, at, _)| used(*key, *at) > quota.limit());
        full.map(|(_, until, _)| Broken::TooMany {
            quota: index,
            until: *until,
        })
    })
}
