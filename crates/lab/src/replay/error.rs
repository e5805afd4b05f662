//! Why a replay ended early.

use std::io;

use thiserror::Error;
use windowpane_core::BuildError;

use super::input::BadLine;

/// Why a replay ended early. Each is told in one line.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The input cannot be opened or read.
    #[error("cannot read {input}: {source}")]
    Input {
        /// The input's name.
        input: String,
        /// Why.
        source: io::Error,
    },
    /// The input holds no request.
    #[error("{input}: expected at least one request, found {found}")]
    Empty {
        /// The input's name.
        input: String,
        /// What there is instead.
        found: String,
    },
    /// A line is no request, and bad lines are not skipped.
    #[error("{input}:{}: {bad}", bad.line)]
    BadLine {
        /// The input's name.
        input: String,
        /// The line.
        bad: BadLine,
    },
    /// A limiter cannot be built.
    #[error("{algorithm} cannot hold these quotas: {source}")]
    Build {
        /// The algorithm's name.
        algorithm: &'static str,
        /// Why, and what would.
        source: BuildError,
    },
    /// An output cannot be written.
    #[error("cannot write {output}: {source}")]
    Output {
        /// The output's name.
        output: String,
        /// Why.
        source: io::Error,
    },
    /// Nobody reads the output any more. That is no mistake of anybody's.
    #[error("the output was closed by its reader")]
    ClosedPipe,
    /// What was asked for does not go together.
    #[error("{0}")]
    Usage(String),
}

impl ReplayError {
    /// The error of writing to an output.
    pub fn output(output: &str, source: io::Error) -> ReplayError {
        match source.kind() {
            io::ErrorKind::BrokenPipe => ReplayError::ClosedPipe,
            _ => ReplayError::Output {
                output: output.into(),
                source,
            },
        }
    }
}
