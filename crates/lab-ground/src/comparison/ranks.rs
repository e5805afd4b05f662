//! Intervals of Hodges and Lehmann: those that Wilcoxon's tests do not reject.

use statrs::distribution::{ContinuousCDF, Normal};

use super::Interval;

/// Up to this many values the chances are exact, above by the normal approximation with a
/// correction for continuity.
const EXACT_UP_TO: usize = 60;

/// The means of all pairs of values, each value with itself too, in order.
pub(super) struct Walsh {
    values: usize,
    means: Vec<f64>,
}

impl Walsh {
    pub(super) fn of(values: impl Iterator<Item = f64>) -> Walsh {
        let values: Vec<f64> = values.collect();
        let of_first = |(first, a): (usize, &f64)| {
            let a = *a;
            values[first..].iter().map(move |b| (a + b) / 2.0)
        };
        let mut means: Vec<f64> = values.iter().enumerate().flat_map(of_first).collect();
        means.sort_by(f64::total_cmp);
        Walsh {
            values: values.len(),
            means,
        }
    }

    /// The median of the means, and the interval that misses the true one with a chance of at most
    /// `alpha`; without bounds where so few values have none. `None` without a value.
    pub(super) fn interval(&self, alpha: f64) -> Option<Interval> {
        let n = self.values as f64;
        let variance = n * (n + 1.0) * (2.0 * n + 1.0) / 24.0;
        let rejected = match self.values <= EXACT_UP_TO {
            true => rejected(&signed_rank_chances(self.values), alpha),
            false => normal_rejected(self.means.len(), variance, alpha),
        };
        of_ordered(&self.means, rejected)
    }
}

/// The interval of the shift of `a` against `b`, as [`Walsh::interval`] for two samples without
/// pairs.
pub(super) fn rank_sum(a: &[f64], b: &[f64], alpha: f64) -> Option<Interval> {
    let differences = a.iter().flat_map(|a| b.iter().map(move |b| a - b));
    let mut differences: Vec<f64> = differences.collect();
    differences.sort_by(f64::total_cmp);
    let (n, m) = (a.len() as f64, b.len() as f64);
    let rejected = match a.len().max(b.len()) <= EXACT_UP_TO {
        true => rejected(&rank_sum_chances(a.len(), b.len()), alpha),
        false => normal_rejected(differences.len(), n * m * (n + m + 1.0) / 12.0, alpha),
    };
    of_ordered(&differences, rejected)
}

/// The median of ordered values, and the interval without the `rejected` outermost on each side.
fn of_ordered(values: &[f64], rejected: usize) -> Option<Interval> {
    let last = values.len().checked_sub(1)?;
    let estimate = (values[last / 2] + values[values.len() / 2]) / 2.0;
    let outer = rejected.checked_sub(1);
    Some(Interval {
        low: outer.map_or(f64::NEG_INFINITY, |nth| values[nth.min(last / 2)]),
        estimate,
        high: outer.map_or(f64::INFINITY, |nth| values[last - nth.min(last / 2)]),
    })
}

/// How many of the smallest statistics are rejected: together they have at most half of `alpha`.
fn rejected(chances: &[f64], alpha: f64) -> usize {
    let mut sum = 0.0;
    let is_rare = |chance: &&f64| {
        sum += **chance;
        sum <= alpha / 2.0
    };
    chances.iter().take_while(is_rare).count()
}

/// The same by the normal approximation, for a statistic of `0..=most` with this variance.
fn normal_rejected(most: usize, variance: f64, alpha: f64) -> usize {
    let normal = Normal::standard();
    let z = -normal.inverse_cdf(alpha / 2.0);
    let bound = most as f64 / 2.0 - z * variance.sqrt() - 0.5;
    (bound.floor() + 1.0).max(0.0) as usize
}

/// The chance of each signed-rank statistic of `n` values.
pub(super) fn signed_rank_chances(n: usize) -> Vec<f64> {
    let mut chances = vec![0.0; n * (n + 1) / 2 + 1];
    chances[0] = 1.0;
    for rank in 1..=n {
        for sum in (0..chances.len()).rev() {
            let with_rank = sum.checked_sub(rank).map_or(0.0, |sum| chances[sum]);
            chances[sum] = (chances[sum] + with_rank) / 2.0;
        }
    }
    chances
}

/// The chance of each rank-sum statistic of `n` values and `m` others: the coefficients of the
/// Gaussian binomial.
pub(super) fn rank_sum_chances(n: usize, m: usize) -> Vec<f64> {
    let mut ways = vec![0.0_f64; n * m + 1];
    ways[0] = 1.0;
    for rank in 1..=n {
        let (up, down) = (m + rank, rank);
        for sum in (up..ways.len()).rev() {
            ways[sum] -= ways[sum - up];
        }
        for sum in down..ways.len() {
            ways[sum] += ways[sum - down];
        }
        // Keeps the numbers small: n + m over n in all.
        let scale = rank as f64 / (m + rank) as f64;
        ways.iter_mut().for_each(|ways| *ways *= scale);
    }
    ways
}
