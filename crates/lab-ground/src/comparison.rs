//! Whether two contestants differ: ratios of rates, their intervals, and one of five outcomes.
//!
//! [`compare`] works on two contestants of one run, [`compare_runs`] on one contestant of two runs.
//! The estimate is that of Hodges and Lehmann on the logarithms of the rates; the interval inverts
//! Wilcoxon's rank test, and the spread between launches widens it. METHOD.md of the measuring crate
//! gives the reasons and the sources.

mod launches;
mod ranks;

use std::collections::BTreeMap;

pub use launches::FEWEST_LAUNCHES;

/// One round of one launch of the program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RoundId {
    /// The launch, from 1; 0 in runs of a single process.
    pub launch: u32,
    /// The round within the launch.
    pub round: u32,
}

/// The chance of an interval without the true ratio that all comparisons of a family share.
pub const ERROR: f64 = 0.05;

/// Rates within 5 % of each other are equal for a reader who chooses a limiter.
pub const EQUAL_WITHIN: f64 = 0.05;

/// The fewest rounds of a comparison: five cannot show a difference at 95 %, however large it is.
pub const MIN_ROUNDS: usize = 6;

/// The fewest rounds of each comparison in a family: below, no result of a rank test is rare enough.
pub fn rounds_needed(family: usize) -> usize {
    // Of n rounds, the rarest result of the signed-rank test has a chance of 2 / 2^n.
    let rarest = (family.max(1) as f64 / ERROR).log2();
    MIN_ROUNDS.max(1 + rarest.ceil() as usize)
}

/// What a comparison shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The first has the higher rate.
    Faster,
    /// The first has the lower rate.
    Slower,
    /// The rates are within [`EQUAL_WITHIN`] of each other.
    Equal,
    /// Neither a difference nor equality is shown.
    CannotTell,
    /// There are fewer rounds than the method needs.
    NotCompared,
}

/// Two series of rates, compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// The first over the second; not a number without a common round.
    pub ratio: f64,
    /// The lower end of the interval that decided: corrected for the family, and for `Equal` the
    /// 95 % interval of this comparison alone.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// Rounds that were compared.
    pub pairs: usize,
    /// Launches that they are from.
    pub launches: usize,
    /// The smallest ratio above 1 that this data would have shown.
    pub smallest: f64,
    /// What it shows.
    pub outcome: Outcome,
}

impl Comparison {
    /// Whether a difference is shown.
    pub fn differs(&self) -> bool {
        matches!(self.outcome, Outcome::Faster | Outcome::Slower)
    }

    /// How far the ratio is from 1 either way, as a logarithm.
    fn distance(&self) -> f64 {
        self.ratio.ln().abs()
    }

    fn not_compared(ratio: f64, pairs: usize, launches: usize) -> Comparison {
        Comparison {
            ratio,
            low: 0.0,
            high: f64::INFINITY,
            pairs,
            launches,
            smallest: f64::INFINITY,
            outcome: Outcome::NotCompared,
        }
    }
}

/// The rates of one contestant in one cell, and those of its A/A twin in the same rounds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// The contestant.
    pub one: Vec<(RoundId, f64)>,
    /// The same contestant, measured again in each round; empty where it was not.
    pub again: Vec<(RoundId, f64)>,
}

impl Series {
    /// The contestant against itself; `None` where it was not measured again.
    pub fn itself(&self) -> Option<Comparison> {
        (!self.again.is_empty()).then(|| compare(&self.one, &self.again, 1))
    }

    /// This contestant against `other`, one of `family` comparisons. Both samples of a round count.
    /// A difference that is not larger than that of either contestant to itself is not shown.
    pub fn against(&self, other: &Series, family: usize) -> Comparison {
        let of_itself = [self, other].map(|series| series.itself().map(|aa| aa.distance()));
        let floor = of_itself.into_iter().flatten().fold(0.0, f64::max);
        paired(&self.all(), &other.all(), family, floor)
    }

    /// Both sides together.
    pub fn all(&self) -> Vec<(RoundId, f64)> {
        [self.one.as_slice(), &self.again].concat()
    }
}

/// Compares two contestants of one run by the ratio of their rates in each common round, one of
/// `family` comparisons. Several rates of a round count as their geometric mean.
pub fn compare(a: &[(RoundId, f64)], b: &[(RoundId, f64)], family: usize) -> Comparison {
    paired(a, b, family, 0.0)
}

/// Compares one contestant in two runs, `a` over `b`. Rounds of two runs are not paired. `floor` is
/// the ratio above 1 that the two runs show where nothing changed, and 1 if that is unknown: only an
/// interval beyond it shows a difference.
pub fn compare_runs(
    a: &[(RoundId, f64)],
    b: &[(RoundId, f64)],
    family: usize,
    floor: f64,
) -> Comparison {
    let (a, b) = (logarithms(a), logarithms(b));
    let values = |of: &BTreeMap<RoundId, f64>| of.values().copied().collect::<Vec<f64>>();
    let (a_values, b_values) = (values(&a), values(&b));
    let spread = |alpha| {
        let (of_a, of_b) = (launches::spread(&a, alpha), launches::spread(&b, alpha));
        of_a.hypot(of_b)
    };
    let judged = Judged {
        pairs: a.len().min(b.len()),
        launches: launches::count(&a).min(launches::count(&b)),
        apart: are_apart(&a_values, &b_values),
        floor: 0.0,
        margin: floor.max(1.0).ln(),
    };
    judged.outcome(family, |alpha| {
        let interval = ranks::rank_sum(&a_values, &b_values, alpha)?;
        Some(interval.widened(spread(alpha)))
    })
}

fn paired(a: &[(RoundId, f64)], b: &[(RoundId, f64)], family: usize, floor: f64) -> Comparison {
    let (a, b) = (logarithms(a), logarithms(b));
    let common = |(round, of_a): (&RoundId, &f64)| Some((*round, (*of_a, *b.get(round)?)));
    let common: BTreeMap<RoundId, (f64, f64)> = a.iter().filter_map(common).collect();
    let (of_a, of_b): (Vec<f64>, Vec<f64>) = common.values().copied().unzip();
    let differences = common.iter().map(|(round, (a, b))| (*round, a - b));
    let differences: BTreeMap<RoundId, f64> = differences.collect();
    let walsh = ranks::Walsh::of(differences.values().copied());
    let judged = Judged {
        pairs: differences.len(),
        launches: launches::count(&differences),
        apart: are_apart(&of_a, &of_b),
        floor,
        margin: 0.0,
    };
    judged.outcome(family, |alpha| {
        let interval = walsh.interval(alpha)?;
        Some(interval.widened(launches::spread(&differences, alpha)))
    })
}

/// What is known of a comparison beside its interval.
struct Judged {
    pairs: usize,
    launches: usize,
    /// Whether no rate of one is within the range of the other's.
    apart: bool,
    /// Differences up to this logarithm are not shown.
    floor: f64,
    /// Nor are those whose interval is not beyond this logarithm.
    margin: f64,
}

impl Judged {
    /// The outcome, by the interval at a chance of error.
    fn outcome(self, family: usize, interval: impl Fn(f64) -> Option<Interval>) -> Comparison {
        let family = family.max(1);
        let Some(alone) = interval(ERROR) else {
            return Comparison::not_compared(f64::NAN, self.pairs, self.launches);
        };
        let corrected = interval(ERROR / family as f64);
        let (Some(corrected), true) = (corrected, self.pairs >= rounds_needed(family)) else {
            let ratio = alone.estimate.exp();
            return Comparison::not_compared(ratio, self.pairs, self.launches);
        };
        let beyond_floor = corrected.estimate.abs() > self.floor;
        let (outcome, decided) = if corrected.low > self.margin && beyond_floor {
            (Outcome::Faster, corrected)
        } else if corrected.high < -self.margin && beyond_floor {
            (Outcome::Slower, corrected)
        } else if !self.apart && alone.is_within(EQUAL_WITHIN) {
            (Outcome::Equal, alone)
        } else {
            (Outcome::CannotTell, corrected)
        };
        Comparison {
            ratio: decided.estimate.exp(),
            low: decided.low.exp(),
            high: decided.high.exp(),
            pairs: self.pairs,
            launches: self.launches,
            smallest: (corrected.half() + self.margin).max(self.floor).exp(),
            outcome,
        }
    }
}

/// An estimate of a logarithm and its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Interval {
    low: f64,
    estimate: f64,
    high: f64,
}

impl Interval {
    /// The larger one of its two sides.
    fn half(self) -> f64 {
        (self.estimate - self.low).max(self.high - self.estimate)
    }

    /// Wider by an independent half-width.
    fn widened(self, by: f64) -> Interval {
        Interval {
            low: self.estimate - (self.estimate - self.low).hypot(by),
            high: self.estimate + (self.high - self.estimate).hypot(by),
            ..self
        }
    }

    /// Whether all of it is within `share` of equality, either way.
    fn is_within(self, share: f64) -> bool {
        let most = (1.0 + share).ln();
        -most < self.low && self.high < most
    }
}

/// The mean logarithm of the rates of each round. What is not a rate is left out.
fn logarithms(rates: &[(RoundId, f64)]) -> BTreeMap<RoundId, f64> {
    let mut rounds: BTreeMap<RoundId, (f64, f64)> = BTreeMap::new();
    for (round, rate) in rates {
        if *rate > 0.0 && rate.is_finite() {
            let (sum, count) = rounds.entry(*round).or_default();
            *sum += rate.ln();
            *count += 1.0;
        }
    }
    let mean = |(round, (sum, count))| (round, sum / count);
    rounds.into_iter().map(mean).collect()
}

fn are_apart(a: &[f64], b: &[f64]) -> bool {
    let range = |of: &[f64]| {
        let low = of.iter().copied().fold(f64::INFINITY, f64::min);
        (low, of.iter().copied().fold(f64::NEG_INFINITY, f64::max))
    };
    let ((a_low, a_high), (b_low, b_high)) = (range(a), range(b));
    a_low > b_high || b_low > a_high
}

#[cfg(test)]
mod tests;
