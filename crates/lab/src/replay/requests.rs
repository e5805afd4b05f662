//! Recorded requests one by one, for those who measure something else on them than a replay.

use std::io::Read;

use windowpane_core::{Cost, Nanos};

use super::error::ReplayError;
use super::input::{InputOptions, Next, OpenError, Requests};

/// Calls `each` with the time, the key and the cost of every request of a source, in its order;
/// `input` is the source's name in errors.
///
/// # Errors
/// [`ReplayError::Input`], [`ReplayError::Empty`], [`ReplayError::BadLine`]: bad lines are not
/// skipped.
pub fn requests(
    input: &str,
    source: impl Read,
    options: &InputOptions,
    mut each: impl FnMut(Nanos, &[u8], Cost),
) -> Result<(), ReplayError> {
    let mut requests = Requests::open(source, options).map_err(|error| error.of(input))?;
    loop {
        match requests
            .next()
            .map_err(|error| OpenError::Io(error).of(input))?
        {
            Next::Request(_, fields) => each(fields.time, fields.key, fields.cost),
            Next::Bad(bad) => {
                let input = input.into();
                return Err(ReplayError::BadLine { input, bad });
            }
            Next::End => return Ok(()),
        }
    }
}
