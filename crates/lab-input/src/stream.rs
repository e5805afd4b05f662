//! All inputs as one stream, in the order that is asked for.

use std::mem;

use crate::batch::Batch;
use crate::error::InputError;
use crate::input::InputOptions;
use crate::order::{Merge, Order, Reorder, Sorted, Sorter};
use crate::source::{BadLines, Input, Ledger, Source};

/// The memory of a sort, in bytes; what does not fit goes to files.
const SORT_MEMORY: usize = 256 << 20;

/// Inputs that can be open at once. More of them can be sorted.
const MOST_OPEN: usize = 250;

/// All inputs.
pub struct Stream {
    flow: Flow,
    names: Vec<String>,
    formats: Vec<&'static str>,
    ledger: Ledger,
}

enum Flow {
    Merged(Merge),
    Reordered(Box<Reorder>),
    Unsorted(Vec<Input>, Box<InputOptions>),
    Sorted(Box<Sorted>, u64),
}

/// What was read of the inputs.
#[derive(Clone, Debug, Default)]
pub struct ReadSummary {
    /// The formats, each once.
    pub formats: Vec<&'static str>,
    /// Lines that no filter chose.
    pub left_out: u64,
    /// Bad lines that were skipped.
    pub bad: BadLines,
}

impl Stream {
    /// Opens inputs; to be sorted, they are opened one after the other when they are read.
    ///
    /// # Errors
    /// [`InputError`].
    pub fn open(
        inputs: Vec<Input>,
        order: Order,
        skip_bad: bool,
        options: &InputOptions,
    ) -> Result<Stream, InputError> {
        let names = inputs.iter().map(|input| input.name.clone()).collect();
        let mut formats = Vec::new();
        let flow = if order == Order::Sorted {
            Flow::Unsorted(inputs, Box::new(options.clone()))
        } else if inputs.len() > MOST_OPEN {
            let (most, found) = (MOST_OPEN, inputs.len());
            return Err(InputError::TooManyInputs { most, found });
        } else {
            let several = inputs.len() > 1;
            let open = |(number, input)| {
                unless_empty(Source::open(input, number, options), several).transpose()
            };
            let sources = (0..).zip(inputs).filter_map(open);
            let sources: Vec<Source> = sources.collect::<Result<_, _>>()?;
            formats.extend(sources.iter().map(Source::format));
            let merge = Merge::new(sources);
            match order {
                Order::Reordered(window) => Flow::Reordered(Box::new(Reorder::new(merge, window))),
                _ => Flow::Merged(merge),
            }
        };
        Ok(Stream {
            flow,
            names,
            formats,
            ledger: Ledger {
                skip_bad,
                ..Ledger::default()
            },
        })
    }

    /// The inputs' names.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// What was read, at the end.
    pub(crate) fn into_summary(mut self) -> ReadSummary {
        self.formats.sort_unstable();
        self.formats.dedup();
        ReadSummary {
            formats: self.formats,
            left_out: self.ledger.left_out,
            bad: self.ledger.bad,
        }
    }

    /// Fills a batch. What precedes an error in the same batch is not decided.
    pub(crate) fn fill(&mut self, batch: &mut Batch) -> Result<(), InputError> {
        if let Flow::Unsorted(inputs, options) = &mut self.flow {
            let (inputs, options) = (mem::take(inputs), mem::take(options));
            self.flow = self.sort(inputs, &options)?;
        }
        let ledger = &mut self.ledger;
        while !batch.is_last && !batch.is_full() {
            let more = match &mut self.flow {
                Flow::Merged(merge) => merge.read(ledger, batch)?,
                Flow::Reordered(reorder) => reorder.read(ledger, batch)?,
                Flow::Sorted(sorted, _) => sorted.read(batch).map_err(InputError::Sort)?,
                Flow::Unsorted(..) => false,
            };
            batch.is_last = !more;
        }
        batch.bytes = match &self.flow {
            Flow::Merged(merge) => merge.bytes(),
            Flow::Reordered(reorder) => reorder.bytes(),
            Flow::Sorted(_, bytes) => *bytes,
            Flow::Unsorted(..) => 0,
        };
        batch.bad_lines = ledger.bad.lines;
        Ok(())
    }

    fn sort(&mut self, inputs: Vec<Input>, options: &InputOptions) -> Result<Flow, InputError> {
        let mut sorter = Sorter::new(SORT_MEMORY);
        let mut bytes = 0;
        let several = inputs.len() > 1;
        for (number, input) in (0..).zip(inputs) {
            let opened = Source::open(input, number, options);
            let Some(mut source) = unless_empty(opened, several)? else {
                continue;
            };
            self.formats.push(source.format());
            while source.read(&mut self.ledger, &mut sorter)? {
                sorter.relieve().map_err(InputError::Sort)?;
            }
            bytes += source.bytes();
        }
        let sorted = sorter.end().map_err(InputError::Sort)?;
        Ok(Flow::Sorted(Box::new(sorted), bytes))
    }
}

/// Nothing in place of an empty input, if it is one of several.
fn unless_empty(
    opened: Result<Source, InputError>,
    several: bool,
) -> Result<Option<Source>, InputError> {
    match opened {
        Err(InputError::Empty { .. }) if several => Ok(None),
        opened => opened.map(Some),
    }
}
