//! Recorded requests one by one, for those who measure something else on them than a replay.

use std::io::Read;

use windowpane_core::{Cost, Nanos};

use crate::error::InputError;
use crate::input::{InputOptions, Next, OpenError, Requests};

/// Calls `each` with the time, the key and the cost of every request of a source, in its order;
/// `input` is the source's name in errors.
///
/// # Errors
/// [`InputError::Read`], [`InputError::Empty`], [`InputError::BadLine`]: bad lines are not
/// skipped.
pub fn requests(
    input: &str,
    source: impl Read,
    options: &InputOptions,
    mut each: impl FnMut(Nanos, &[u8], Cost),
) -> Result<(), InputError> {
    let mut requests = Requests::open(source, input, options)?;
    loop {
        match requests
            .next()
            .map_err(|error| OpenError::Io(error).of(input))?
        {
            Next::Request(_, fields) => each(fields.time, fields.key, fields.cost),
            Next::Bad(bad) => {
                let input = input.into();
                return Err(InputError::BadLine { input, bad });
            }
            Next::LeftOut | Next::Directive => {}
            Next::End => return Ok(()),
        }
    }
}
