//! Whether a cell has two speeds.
//!
//! The logarithms of the rates are cut in two where the classes are the most compact (Otsu's and
//! Jenks's criterion). They are two speeds if the medians of the classes are apart by at least
//! [`LEAST_RATIO`] and by [`LEAST_SEPARATION`] times the spread within the classes (Ashman's D, with
//! medians and deviations from them in place of means and variances), if each class has
//! [`LEAST_SHARE`] of the samples, and if the gap between the classes is [`LEAST_GAP`] times as wide as
//! any within the middle of a class.

/// The medians of two speeds differ by at least this ratio.
pub const LEAST_RATIO: f64 = 1.15;

/// The medians of two speeds differ by this many times the spread within the classes.
pub const LEAST_SEPARATION: f64 = 6.0;

/// The gap between two speeds is this many times the widest gap within the middle of a class.
pub const LEAST_GAP: f64 = 2.0;

/// Each speed has at least this share of the samples, and at least four of them.
pub const LEAST_SHARE: f64 = 0.15;

/// The fewest samples that can show two speeds.
pub const LEAST_SAMPLES: usize = 12;

/// Two speeds of one cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TwoModes {
    /// The median of the lower one.
    pub low: f64,
    /// The median of the higher one.
    pub high: f64,
    /// The share of samples at the lower one.
    pub share_low: f64,
}

/// Returns the two speeds of these rates, or `None` where one speed explains them.
pub fn modes(rates: &[f64]) -> Option<TwoModes> {
    let valid = rates.iter().copied().filter(|rate| *rate > 0.0);
    let mut values: Vec<f64> = valid.map(f64::ln).filter(|log| log.is_finite()).collect();
    values.sort_by(f64::total_cmp);
    let count = values.len();
    if count < LEAST_SAMPLES {
        return None;
    }
    let least = (count as f64 * LEAST_SHARE).ceil().max(4.0) as usize;
    let cut = (least..=count - least).max_by(|a, b| {
        let [a, b] = [a, b].map(|cut| between(&values, *cut));
        a.total_cmp(&b)
    })?;
    let (below, above) = values.split_at(cut);
    let (low, high) = (median(below), median(above));
    let spread = deviation(below).hypot(deviation(above)) / std::f64::consts::SQRT_2;
    let gap = above[0] - below[cut - 1];
    let is_two = high - low >= LEAST_RATIO.ln()
        && high - low >= LEAST_SEPARATION * spread
        && gap > LEAST_GAP * widest(below).max(widest(above));
    is_two.then(|| TwoModes {
        low: low.exp(),
        high: high.exp(),
        share_low: cut as f64 / count as f64,
    })
}

/// The variance between the classes of a cut, times a constant.
fn between(values: &[f64], cut: usize) -> f64 {
    let (below, above) = values.split_at(cut);
    let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
    let sizes = (below.len() * above.len()) as f64;
    sizes * (mean(above) - mean(below)).powi(2)
}

/// The median of ordered values.
fn median(values: &[f64]) -> f64 {
    (values[(values.len() - 1) / 2] + values[values.len() / 2]) / 2.0
}

/// The median deviation from the median, as a standard deviation of normal values.
fn deviation(values: &[f64]) -> f64 {
    let middle = median(values);
    let mut deviations: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
    deviations.sort_by(f64::total_cmp);
    1.4826 * median(&deviations)
}

/// The widest gap in the middle of a class: a tenth on each side, and at least one value, is left
/// out as a tail.
fn widest(values: &[f64]) -> f64 {
    let tail = values.len().div_ceil(10);
    let middle = values.get(tail..values.len() - tail).unwrap_or(&[]);
    let gaps = middle.windows(2).map(|pair| pair[1] - pair[0]);
    gaps.fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use rand::rngs::StdRng;
    use rand::{Rng, SeedableRng};

    use super::*;

    fn normal(random: &mut StdRng) -> f64 {
        let (a, b): (f64, f64) = (random.random_range(1e-12..1.0), random.random());
        (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
    }

    /// The share of 500 cells of 36 samples in which two speeds are found.
    fn found(of: impl Fn(&mut StdRng, usize) -> f64) -> f64 {
        let mut random = StdRng::seed_from_u64(7);
        let cells = 500;
        let cell = |random: &mut StdRng| -> Vec<f64> {
            (0..36).map(|nth| of(random, nth).exp()).collect()
        };
        let found = (0..cells).filter(|_| modes(&cell(&mut random)).is_some());
        found.count() as f64 / f64::from(cells)
    }

    #[test]
    fn one_speed_is_seldom_taken_for_two() {
        let normal_noise = found(|random, _| 0.2 * normal(random));
        let long_tail = found(|random, _| 0.2 * random.random_range(1e-9_f64..1.0).ln());
        let uniform = found(|random, _| random.random_range(0.0..0.5));
        let wild = found(|random, _| 0.1 * normal(random) / normal(random));
        let all = [normal_noise, long_tail, uniform, wild];
        assert!(all.iter().all(|share| *share <= 0.01), "{all:?}");
    }

    #[test]
    fn two_speeds_are_found_with_their_shares() {
        // A third of the samples at half the rate, and 3 % of noise.
        let third = |random: &mut StdRng, nth: usize| {
            let slow = if nth.is_multiple_of(3) { 0.5_f64 } else { 1.0 };
            slow.ln() + 0.03 * normal(random)
        };
        assert!(found(third) > 0.99, "{}", found(third));
        let mut random = StdRng::seed_from_u64(1);
        let rates: Vec<f64> = (0..36)
            .map(|nth| 48e6 * third(&mut random, nth).exp())
            .collect();
        let two = modes(&rates).unwrap();
        assert!((two.low / 24e6 - 1.0).abs() < 0.03 && (two.high / 48e6 - 1.0).abs() < 0.03);
        assert!((two.share_low - 1.0 / 3.0).abs() < 1e-9);
    }

    #[test]
    fn few_samples_or_one_outlier_are_not_two_speeds() {
        let mut rates = vec![10.0; 35];
        rates.push(1.0);
        assert_eq!(modes(&rates), None);
        assert_eq!(modes(&[1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0]), None);
        assert_eq!(modes(&[]), None);
        assert_eq!(modes(&[f64::NAN, 0.0, -1.0]), None);
    }
}
