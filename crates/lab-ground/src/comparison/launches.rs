//! How much launches differ beyond their rounds: code and data lie elsewhere in each.

use std::collections::BTreeMap;

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

use super::{ERROR, RoundId, ranks};

/// The fewest launches that tell how much launches differ.
pub const FEWEST_LAUNCHES: usize = 3;

/// How many launches there are.
pub(super) fn count(values: &BTreeMap<RoundId, f64>) -> usize {
    by_launch(values).len()
}

fn by_launch(values: &BTreeMap<RoundId, f64>) -> BTreeMap<u32, Vec<f64>> {
    let mut launches: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for (round, value) in values {
        launches.entry(round.launch).or_default().push(*value);
    }
    launches
}

/// The half-width that launches add to an interval at a chance of error of `alpha`: the variance of
/// the launches' estimates less what rounds within a launch explain, by Student's t. 0 with fewer than
/// [`FEWEST_LAUNCHES`].
pub(super) fn spread(values: &BTreeMap<RoundId, f64>, alpha: f64) -> f64 {
    let launches = by_launch(values);
    if launches.len() < FEWEST_LAUNCHES {
        return 0.0;
    }
    let estimate = |of: &Vec<f64>| {
        let interval = ranks::Walsh::of(of.iter().copied()).interval(0.05);
        interval.map_or(f64::NAN, |interval| interval.estimate)
    };
    let estimates: Vec<f64> = launches.values().map(estimate).collect();
    let between = variance(&estimates);
    let (mut squares, mut freedom, mut inverse) = (0.0, 0.0, 0.0);
    for of in launches.values() {
        let less_one = (of.len() - 1) as f64;
        squares += variance(of) * less_one;
        freedom += less_one;
        inverse += 1.0 / of.len() as f64;
    }
    let count = launches.len() as f64;
    let within = match freedom > 0.0 {
        true => squares / freedom * inverse / count,
        false => 0.0,
    };
    let own = (between - within).max(0.0);
    multiplier(count, alpha) * (own / count).sqrt()
}

/// Student's t at [`ERROR`] for so few launches, and the normal distribution's growth from there to
/// `alpha`. Student's own growth would ask for hundreds of launches before any difference is shown.
fn multiplier(launches: f64, alpha: f64) -> f64 {
    let normal = |alpha: f64| Normal::standard().inverse_cdf(alpha / 2.0);
    let student = StudentsT::new(0.0, 1.0, launches - 1.0);
    let t = student.map_or(f64::NAN, |t| -t.inverse_cdf(ERROR / 2.0));
    t * normal(alpha) / normal(ERROR)
}

/// The sample variance; 0 of a single value.
fn variance(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    squares / (count - 1.0).max(1.0)
}
