//! Why requests cannot be read.

use std::io;

use thiserror::Error;

use crate::bad_line::BadLine;

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
    /// A line is not a request, and bad lines are not skipped.
    #[error("{input}:{}: {bad}", bad.line)]
    BadLine {
        /// The input's name.
        input: String,
        /// The line.
        bad: BadLine,
    },
    /// More inputs than can be open at once.
    #[error("expected at most {most} inputs at once, found {found}; --sort reads them one by one")]
    TooManyInputs {
        /// How many can be open.
        most: usize,
        /// How many there are.
        found: usize,
    },
    /// A file of the sort cannot be written or read.
    #[error("cannot sort in the folder for temporary files (TMPDIR): {0}")]
    Sort(io::Error),
}
