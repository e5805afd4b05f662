//! One input with its name, and the bad lines of all.

use std::collections::BTreeMap;
use std::io::Read;

use crate::bad_line::{BadKind, BadLine};
use crate::decode::decode;
use crate::error::InputError;
use crate::held::{Place, Sink};
use crate::input::{InputOptions, Next, OpenError, Requests};

/// Opens an input when it is needed.
pub type Opener = Box<dyn FnOnce() -> std::io::Result<Box<dyn Read + Send>> + Send>;

/// An input that is not open yet.
pub struct Input {
    /// What it is called in messages.
    pub name: String,
    /// Opens it.
    pub open: Opener,
}

impl Input {
    /// An input of that name.
    pub fn new(
        name: impl Into<String>,
        open: impl FnOnce() -> std::io::Result<Box<dyn Read + Send>> + Send + 'static,
    ) -> Input {
        Input {
            name: name.into(),
            open: Box::new(open),
        }
    }
}

/// An open input.
pub(crate) struct Source {
    requests: Requests<Box<dyn Read + Send>>,
    number: u32,
    name: String,
}

impl Source {
    pub(crate) fn open(
        input: Input,
        number: u32,
        options: &InputOptions,
    ) -> Result<Source, InputError> {
        let Input { name, open } = input;
        let requests = open()
            .map_err(OpenError::Io)
            .and_then(|bytes| Requests::begin(decode(bytes)?, &name, options));
        match requests {
            Ok(requests) => Ok(Source {
                requests,
                number,
                name,
            }),
            Err(error) => Err(error.of(&name)),
        }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.requests.bytes()
    }

    pub(crate) fn format(&self) -> &'static str {
        self.requests.format().name()
    }

    /// Gives the next request to `sink`; false if there is none.
    pub(crate) fn read(
        &mut self,
        ledger: &mut Ledger,
        sink: &mut impl Sink,
    ) -> Result<bool, InputError> {
        loop {
            let next = self.requests.next();
            match next.map_err(|error| OpenError::Io(error).of(&self.name))? {
                Next::Request(line, fields) => {
                    let input = self.number;
                    sink.push(Place { input, line }, &fields);
                    return Ok(true);
                }
                Next::LeftOut => ledger.left_out += 1,
                Next::Directive => {}
                Next::Bad(bad) => ledger.bad(&self.name, bad)?,
                Next::End => return Ok(false),
            }
        }
    }
}

/// What was not given on of the inputs.
#[derive(Default)]
pub(crate) struct Ledger {
    pub(crate) skip_bad: bool,
    pub(crate) left_out: u64,
    pub(crate) bad: BadLines,
}

impl Ledger {
    fn bad(&mut self, name: &str, bad: BadLine) -> Result<(), InputError> {
        let input = name.into();
        if !self.skip_bad {
            return Err(InputError::BadLine { input, bad });
        }
        self.bad.lines += 1;
        let kind = self.bad.kinds.entry(bad.kind);
        kind.or_insert_with(|| BadLinesOfKind {
            lines: 0,
            input,
            first: bad,
        })
        .lines += 1;
        Ok(())
    }
}

/// Bad lines that were skipped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BadLines {
    /// How many.
    pub lines: u64,
    /// What is wrong with them.
    pub kinds: BTreeMap<BadKind, BadLinesOfKind>,
}

/// Bad lines of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLinesOfKind {
    /// How many.
    pub lines: u64,
    /// The name of the input that has the first.
    pub input: String,
    /// The first.
    pub first: BadLine,
}
