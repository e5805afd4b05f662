//! What was measured: all rounds, compared, checked, and written as files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use windowpane_lab_ground::spread::{Difference, Spread, by_round, compare_paired, noise};
use windowpane_lab_measure::environment::Environment;
use windowpane_lab_report::companions;

use super::flood::Flooded;
use super::generator::{Generator, PERCENTILES, Told};
use super::service::Cell;

/// One measurement of a cell.
pub(crate) struct Measured {
    pub(crate) told: Told,
    /// The processor time of the server, the system's part of it included.
    pub(crate) processor: Duration,
}

impl Measured {
    pub(crate) fn processor_micros(&self) -> f64 {
        self.processor.as_secs_f64() * 1e6 / self.told.requests as f64
    }
}

/// When a measurement was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Turn {
    /// In a pair of the service without the layer against itself, before the rounds.
    Pair(u32),
    Round(u32),
}

/// What a run measured.
#[derive(Default)]
pub(crate) struct Results {
    cells: BTreeMap<Cell, BTreeMap<Turn, Measured>>,
    pub(crate) floods: Vec<Flooded>,
}

impl Results {
    pub(crate) fn add(&mut self, cell: Cell, turn: Turn, measured: Measured) {
        self.cells.entry(cell).or_default().insert(turn, measured);
    }

    pub(crate) fn cells(&self) -> impl Iterator<Item = Cell> {
        self.cells.keys().copied()
    }

    /// A figure of each round of a cell.
    pub(crate) fn rounds(&self, cell: Cell, figure: impl Fn(&Measured) -> f64) -> Vec<(u32, f64)> {
        let turns = self.cells.get(&cell).into_iter().flatten();
        turns
            .filter_map(|(turn, measured)| match turn {
                Turn::Round(number) => Some((*number, figure(measured))),
                Turn::Pair(_) => None,
            })
            .collect()
    }

    /// The spread of a figure over the rounds, of which there is at least one.
    pub(crate) fn spread(&self, cell: Cell, figure: impl Fn(&Measured) -> f64) -> Spread {
        let rounds = self.rounds(cell, figure);
        Spread::of(rounds.into_iter().map(|(_, value)| value)).expect("a cell has a round")
    }

    fn rates(&self, cell: Cell) -> Vec<(u32, f64)> {
        self.rounds(cell, |measured| measured.told.per_second())
    }

    /// The rate of a cell as a share of that without the layer in the same round.
    pub(crate) fn share(&self, cell: Cell) -> Option<Spread> {
        let ratios = by_round(&self.rates(cell), &self.rates(Cell::Without));
        Spread::of(ratios.into_iter().map(|(_, ratio)| ratio))
    }

    /// Whether a cell differs from the service without the layer, beyond the noise.
    pub(crate) fn difference(&self, cell: Cell) -> Option<Difference> {
        let noise = self.noise().unwrap_or(0.0);
        compare_paired(&self.rates(cell), &self.rates(Cell::Without), noise)
    }

    /// How far pairs of the service without the layer are apart, in the pairs before and in the
    /// rounds.
    pub(crate) fn noise(&self) -> Option<f64> {
        let again = self.cells.get(&Cell::WithoutAgain)?;
        let once = self.cells.get(&Cell::Without)?;
        let pairs: Vec<(f64, f64)> = once
            .iter()
            .filter_map(|(turn, one)| {
                let other = again.get(turn)?;
                Some((one.told.per_second(), other.told.per_second()))
            })
            .collect();
        noise(&pairs)
    }

    /// # Errors
    /// If an answer was not what its cell is called: such figures count for nothing.
    pub(crate) fn check(&self, generator: &Generator) -> Result<()> {
        for (cell, turns) in &self.cells {
            for (turn, Measured { told, .. }) in turns {
                let expected = match cell.status() {
                    200 => 0,
                    _ => told.requests,
                };
                if told.not_ok != expected || told.broken != 0 {
                    bail!(
                        "{}, {turn:?}: of {} answers {} had a status above 399, expected {expected}; {} did not \
                         come: nothing is recorded",
                        cell.path(),
                        told.requests,
                        told.not_ok,
                        told.broken
                    );
                }
            }
        }
        self.floods
            .iter()
            .try_for_each(|flood| flood.check(generator))
    }

    /// Writes the run, whole, in place of the one before.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn write(&self, environment: &Environment, text: &str) -> Result<PathBuf> {
        companions::record("http", environment, text, |new| {
            self.rows(new).context("cannot write http.csv")?;
            self.flood_rows(new).context("cannot write http-flood.csv")
        })
    }

    fn rows(&self, folder: &Path) -> Result<()> {
        let mut writer = csv::Writer::from_path(folder.join("http.csv"))?;
        let mut head = ["cell", "quotas", "turn", "number", "seconds", "requests"].to_vec();
        head.extend(["per_second", "not_ok", "server_processor_us_per_request"]);
        let percentiles = PERCENTILES.map(|percentile| format!("{percentile}_us"));
        head.extend(percentiles.iter().map(String::as_str));
        writer.write_record(&head)?;
        for (cell, turns) in &self.cells {
            for (turn, measured) in turns {
                let told = &measured.told;
                let (kind, number) = match turn {
                    Turn::Pair(number) => ("pair", number),
                    Turn::Round(number) => ("round", number),
                };
                let mut row = vec![
                    cell.name().to_owned(),
                    cell.quotas().join(" "),
                    kind.to_owned(),
                    number.to_string(),
                    format!("{:.3}", told.span.as_secs_f64()),
                    told.requests.to_string(),
                    format!("{:.0}", told.per_second()),
                    told.not_ok.to_string(),
                    format!("{:.3}", measured.processor_micros()),
                ];
                row.extend(told.micros.iter().map(|micros| format!("{micros:.0}")));
                writer.write_record(&row)?;
            }
        }
        Ok(writer.flush()?)
    }

    fn flood_rows(&self, folder: &Path) -> Result<()> {
        let mut writer = csv::Writer::from_path(folder.join("http-flood.csv"))?;
        let head = ["flood", "quotas", "cap", "phase", "milliseconds", "keys"];
        let head = head
            .iter()
            .chain(&["evictions", "refusals", "resident_bytes"]);
        writer.write_record(head)?;
        for flooded in &self.floods {
            let flood = &flooded.flood;
            for sample in &flooded.samples {
                writer.write_record([
                    flood.name,
                    &flood.quotas.join(" "),
                    &flood.cap.to_string(),
                    sample.phase,
                    &sample.at.as_millis().to_string(),
                    &sample.keys.to_string(),
                    &sample.evictions.to_string(),
                    &sample.refusals.to_string(),
                    &sample.resident.map_or_else(String::new, |b| b.to_string()),
                ])?;
            }
        }
        Ok(writer.flush()?)
    }
}
