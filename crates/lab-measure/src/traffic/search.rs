//! The search for the input that overshoots most.

use std::fmt::Write as _;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use windowpane_core::{Cost, Nanos, Quota, format_nanos};

use super::Request;

/// How a search goes about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Search {
    /// How many inputs are tried.
    pub tries: u32,
    /// Bursts of an input.
    pub bursts: u32,
    /// Windows that an input spans.
    pub windows: u64,
}

/// A burst of an input: requests one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part {
    at: Nanos,
    count: u64,
    apart: Nanos,
}

/// An input of the search: bursts of one client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input(Vec<Part>);

impl Input {
    /// Its requests, in the order of their times.
    pub fn requests(&self) -> Vec<Request> {
        let times = self
            .0
            .iter()
            .flat_map(|part| (0..part.count).map(|nth| part.at + nth * part.apart));
        let mut requests: Vec<Request> = times
            .map(|at| Request {
                at,
                client: 0,
                cost: Cost::ONE,
            })
            .collect();
        requests.sort_by_key(|request| request.at);
        requests
    }
}

impl std::fmt::Display for Input {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut parts = self.0.clone();
        parts.sort_by_key(|part| part.at);
        let mut text = String::new();
        for part in parts {
            let then = if text.is_empty() { "" } else { "; " };
            let _ = write!(text, "{then}{} at {}", part.count, format_nanos(part.at));
            if part.count > 1 && part.apart > 0 {
                let _ = write!(text, " every {}", format_nanos(part.apart));
            }
        }
        f.write_str(&text)
    }
}

/// Climbs from random inputs to worse ones: the worst found and its score. `score` is the larger
/// the worse; the same seed tries the same first inputs for everyone.
///
/// # Errors
/// What `score` answers.
pub fn worst<S: PartialOrd, E>(
    search: Search,
    quota: Quota,
    seed: u64,
    mut score: impl FnMut(&Input) -> Result<S, E>,
) -> Result<(Input, S), E> {
    let mut random = StdRng::seed_from_u64(seed);
    let fresh = |random: &mut StdRng| {
        let part = |_| part(search, quota, random);
        Input((0..search.bursts).map(part).collect())
    };
    let mut here = fresh(&mut random);
    let mut here_scores = score(&here)?;
    let mut best: Option<(Input, S)> = None;
    // Climbs begin anew, so that one that leads nowhere is not all there is.
    let climb = (search.tries / 5).max(1);
    for nth in 1..search.tries {
        let starts = nth % climb == 0;
        let next = match starts {
            true => fresh(&mut random),
            false => changed(&here, search, quota, &mut random),
        };
        let scores = score(&next)?;
        // A climb's end is kept before the next begins; as good is a step, too.
        if starts {
            keep(
                &mut best,
                std::mem::replace(&mut here, next),
                std::mem::replace(&mut here_scores, scores),
            );
        } else if scores >= here_scores {
            (here, here_scores) = (next, scores);
        }
    }
    keep(&mut best, here, here_scores);
    Ok(best.expect("one was kept"))
}

fn keep<S: PartialOrd>(best: &mut Option<(Input, S)>, input: Input, scores: S) {
    if best.as_ref().is_none_or(|(_, known)| scores > *known) {
        *best = Some((input, scores));
    }
}

fn part(search: Search, quota: Quota, random: &mut StdRng) -> Part {
    let window = quota.window();
    let at = match random.random_range(0..3) {
        0 => random.random_range(0..search.windows * window),
        // Right at a boundary, and right before one: there counters forget.
        1 => random.random_range(0..search.windows) * window,
        _ => random.random_range(1..=search.windows) * window - 1,
    };
    Part {
        at,
        count: random.random_range(1..=quota.limit()),
        apart: match random.random_range(0..2) {
            0 => 0,
            _ => random.random_range(0..=window / quota.limit()),
        },
    }
}

/// The input with one burst drawn anew, moved, grown, shrunk or spread.
fn changed(input: &Input, search: Search, quota: Quota, random: &mut StdRng) -> Input {
    let mut input = input.clone();
    let nth = random.random_range(0..input.0.len());
    let window = quota.window();
    let part = &mut input.0[nth];
    match random.random_range(0..5) {
        0 => *part = self::part(search, quota, random),
        1 => {
            let step = window >> random.random_range(1..20);
            let last = search.windows * window - 1;
            part.at = match random.random_bool(0.5) {
                true => (part.at + step).min(last),
                false => part.at.saturating_sub(step),
            };
        }
        2 => {
            part.count =
                (part.count + random.random_range(1..=quota.limit())).min(2 * quota.limit())
        }
        3 => part.count = random.random_range(1..=part.count),
        _ => part.apart = window >> random.random_range(1..24),
    }
    input
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_search_finds_the_worst_of_a_plain_score_and_is_repeatable() {
        let search = Search {
            tries: 400,
            bursts: 3,
            windows: 2,
        };
        let quota: Quota = "10/1s".parse().unwrap();
        // The more requests the worse: the most is three bursts of twice the limit.
        let find = || {
            let score = |input: &Input| Ok::<_, ()>(input.requests().len());
            worst(search, quota, 3, score).unwrap()
        };
        let (input, count) = find();
        assert_eq!((input.requests().len(), count), (60, 60));
        assert_eq!(find().0, input);
    }
}
