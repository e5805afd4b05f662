//! What rounds say together, and whether two contestants differ.

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

/// Median, minimum and maximum over rounds. Never a best-of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The median: a value that was measured, the lower one in the middle if they are even.
    pub median: f64,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
    /// How many there are.
    pub rounds: usize,
}

impl Spread {
    /// The spread of these; `None` of nothing.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Spread> {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        Some(Spread {
            median: *values.get(values.len().checked_sub(1)? / 2)?,
            min: *values.first()?,
            max: *values.last()?,
            rounds: values.len(),
        })
    }

    /// The same of the values' inverse times `by`: nanoseconds a decision of decisions a second.
    pub fn inverse(self, by: f64) -> Spread {
        Spread {
            median: by / self.median,
            min: by / self.max,
            max: by / self.min,
            rounds: self.rounds,
        }
    }
}

/// The noise that pairs of one contestant against itself show: the deviation from equality that
/// nine of ten pairs do not exceed, 0.03 for 3 %; the largest, below ten pairs. `None` without
/// pairs.
pub fn noise(pairs: &[(f64, f64)]) -> Option<f64> {
    let deviation = |(one, again): &(f64, f64)| (one / again).max(again / one) - 1.0;
    let mut deviations: Vec<f64> = pairs.iter().map(deviation).collect();
    deviations.sort_by(f64::total_cmp);
    let nine_of_ten = (deviations.len() * 9).div_ceil(10).checked_sub(1)?;
    deviations.get(nine_of_ten).copied()
}

/// What a comparison shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Difference {
    /// The first is so many times the second; the ratio's 95 % interval and the noise exclude
    /// equality.
    Shown(f64),
    /// The ratio is this, but it could be noise.
    NotShown(f64),
}

impl Difference {
    /// The ratio, shown or not.
    pub fn ratio(self) -> f64 {
        match self {
            Difference::Shown(ratio) | Difference::NotShown(ratio) => ratio,
        }
    }

    /// Whether the first is shown to be larger.
    pub fn is_larger(self) -> bool {
        matches!(self, Difference::Shown(ratio) if ratio > 1.0)
    }

    /// Whether the first is shown to be smaller.
    pub fn is_smaller(self) -> bool {
        matches!(self, Difference::Shown(ratio) if ratio < 1.0)
    }
}

/// Of fewer rounds nothing is told: the bootstrap's interval of one value has no width.
pub const ROUNDS_THAT_TELL: usize = 3;

/// The ratio of two contestants' values in each round that both have.
pub fn by_round(a: &[(u32, f64)], b: &[(u32, f64)]) -> Vec<(u32, f64)> {
    let of_round = |round: u32| {
        b.iter()
            .find(|(other, _)| *other == round)
            .map(|(_, value)| *value)
    };
    a.iter()
        .filter_map(|(round, value)| Some((*round, value / of_round(*round)?)))
        .collect()
}

/// Resamplings of the bootstrap.
const RESAMPLES: usize = 1_000;

/// Compares two contestants of one run by the ratio of their rates in each round that both have.
/// The difference is shown if it is larger than `noise` and the bootstrap's 95 % interval of the
/// median ratio excludes equality. `None` without a common round.
pub fn compare_paired(a: &[(u32, f64)], b: &[(u32, f64)], noise: f64) -> Option<Difference> {
    let ratios: Vec<f64> = by_round(a, b).into_iter().map(|(_, ratio)| ratio).collect();
    let ratio = Spread::of(ratios.iter().copied())?.median;
    let resampled = |random: &mut StdRng| resample(&ratios, random);
    Some(judge(ratio, noise, ratios.len(), resampled))
}

/// The median of as many values drawn with replacement.
fn resample(values: &[f64], random: &mut StdRng) -> f64 {
    let drawn = (0..values.len()).map(|_| values[random.random_range(0..values.len())]);
    Spread::of(drawn).map_or(f64::NAN, |spread| spread.median)
}

fn judge(
    ratio: f64,
    noise: f64,
    rounds: usize,
    mut resampled: impl FnMut(&mut StdRng) -> f64,
) -> Difference {
    if rounds < ROUNDS_THAT_TELL {
        return Difference::NotShown(ratio);
    }
    // Always the same drawing: the same rows give the same report.
    let mut random = StdRng::seed_from_u64(0);
    let mut ratios: Vec<f64> = (0..RESAMPLES).map(|_| resampled(&mut random)).collect();
    ratios.sort_by(f64::total_cmp);
    let (low, high) = (
        ratios[RESAMPLES / 40],
        ratios[RESAMPLES - 1 - RESAMPLES / 40],
    );
    let significant = low > 1.0 || high < 1.0;
    if significant && ratio.max(1.0 / ratio) - 1.0 > noise {
        Difference::Shown(ratio)
    } else {
        Difference::NotShown(ratio)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_a_value_that_was_measured() {
        let spread = Spread::of([4.0, 1.0, 3.0, 2.0]).unwrap();
        assert_eq!(
            (spread.median, spread.min, spread.max, spread.rounds),
            (2.0, 1.0, 4.0, 4)
        );
        assert_eq!(Spread::of([]), None);
        assert_eq!(spread.inverse(12.0).max, 12.0);
    }

    #[test]
    fn noise_is_what_nine_of_ten_pairs_do_not_exceed_either_way() {
        let pairs = [(100.0, 100.0), (80.0, 100.0), (105.0, 100.0)];
        assert_eq!(noise(&pairs), Some(0.25));
        let twenty: Vec<(f64, f64)> = (1..=20).map(|n| (100.0 + f64::from(n), 100.0)).collect();
        assert!((noise(&twenty).unwrap() - 0.18).abs() < 1e-9);
        assert_eq!(noise(&[]), None);
    }

    fn rounds(rates: &[f64]) -> Vec<(u32, f64)> {
        (1..).zip(rates.iter().copied()).collect()
    }

    #[test]
    fn a_difference_is_shown_only_if_significant_and_above_the_noise() {
        let slow = rounds(&[100.0, 101.0, 99.0, 100.0, 102.0, 98.0, 100.0]);
        let fast = rounds(&[150.0, 151.0, 149.0, 152.0, 150.0, 148.0, 150.0]);
        let wild = rounds(&[60.0, 240.0, 90.0, 150.0, 130.0, 70.0, 200.0]);
        let paired = |a, b, noise| compare_paired(a, b, noise).unwrap();
        assert!(paired(&fast, &slow, 0.05).is_larger());
        assert!(paired(&slow, &fast, 0.05).is_smaller());
        assert_eq!(paired(&fast, &slow, 0.6), Difference::NotShown(1.5));
        assert!(matches!(
            paired(&wild, &slow, 0.05),
            Difference::NotShown(_)
        ));
        assert!(matches!(paired(&slow, &slow, 0.0), Difference::NotShown(_)));
        assert_eq!(compare_paired(&slow, &[], 0.0), None);
        // A single round, or two, tell nothing, however far they are apart.
        for few in [1, 2] {
            let told = paired(&fast[..few], &slow[..few], 0.05);
            assert!(matches!(told, Difference::NotShown(_)), "{told:?}");
        }
    }
}
