//! Which percentiles are told, and how they are labelled.

use hdrhistogram::Histogram;

/// The percentiles of every latency table, in nanoseconds. The maximum is told as the maximum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Percentiles {
    /// Half of the samples were at most this.
    pub p50: u64,
    /// 90 % were.
    pub p90: u64,
    /// 99 % were.
    pub p99: u64,
    /// 99.9 % were.
    pub p99_9: u64,
    /// 99.99 % were.
    pub p99_99: u64,
    /// All were.
    pub max: u64,
}

/// The labels, in the order of [`Percentiles::values`].
pub const LABELS: [&str; 6] = ["p50", "p90", "p99", "p99.9", "p99.99", "max"];

impl Percentiles {
    /// The percentiles of a histogram; zeros if it is empty.
    pub fn of(times: &Histogram<u64>) -> Percentiles {
        if times.is_empty() {
            return Percentiles::default();
        }
        // A histogram answers with the upper end of a bucket, which can lie above the maximum.
        let at = |quantile| times.value_at_quantile(quantile).min(times.max());
        Percentiles {
            p50: at(0.5),
            p90: at(0.9),
            p99: at(0.99),
            p99_9: at(0.999),
            p99_99: at(0.999_9),
            max: times.max(),
        }
    }

    /// The values, in the order of [`LABELS`].
    pub fn values(&self) -> [u64; 6] {
        [
            self.p50,
            self.p90,
            self.p99,
            self.p99_9,
            self.p99_99,
            self.max,
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_label_stands_for_its_share_of_the_samples() {
        let mut times = Histogram::new_with_bounds(1, 10_000_000, 5).unwrap();
        // 1, 2, … 100,000: the p-th percentile is p times 1,000.
        for value in 1..=100_000 {
            times.record(value).unwrap();
        }
        let told: Vec<(&str, u64)> = LABELS
            .into_iter()
            .zip(Percentiles::of(&times).values())
            .collect();
        assert_eq!(
            told,
            [
                ("p50", 50_000),
                ("p90", 90_000),
                ("p99", 99_000),
                ("p99.9", 99_900),
                ("p99.99", 99_990),
                ("max", 100_000)
            ]
        );
    }

    #[test]
    fn the_maximum_is_no_percentile() {
        let mut times = Histogram::new_with_bounds(1, 10_000_000, 3).unwrap();
        times.record_n(100, 999).unwrap();
        times.record(5_000_000).unwrap();
        let told = Percentiles::of(&times);
        assert_eq!(told.p99, 100);
        assert!(told.max >= 5_000_000);
        assert!(told.p99_99 >= 5_000_000);
    }

    #[test]
    fn nothing_recorded_is_told_as_zeros() {
        let times = Histogram::<u64>::new(3).unwrap();
        assert_eq!(Percentiles::of(&times), Percentiles::default());
    }
}
