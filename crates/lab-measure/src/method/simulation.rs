//! Runs drawn from the noise of recorded samples.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use windowpane_lab_ground::comparison::{RoundId, Series};

use super::counted::Counted;
use super::{FACTORS, family};
use crate::plan::Plan;
use crate::rows::{Side, ThroughputRow};

/// The rates of a contestant in a cell.
pub(super) fn series(rows: &[ThroughputRow], who: &str, state: &str, threads: usize) -> Series {
    let mut series = Series::default();
    let is_in = |row: &&ThroughputRow| {
        row.contestant == who && row.state == state && row.threads == threads && row.share_ok
    };
    for row in rows.iter().filter(is_in) {
        let at = RoundId {
            launch: row.launch,
            round: row.round,
        };
        match row.side {
            Side::One => series.one.push((at, row.per_second)),
            Side::Again => series.again.push((at, row.per_second)),
        }
    }
    series
}

/// Whether no rate of one is within the range of the other's.
pub(super) fn apart(a: &Series, b: &Series) -> bool {
    let range = |series: &Series| {
        let all = series.all();
        let rates = || all.iter().map(|(_, rate)| *rate);
        let low = rates().fold(f64::INFINITY, f64::min);
        (low, rates().fold(0.0, f64::max))
    };
    let ((a_low, a_high), (b_low, b_high)) = (range(a), range(b));
    a_low > b_high || b_low > a_high
}

/// One contestant in one cell, as it was recorded.
#[derive(Clone, Debug)]
struct Source {
    /// The logarithm of the median rate.
    middle: f64,
    /// Deviations from it, by launch.
    launches: Vec<Vec<f64>>,
}

impl Source {
    fn of(series: &Series) -> Option<Source> {
        let mut launches: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for (at, rate) in series.all() {
            launches.entry(at.launch).or_default().push(rate.ln());
        }
        let mut all: Vec<f64> = launches.values().flatten().copied().collect();
        all.sort_by(f64::total_cmp);
        let middle = *all.get(all.len() / 2)?;
        let deviations = |of: Vec<f64>| of.into_iter().map(|log| log - middle).collect();
        Some(Source {
            middle,
            launches: launches.into_values().map(deviations).collect(),
        })
    }

    /// A series of a run of that size, slower by a factor.
    fn draw(&self, size: &Plan, middle: f64, factor: f64, random: &mut StdRng) -> Series {
        let mut series = Series::default();
        for launch in 1..=size.launches {
            // Launches differ, and keep what is theirs for all their rounds.
            let Some(deviations) = self.launches.choose(random) else {
                break;
            };
            for round in 1..=size.rounds {
                let at = RoundId { launch, round };
                let mut sample = || {
                    let deviation = deviations[random.random_range(0..deviations.len())];
                    (at, (middle + deviation).exp() / factor)
                };
                series.one.push(sample());
                series.again.push(sample());
            }
        }
        series
    }
}

/// The recorded samples of a run, by cell.
pub(super) struct Recorded {
    cells: BTreeMap<(String, usize), Vec<Source>>,
}

impl Recorded {
    /// Those of a file.
    ///
    /// # Errors
    /// If it cannot be read, or holds no samples.
    pub(super) fn read(file: &Path) -> Result<Recorded> {
        let read = || -> Result<Vec<ThroughputRow>> {
            let mut reader = csv::Reader::from_path(file)?;
            Ok(reader.deserialize().collect::<Result<_, _>>()?)
        };
        let rows = read().with_context(|| format!("cannot read {}", file.display()))?;
        let recorded = Recorded::of(&rows);
        let empty = recorded.cells.values().all(Vec::is_empty);
        ensure!(!empty, "{} holds no samples", file.display());
        Ok(recorded)
    }

    /// Those of rows. Older runs have pairs of round 0 before the rounds: the machine was cold.
    pub(super) fn of(rows: &[ThroughputRow]) -> Recorded {
        let rows: Vec<ThroughputRow> = rows.iter().filter(|row| row.round > 0).cloned().collect();
        let mut names: BTreeMap<(String, usize), Vec<&str>> = BTreeMap::new();
        for row in rows.iter().filter(|row| row.share_ok) {
            let names = names.entry((row.state.clone(), row.threads)).or_default();
            if !names.contains(&row.contestant.as_str()) {
                names.push(&row.contestant);
            }
        }
        let sources = |((state, threads), names): ((String, usize), Vec<&str>)| {
            let of = |who: &&str| Source::of(&series(&rows, who, &state, threads));
            let sources = names.iter().filter_map(of).collect();
            ((state, threads), sources)
        };
        Recorded {
            cells: names.into_iter().map(sources).collect(),
        }
    }
}

/// Draws runs of that size: of each cell and difference `draws`, and of pairs as they were recorded
/// as many.
pub(super) fn outcomes(recorded: &Recorded, size: &Plan, draws: u32) -> Counted {
    let mut random = StdRng::seed_from_u64(1);
    let mut counted = Counted::default();
    let most = recorded.cells.values().map(Vec::len).max().unwrap_or(0);
    let family = family(most, recorded.cells.len());
    for ((_, threads), sources) in &recorded.cells {
        for factor in FACTORS {
            for _ in 0..draws {
                // A contestant and the same made slower: their noise is of one kind, so that the
                // factor is all that differs.
                let Some(source) = sources.choose(&mut random) else {
                    continue;
                };
                let slower = source.draw(size, 0.0, factor, &mut random);
                let told = slower.against(&source.draw(size, 0.0, 1.0, &mut random), family);
                counted.at(*threads, factor).add(&told, factor);
            }
        }
        for _ in 0..draws {
            let pair: Vec<&Source> = sources.choose_multiple(&mut random, 2).collect();
            let [a, b] = pair[..] else { continue };
            let drawn = [a, b].map(|source| source.draw(size, source.middle, 1.0, &mut random));
            if apart(&drawn[0], &drawn[1]) {
                counted
                    .apart
                    .add_different(&drawn[0].against(&drawn[1], family));
            }
        }
    }
    counted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Mode;

    fn row(who: &str, launch: u32, round: u32, per_second: f64) -> ThroughputRow {
        ThroughputRow {
            launch,
            round,
            contestant: who.into(),
            state: "allowed".into(),
            threads: 1,
            per_second,
            share_ok: true,
            ..ThroughputRow::default()
        }
    }

    /// Samples of two contestants whose noise is this large.
    fn rows(noise: f64) -> Vec<ThroughputRow> {
        let mut random = StdRng::seed_from_u64(3);
        let mut rows = Vec::new();
        for (who, rate) in [("slow", 1e6), ("fast", 2e6)] {
            for round in 1..=40 {
                let rate = rate * (1.0 + noise * random.random_range(-1.0..1.0));
                rows.push(row(who, 1 + round / 10, round, rate));
            }
        }
        rows
    }

    #[test]
    fn little_noise_keeps_what_is_required_and_much_does_not() {
        let size = Plan::new(Mode::Default, 1);
        let little = outcomes(&Recorded::of(&rows(0.05)), &size, 60);
        assert_eq!(little.misses(), [] as [&str; 0], "{little}");
        let much = outcomes(&Recorded::of(&rows(0.9)), &size, 60);
        let misses = much.misses().join("; ");
        assert!(misses.contains("10 % with one thread"), "{misses}\n{much}");
        assert!(!misses.contains("0 %: a difference"), "{misses}\n{much}");
    }

    #[test]
    fn samples_before_the_rounds_or_of_another_share_are_no_noise() {
        let mut all = rows(0.05);
        all.push(row("slow", 0, 0, 1.0));
        all.push(ThroughputRow {
            share_ok: false,
            ..row("slow", 1, 99, 1.0)
        });
        let recorded = Recorded::of(&all);
        let sources = &recorded.cells[&("allowed".to_string(), 1)];
        let widest = sources.iter().flat_map(|source| source.launches.concat());
        assert!(widest.fold(0.0, |most: f64, x| most.max(x.abs())) < 0.2);
        assert!(Recorded::read(Path::new("nowhere.csv")).is_err());
    }
}
