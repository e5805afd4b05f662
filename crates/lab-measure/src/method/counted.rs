//! How often each outcome came, and what is required of that.

use std::collections::BTreeMap;
use std::fmt;

use windowpane_lab_ground::comparison::{Comparison, Outcome};

/// Outcomes of comparisons whose truth is known.
#[derive(Clone, Debug, Default)]
pub(super) struct Counted {
    /// By threads, and by the factor of time in thousandths.
    by: BTreeMap<(usize, u32), Outcomes>,
    /// Of pairs whose ranges do not touch.
    pub(super) apart: Outcomes,
    /// Cells with two speeds, and how many of them were found.
    pub(super) two_speeds: (u32, u32),
}

/// How often each outcome came.
#[derive(Clone, Debug, Default)]
pub(super) struct Outcomes {
    shown: u32,
    wrong: u32,
    equal: u32,
    cannot_tell: u32,
    not_compared: u32,
    smallest: Vec<f64>,
}

impl Outcomes {
    /// Adds the comparison of what is slower by `factor` with what is not.
    pub(super) fn add(&mut self, told: &Comparison, factor: f64) {
        match told.outcome {
            Outcome::Slower if factor > 1.0 => self.shown += 1,
            Outcome::Slower | Outcome::Faster => self.wrong += 1,
            Outcome::Equal => self.equal += 1,
            Outcome::CannotTell => self.cannot_tell += 1,
            Outcome::NotCompared => self.not_compared += 1,
        }
        self.smallest.push(told.smallest);
    }

    /// Adds the comparison of two that differ, whichever way.
    pub(super) fn add_different(&mut self, told: &Comparison) {
        match told.outcome {
            Outcome::Slower | Outcome::Faster => self.shown += 1,
            _ => self.add(told, 1.0),
        }
    }

    fn all(&self) -> u32 {
        self.shown + self.wrong + self.equal + self.cannot_tell + self.not_compared
    }

    fn share(&self, of: u32) -> f64 {
        f64::from(of) / f64::from(self.all().max(1))
    }

    fn median_smallest(&self) -> f64 {
        let mut smallest = self.smallest.clone();
        smallest.sort_by(f64::total_cmp);
        smallest
            .get(smallest.len() / 2)
            .copied()
            .unwrap_or(f64::NAN)
    }
}

impl Counted {
    /// The outcomes in cells of these threads at a factor of time.
    pub(super) fn at(&mut self, threads: usize, factor: f64) -> &mut Outcomes {
        let thousandths = (factor * 1_000.0).round() as u32;
        self.by.entry((threads, thousandths)).or_default()
    }

    fn over(&self, factor: f64, is_in: impl Fn(usize) -> bool) -> (u32, u32, u32) {
        let thousandths = (factor * 1_000.0).round() as u32;
        let cells = self.by.iter();
        let cells = cells.filter(|((threads, at), _)| *at == thousandths && is_in(*threads));
        cells.fold((0, 0, 0), |(shown, wrong, all), (_, outcomes)| {
            (
                shown + outcomes.shown,
                wrong + outcomes.wrong,
                all + outcomes.all(),
            )
        })
    }

    /// What is required and not kept.
    pub(super) fn misses(&self) -> Vec<String> {
        let mut misses = Vec::new();
        let share = |of: u32, all: u32| f64::from(of) / f64::from(all.max(1));
        let mut at_least = |what: &str, (shown, _, all): (u32, u32, u32)| {
            if share(shown, all) < 0.95 {
                misses.push(format!("{what}: shown in {shown} of {all}; expected 95 %"));
            }
        };
        at_least(
            "10 % with one thread",
            self.over(1.1, |threads| threads == 1),
        );
        at_least("50 % in all cells", self.over(1.5, |_| true));
        let (_, wrong, all) = self.over(1.0, |_| true);
        if all == 0 || share(wrong, all) > 0.05 {
            misses.push(format!(
                "0 %: a difference in {wrong} of {all}; expected at most 5 %"
            ));
        }
        let apart = &self.apart;
        if apart.equal > 0 {
            misses.push(format!(
                "ranges that do not touch: {} of {} equal; expected none",
                apart.equal,
                apart.all()
            ));
        }
        if apart.share(apart.cannot_tell + apart.not_compared) > 0.02 {
            misses.push(format!(
                "ranges that do not touch: of {} of {} it cannot tell; expected at most 2 %",
                apart.cannot_tell + apart.not_compared,
                apart.all()
            ));
        }
        misses
    }
}

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "threads  slower by  shown  wrong  equal  cannot tell  not compared     of  smallest, median"
        )?;
        let percent = |outcomes: &Outcomes, of: u32| format!("{:.1} %", 100.0 * outcomes.share(of));
        for ((threads, thousandths), outcomes) in &self.by {
            writeln!(
                f,
                "{threads:>7} {:>8} % {:>8} {:>6} {:>6} {:>12} {:>13} {:>6} {:>15.1} %",
                f64::from(*thousandths) / 10.0 - 100.0,
                percent(outcomes, outcomes.shown),
                percent(outcomes, outcomes.wrong),
                percent(outcomes, outcomes.equal),
                percent(outcomes, outcomes.cannot_tell),
                percent(outcomes, outcomes.not_compared),
                outcomes.all(),
                100.0 * (outcomes.median_smallest() - 1.0),
            )?;
        }
        let apart = &self.apart;
        writeln!(
            f,
            "ranges that do not touch: {} pairs, {} shown, {} equal, {} cannot tell",
            apart.all(),
            apart.shown,
            apart.equal,
            apart.cannot_tell + apart.not_compared
        )?;
        let (cells, found) = self.two_speeds;
        match cells {
            0 => Ok(()),
            _ => writeln!(
                f,
                "two speeds: found in {found} of {cells} cells that have them"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(outcome: Outcome) -> Comparison {
        Comparison {
            ratio: 0.9,
            low: 0.8,
            high: 0.95,
            pairs: 30,
            launches: 6,
            smallest: 1.05,
            outcome,
        }
    }

    /// Outcomes that keep everything that is required.
    fn good() -> Counted {
        let mut counted = Counted::default();
        for (factor, outcome) in [
            (1.0, Outcome::Equal),
            (1.1, Outcome::Slower),
            (1.5, Outcome::Slower),
        ] {
            for _ in 0..40 {
                counted.at(1, factor).add(&told(outcome), factor);
            }
        }
        counted
    }

    #[test]
    fn what_is_required_is_kept_or_named() {
        assert_eq!(good().misses(), [] as [&str; 0]);
        let misses = |change: fn(&mut Counted)| {
            let mut counted = good();
            change(&mut counted);
            counted.misses().join("; ")
        };
        let blind = misses(|counted| {
            for _ in 0..3 {
                counted.at(1, 1.1).add(&told(Outcome::CannotTell), 1.1);
            }
        });
        assert!(
            blind.starts_with("10 % with one thread: shown in 40 of 43"),
            "{blind}"
        );
        let false_alarm = misses(|counted| {
            for _ in 0..3 {
                counted.at(2, 1.0).add(&told(Outcome::Faster), 1.0);
            }
        });
        assert!(
            false_alarm.starts_with("0 %: a difference in 3 of 43"),
            "{false_alarm}"
        );
        // The wrong way is not shown.
        let turned = misses(|counted| {
            for _ in 0..3 {
                counted.at(4, 1.5).add(&told(Outcome::Faster), 1.5);
            }
        });
        assert!(turned.starts_with("50 % in all cells"), "{turned}");
        let equal = misses(|counted| counted.apart.add_different(&told(Outcome::Equal)));
        assert!(equal.contains("1 of 1 equal"), "{equal}");
        let silent = misses(|counted| counted.apart.add_different(&told(Outcome::CannotTell)));
        assert!(silent.contains("1 of 1 it cannot tell"), "{silent}");
        assert_eq!(Counted::default().misses().len(), 3, "nothing was compared");
    }
}
