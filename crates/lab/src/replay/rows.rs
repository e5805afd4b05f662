//! The decisions as CSV: all of them, or those that differ from the oracle's.

use std::io::Write;

use windowpane_lab_ground::output::Output;

use super::error::ReplayError;
use super::run::Answer;
use super::who::DeniedClient;
use super::{Decided, Observer};

/// Writes one row for each line and algorithm: for a line the algorithms in their order, the lines
/// in the input's.
pub struct Decisions(Rows);

/// Writes a row wherever an algorithm's decision differs from the oracle's own on that line, with
/// both answers.
pub struct Disagreements(Rows);

impl Decisions {
    /// Begins with the header. If there are several inputs, a last column names that of the line.
    ///
    /// # Errors
    /// [`ReplayError::Output`].
    pub fn new(output: Output, inputs: &[String]) -> Result<Decisions, ReplayError> {
        Ok(Decisions(Rows::new(output, &COLUMNS, inputs)?))
    }

    /// Ends the rows.
    ///
    /// # Errors
    /// [`ReplayError::Output`].
    pub fn into_output(self) -> Result<Output, ReplayError> {
        self.0.into_output()
    }
}

impl Disagreements {
    /// Begins with the header. If there are several inputs, a last column names that of the line.
    ///
    /// # Errors
    /// [`ReplayError::Output`].
    pub fn new(output: Output, inputs: &[String]) -> Result<Disagreements, ReplayError> {
        let columns = [&COLUMNS[..], &ORACLE_COLUMNS].concat();
        Ok(Disagreements(Rows::new(output, &columns, inputs)?))
    }

    /// Ends the rows.
    ///
    /// # Errors
    /// [`ReplayError::Output`].
    pub fn into_output(self) -> Result<Output, ReplayError> {
        self.0.into_output()
    }
}

impl Observer for Decisions {
    fn decided(&mut self, decided: &Decided<'_>) -> Result<(), ReplayError> {
        for (algorithm, answer) in decided.answers() {
            self.0.row(decided, algorithm, answer, None)?;
        }
        Ok(())
    }
}

impl Observer for Disagreements {
    fn decided(&mut self, decided: &Decided<'_>) -> Result<(), ReplayError> {
        let Some(oracle) = decided.oracle() else {
            return Ok(());
        };
        for (algorithm, answer) in decided.answers() {
            if !answer.agrees_with(oracle) {
                self.0.row(decided, algorithm, answer, Some(oracle))?;
            }
        }
        Ok(())
    }
}

const COLUMNS: [&str; 8] = [
    "algorithm",
    "line",
    "time",
    "key",
    "cost",
    "decision",
    "remaining",
    "retry_after_ns",
];

const ORACLE_COLUMNS: [&str; 3] = [
    "oracle_decision",
    "oracle_remaining",
    "oracle_retry_after_ns",
];

/// Writes every client that was denied:
/// `algorithm,key,requests,denied,first_denied_ns,last_denied_ns,longest_block_ns`.
///
/// # Errors
/// [`ReplayError::Output`].
pub fn write_clients(clients: &[DeniedClient], output: Output) -> Result<Output, ReplayError> {
    let columns = [
        "algorithm",
        "key",
        "requests",
        "denied",
        "first_denied_ns",
        "last_denied_ns",
        "longest_block_ns",
    ];
    let mut rows = Rows::new(output, &columns, &[])?;
    for client in clients {
        let written = rows.client(client);
        rows.check(written)?;
    }
    rows.into_output()
}

/// Rows on their way to an output.
struct Rows {
    name: String,
    csv: csv::Writer<Output>,
    /// The names of the inputs, if there are several.
    inputs: Vec<String>,
    /// Digits of a number on their way.
    digits: Vec<u8>,
}

impl Rows {
    fn new(output: Output, columns: &[&str], inputs: &[String]) -> Result<Rows, ReplayError> {
        let inputs = if inputs.len() > 1 { inputs } else { &[] };
        let mut rows = Rows {
            name: output.name().into(),
            csv: csv::Writer::from_writer(output),
            inputs: inputs.to_vec(),
            digits: Vec::new(),
        };
        let input = (!inputs.is_empty()).then_some(&"input");
        let written = rows.csv.write_record(columns.iter().chain(input));
        rows.check(written)?;
        Ok(rows)
    }

    fn row(
        &mut self,
        decided: &Decided<'_>,
        algorithm: &str,
        answer: Answer,
        oracle: Option<Answer>,
    ) -> Result<(), ReplayError> {
        let written = self.write(decided, algorithm, answer, oracle);
        self.check(written)
    }

    fn write(
        &mut self,
        decided: &Decided<'_>,
        algorithm: &str,
        answer: Answer,
        oracle: Option<Answer>,
    ) -> csv::Result<()> {
        self.csv.write_field(algorithm)?;
        self.number(Some(decided.line))?;
        self.csv.write_field(decided.time_text)?;
        self.csv.write_field(decided.key)?;
        self.number(Some(decided.cost.get()))?;
        self.answer(answer)?;
        if let Some(oracle) = oracle {
            self.answer(oracle)?;
        }
        if let Some(input) = self.inputs.get(decided.input as usize) {
            self.csv.write_field(input)?;
        }
        self.csv.write_record(None::<&[u8]>)
    }

    fn client(&mut self, client: &DeniedClient) -> csv::Result<()> {
        self.csv.write_field(client.algorithm)?;
        self.csv.write_field(&client.key)?;
        for number in [
            client.requests,
            client.denied,
            client.first,
            client.last,
            client.longest,
        ] {
            self.number(Some(number))?;
        }
        self.csv.write_record(None::<&[u8]>)
    }

    fn answer(&mut self, answer: Answer) -> csv::Result<()> {
        let (remaining, retry_after) = match answer {
            Answer::Allow { remaining } => (Some(remaining), None),
            Answer::Deny {
                remaining,
                retry_after,
            } => (Some(remaining), retry_after),
            Answer::Error => (None, None),
        };
        self.csv.write_field(answer.name())?;
        self.number(remaining)?;
        self.number(retry_after)
    }

    /// A number, or an empty field.
    fn number(&mut self, number: Option<u64>) -> csv::Result<()> {
        self.digits.clear();
        if let Some(number) = number {
            write!(self.digits, "{number}")?;
        }
        self.csv.write_field(&self.digits)
    }

    fn into_output(self) -> Result<Output, ReplayError> {
        let name = self.name;
        let output = self.csv.into_inner();
        output.map_err(|error| ReplayError::output(&name, error.into_error()))
    }

    fn check(&self, written: csv::Result<()>) -> Result<(), ReplayError> {
        written.map_err(|error| match error.into_kind() {
            csv::ErrorKind::Io(error) => ReplayError::output(&self.name, error),
            other => unreachable!("rows of equal length are written, not {other:?}"),
        })
    }
}
