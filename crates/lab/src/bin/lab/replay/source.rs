//! Where recorded requests come from: a file, or the standard input.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use windowpane_lab_input::InputError;

/// An input, open.
pub(super) struct Source {
    /// What it is called in messages.
    pub(super) name: String,
    pub(super) bytes: Box<dyn Read + Send>,
    /// Of a file.
    pub(super) length: Option<u64>,
}

impl Source {
    /// The file of that name, `-` being the standard input.
    pub(super) fn open(input: &Path) -> Result<Source, InputError> {
        if input.as_os_str() == "-" {
            return Ok(Source {
                name: "<stdin>".into(),
                bytes: Box::new(io::stdin()),
                length: None,
            });
        }
        let name = input.display().to_string();
        let open = || {
            let file = File::open(input)?;
            let about = file.metadata()?;
            match about.is_dir() {
                true => Err(io::Error::other("it is a directory; expected a file")),
                false => Ok((file, about.is_file().then_some(about.len()))),
            }
        };
        match open() {
            Ok((file, length)) => Ok(Source {
                name,
                bytes: Box::new(file),
                length,
            }),
            Err(source) => Err(InputError::Read {
                input: name,
                source,
            }),
        }
    }
}
