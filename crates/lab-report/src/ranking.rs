//! Who is fastest, and where ours lose.

use windowpane_lab_ground::spread::{Difference, Spread, compare_paired, noise};
use windowpane_lab_measure::state::State;

use super::run::Run;

/// One cell's contestants, the fastest first.
#[derive(Clone, Debug)]
pub struct Ranking {
    /// What the decisions are.
    pub state: State,
    /// Worker threads.
    pub threads: usize,
    /// The noise of the cell: how far the reference was from itself.
    pub noise: f64,
    /// Name and rate, the highest median first.
    pub places: Vec<(String, Spread)>,
}

/// Where a rival is shown to be faster than one of ours.
#[derive(Clone, Debug, PartialEq)]
pub struct Loss {
    /// The rival.
    pub rival: String,
    /// Ours.
    pub ours: String,
    /// How many times as many decisions a second the rival makes.
    pub ratio: f64,
}

impl Run {
    /// The noise of a cell; where no pair was measured, so much that nothing is shown.
    pub fn noise(&self, state: State, threads: usize) -> f64 {
        noise(&self.pairs(state, threads)).unwrap_or(f64::INFINITY)
    }

    /// How the rates of two contestants in a cell compare.
    pub fn difference(&self, a: &str, b: &str, state: State, threads: usize) -> Option<Difference> {
        compare_paired(
            &self.rates(a, state, threads),
            &self.rates(b, state, threads),
            self.noise(state, threads),
        )
    }

    /// The ranking of a cell; without the floor.
    pub fn ranking(&self, state: State, threads: usize) -> Ranking {
        let place = |name: &String| Some((name.clone(), self.rate(name, state, threads)?));
        let names = self.limiters().map(|who| &who.contestant);
        let mut places: Vec<(String, Spread)> = names.filter_map(place).collect();
        places.sort_by(|(_, a), (_, b)| b.median.total_cmp(&a.median));
        Ranking {
            state,
            threads,
            noise: self.noise(state, threads),
            places,
        }
    }

    /// Those of a cell that satisfy `among` and are not shown to be slower than the fastest of them,
    /// the fastest first.
    pub fn fastest(
        &self,
        state: State,
        threads: usize,
        among: impl Fn(&str) -> bool,
    ) -> Vec<(String, Spread)> {
        let ranking = self.ranking(state, threads);
        let mut places = ranking.places.into_iter().filter(|(name, _)| among(name));
        let Some(first) = places.next() else {
            return Vec::new();
        };
        let level = |(name, _): &(String, Spread)| {
            let difference = self.difference(&first.0, name, state, threads);
            difference.is_some_and(|difference| !difference.is_larger())
        };
        let mut fastest: Vec<(String, Spread)> = places.filter(level).collect();
        fastest.insert(0, first);
        fastest
    }

    /// Whether a limiter is exact.
    pub fn is_exact(&self, name: &str) -> bool {
        self.contestant(name).is_some_and(|who| who.exact)
    }

    /// Where the fastest rival of a cell is shown to be faster than ours, for each of ours that is
    /// no baseline.
    pub fn losses(&self, state: State, threads: usize) -> Vec<Loss> {
        let ranking = self.ranking(state, threads);
        let is = |name: &str, origin: &str| {
            self.contestant(name)
                .is_some_and(|who| who.origin == origin)
        };
        let Some((rival, _)) = ranking.places.iter().find(|(name, _)| is(name, "rival")) else {
            return Vec::new();
        };
        let loss =
            |(ours, _): &(String, Spread)| match self.difference(rival, ours, state, threads)? {
                Difference::Shown(ratio) if ratio > 1.0 => Some(Loss {
                    rival: rival.clone(),
                    ours: ours.clone(),
                    ratio,
                }),
                _ => None,
            };
        ranking
            .places
            .iter()
            .filter(|(name, _)| is(name, "ours"))
            .filter_map(loss)
            .collect()
    }
}
