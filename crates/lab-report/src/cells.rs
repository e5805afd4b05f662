//! The cells of a run in which limiters are compared: one key in a state, or a workload of many keys.

use windowpane_lab_ground::comparison::{Comparison, RoundId, Series};
use windowpane_lab_ground::modes::{TwoModes, modes};
use windowpane_lab_ground::spread::Spread;
use windowpane_lab_measure::rows::Side;
use windowpane_lab_measure::state::State;

use crate::run::Run;

/// A cell: what is measured, with how many threads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    /// All threads on one key.
    OneKey(State, usize),
    /// All threads on the keys of a workload.
    Keys(&'a str, usize),
}

/// Decisions a second of all threads in a cell.
#[derive(Clone, Copy, Debug)]
pub struct Speed {
    /// Over the rounds.
    pub rates: Spread,
    /// The two speeds of the cell, if it has two: no median stands for both.
    pub modes: Option<TwoModes>,
}

impl Run {
    /// Returns the rates of a contestant in a cell, without samples whose share of allowed decisions
    /// is not that of the state.
    pub fn series(&self, who: &str, cell: Cell) -> Series {
        let mut series = Series::default();
        let mut add = |side: Side, launch: u32, round: u32, rate: f64| {
            let id = RoundId { launch, round };
            match side {
                Side::One => series.one.push((id, rate)),
                Side::Again => series.again.push((id, rate)),
            }
        };
        match cell {
            Cell::OneKey(state, threads) => {
                let rows = self.throughput.iter().filter(|row| {
                    row.contestant == who
                        && row.state == state.word()
                        && row.threads == threads
                        && row.share_ok
                        && row.round > 0
                });
                rows.for_each(|row| add(row.side, row.launch, row.round, row.per_second));
            }
            Cell::Keys(workload, threads) => {
                let rows = self.keyed.iter().filter(|row| {
                    row.contestant == who
                        && row.workload == workload
                        && row.threads == threads
                        && row.share_ok
                        && row.round > 0
                });
                rows.for_each(|row| add(row.side, row.launch, row.round, row.per_second));
            }
        }
        series
    }

    /// Returns how fast a contestant is in a cell; `None` if it was not measured there.
    pub fn speed(&self, who: &str, cell: Cell) -> Option<Speed> {
        let series = self.series(who, cell);
        let rates: Vec<f64> = series.one.iter().map(|(_, rate)| *rate).collect();
        let modes = modes(&rates);
        Spread::of(rates).map(|rates| Speed { rates, modes })
    }

    /// Compares the rates of two contestants in a cell, one of `family` comparisons.
    pub fn compared(&self, a: &str, b: &str, cell: Cell, family: usize) -> Comparison {
        self.series(a, cell).against(&self.series(b, cell), family)
    }

    /// Returns the threads of a workload of many keys, ascending.
    pub fn keyed_threads(&self, workload: &str) -> Vec<usize> {
        let rows = self.keyed.iter().filter(|row| row.workload == workload);
        let mut threads: Vec<usize> = rows.map(|row| row.threads).collect();
        threads.sort_unstable();
        threads.dedup();
        threads
    }
}
