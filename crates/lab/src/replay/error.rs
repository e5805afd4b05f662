//! Why a replay ended early.

use std::io;

use thiserror::Error;
use windowpane_core::BuildError;
use windowpane_lab_ground::output::OutputError;
use windowpane_lab_input::InputError;

/// Why a replay ended early. Each message is one line.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The requests cannot be read.
    #[error(transparent)]
    Input(#[from] InputError),
    /// A limiter cannot be built.
    #[error("{algorithm} cannot hold these quotas: {source}")]
    Build {
        /// The algorithm's name.
        algorithm: &'static str,
        /// Why, and what would.
        source: BuildError,
    },
    /// An output cannot be written.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// The options contradict each other.
    #[error("{0}")]
    Usage(String),
}

impl ReplayError {
    /// Returns the error of writing to `output`.
    pub fn output(output: &str, source: io::Error) -> ReplayError {
        OutputError::of(output, source).into()
    }

    /// Whether the reader of an output closed it: not an error for the user.
    pub fn is_closed_pipe(&self) -> bool {
        matches!(self, ReplayError::Output(OutputError::ClosedPipe))
    }
}
