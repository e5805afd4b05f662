//! Why requests cannot be read.

use std::io;

use thiserror::Error;

use crate::input::BadLine;

/// Why requests cannot be read. Each message is one line.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum InputError {
    /// The input cannot be opened or read.
    #[error("cannot read {input}: {source}")]
    Read {
        /// The input's name.
        input: String,
        /// The system's error.
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
}
