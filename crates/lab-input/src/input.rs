//! Recorded requests, read as a stream from CSV or an access log.

use std::fmt;
use std::io::{self, Read};

use windowpane_core::{Cost, Nanos};

use crate::clf;
use crate::columns::{ColumnNames, Columns, Fed, Record};
use crate::error::InputError;
use crate::excerpt::excerpt;
use crate::lines::{LONGEST_LINE, Line, Lines, without_end};
use crate::time::TimeUnit;

/// The format of the input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Comma-separated values with a header.
    Csv,
    /// The common or combined log format; the key is the client's address, every cost is 1.
    Clf,
    /// An access log if the first line has a time in brackets, or is no CSV header and one of the
    /// few lines after it is of an access log; CSV otherwise, and where columns are named.
    #[default]
    Auto,
}

/// How the input is to be read.
#[derive(Clone, Debug, Default)]
pub struct InputOptions {
    /// The format.
    pub format: Format,
    /// The unit of times that are numbers.
    pub unit: TimeUnit,
    /// What the columns of CSV are called.
    pub columns: ColumnNames,
}

/// What one line says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Fields<'a> {
    pub(crate) time: Nanos,
    /// The time as it stood.
    pub(crate) time_text: &'a [u8],
    pub(crate) key: &'a [u8],
    pub(crate) cost: Cost,
}

/// What was expected of a line, and what stood there instead where it helps to see it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unexpected<'a> {
    pub(crate) expected: String,
    pub(crate) found: Option<&'a [u8]>,
}

impl Unexpected<'_> {
    fn at(self, line: u64) -> BadLine {
        BadLine {
            line,
            expected: self.expected,
            found: self
                .found
                .map(|found| excerpt(&String::from_utf8_lossy(found))),
        }
    }
}

/// A line that is no request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLine {
    /// The line's number in the input, counting from 1.
    pub line: u64,
    /// What was expected.
    pub expected: String,
    /// What stood there instead, shortened, where it helps to see it.
    pub found: Option<String>,
}

impl fmt::Display for BadLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {}", self.expected)?;
        match &self.found {
            Some(found) => write!(f, ", found `{found}`"),
            None => Ok(()),
        }
    }
}

/// What comes next in the input.
#[derive(Debug)]
pub(crate) enum Next<'a> {
    Request(u64, Fields<'a>),
    Bad(BadLine),
    End,
}

enum Parser {
    Csv {
        record: Box<Record>,
        columns: Columns,
        /// A quote that is open at the end of a line before this one is not followed.
        alone_before: u64,
    },
    Clf,
}

/// Why nothing can be read from an input.
#[derive(Debug)]
pub(crate) enum OpenError {
    Io(io::Error),
    /// There is nothing but blank lines.
    Empty,
    Header(BadLine),
}

impl OpenError {
    /// The error for the caller, who knows the input's name.
    pub(crate) fn of(self, input: &str) -> InputError {
        let input = input.into();
        match self {
            OpenError::Io(source) => InputError::Read { input, source },
            OpenError::Header(bad) => InputError::BadLine { input, bad },
            OpenError::Empty => InputError::Empty {
                input,
                found: "nothing".into(),
            },
        }
    }
}

impl From<io::Error> for OpenError {
    fn from(error: io::Error) -> OpenError {
        OpenError::Io(error)
    }
}

/// A stream of requests.
pub struct Requests<R> {
    lines: Lines<R>,
    unit: TimeUnit,
    parser: Parser,
}

impl<R: Read> Requests<R> {
    /// Reads the first lines, and the header if there is to be one; `input` is the source's name in
    /// errors.
    ///
    /// # Errors
    /// [`InputError`].
    pub fn open(source: R, input: &str, options: &InputOptions) -> Result<Requests<R>, InputError> {
        Self::begin(source, options).map_err(|error| error.of(input))
    }

    fn begin(source: R, options: &InputOptions) -> Result<Requests<R>, OpenError> {
        let mut lines = Lines::new(source);
        let is_clf = match options.format {
            Format::Csv => false,
            Format::Clf => true,
            Format::Auto => !options.columns.any() && is_access_log(&mut lines)?,
        };
        let parser = match is_clf {
            true => Parser::Clf,
            false => open_csv(&mut lines, options)?,
        };
        Ok(Requests {
            lines,
            unit: options.unit,
            parser,
        })
    }

    /// The format, known by now.
    pub fn format(&self) -> Format {
        match self.parser {
            Parser::Csv { .. } => Format::Csv,
            Parser::Clf => Format::Clf,
        }
    }

    /// How many bytes have been read.
    pub(crate) fn bytes(&self) -> u64 {
        self.lines.bytes()
    }

    /// The next request or bad line.
    pub(crate) fn next(&mut self) -> io::Result<Next<'_>> {
        let (line, fields) = match &mut self.parser {
            Parser::Csv {
                record,
                columns,
                alone_before,
            } => {
                let read = match read_record(&mut self.lines, record, *alone_before)? {
                    RecordRead::End => return Ok(Next::End),
                    RecordRead::Bad(bad) => Err(bad),
                    RecordRead::At(line) => {
                        let fields = columns.request(record, self.unit);
                        fields
                            .map(|fields| (line, fields))
                            .map_err(|unexpected| unexpected.at(line))
                    }
                };
                return Ok(match read {
                    Ok((line, fields)) => {
                        self.lines.release();
                        Next::Request(line, fields)
                    }
                    Err(bad) => {
                        // The quote that made one record of several lines may be a stray one, and
                        // the lines sound. Each is read at most once more: those up to where the
                        // record came to its end do not begin such a record again.
                        if let Some(latest) = self.lines.back() {
                            *alone_before = latest;
                        }
                        Next::Bad(bad)
                    }
                });
            }
            Parser::Clf => match self.lines.next_not_blank()? {
                Line::End => return Ok(Next::End),
                Line::TooLong(line) => return Ok(Next::Bad(too_long(line))),
                Line::Text(line, text) => (line, clf::parse(without_end(text))),
            },
        };
        Ok(match fields {
            Ok(fields) => Next::Request(line, fields),
            Err(unexpected) => Next::Bad(unexpected.at(line)),
        })
    }
}

/// How many of the first lines are looked at for one of an access log.
const FIRST_LINES: usize = 8;

/// Whether the input is an access log: its first line looks like one, or is garbage before some.
fn is_access_log<R: Read>(lines: &mut Lines<R>) -> Result<bool, OpenError> {
    let is_settled = match lines.next_not_blank()? {
        Line::End => return Err(OpenError::Empty),
        Line::TooLong(line) => return Err(OpenError::Header(too_long(line))),
        Line::Text(_, text) if clf::looks_like(text) => Some(true),
        Line::Text(_, text) => {
            let mut record = Record::new();
            let is_header = record.feed(text) == Fed::Complete
                && Columns::find(&record, &ColumnNames::default()).is_ok();
            is_header.then_some(false)
        }
    };
    lines.again();
    if let Some(is_access_log) = is_settled {
        return Ok(is_access_log);
    }
    lines.hold();
    let mut found = false;
    for _ in 0..FIRST_LINES {
        match lines.next_not_blank()? {
            Line::Text(_, text) => found |= clf::parse(without_end(text)).is_ok(),
            Line::TooLong(_) | Line::End => break,
        }
    }
    lines.back();
    Ok(found)
}

fn open_csv<R: Read>(lines: &mut Lines<R>, options: &InputOptions) -> Result<Parser, OpenError> {
    let mut record = Box::new(Record::new());
    let line = match read_record(lines, &mut record, 0)? {
        RecordRead::End => return Err(OpenError::Empty),
        RecordRead::Bad(bad) => return Err(OpenError::Header(bad)),
        RecordRead::At(line) => line,
    };
    let columns = Columns::find(&record, &options.columns).map_err(|mut expected| {
        if options.format == Format::Auto && !options.columns.any() {
            expected.push_str(", or a line of the common or combined log format");
        }
        let names: Vec<&[u8]> = (0..record.len()).map(|index| record.field(index)).collect();
        let found = names.join(&b","[..]);
        let found = Some(&found[..]);
        OpenError::Header(Unexpected { expected, found }.at(line))
    })?;
    lines.release();
    Ok(Parser::Csv {
        record,
        columns,
        alone_before: 0,
    })
}

/// What came of reading a record.
enum RecordRead {
    /// It began in this line.
    At(u64),
    Bad(BadLine),
    End,
}

/// Reads a record. If it is of several lines, those after the first are held.
fn read_record<R: Read>(
    lines: &mut Lines<R>,
    record: &mut Record,
    alone_before: u64,
) -> io::Result<RecordRead> {
    record.clear();
    let (first, mut fed) = match lines.next_not_blank()? {
        Line::End => return Ok(RecordRead::End),
        Line::TooLong(line) => return Ok(RecordRead::Bad(too_long(line))),
        Line::Text(line, text) => (line, record.feed(text)),
    };
    if fed == Fed::Open {
        if first < alone_before {
            return Ok(RecordRead::Bad(never_closed(first)));
        }
        lines.hold();
    }
    while fed == Fed::Open {
        fed = match lines.next()? {
            Line::Text(_, text) => record.feed(text),
            Line::TooLong(_) => Fed::TooLong,
            Line::End => return Ok(RecordRead::Bad(never_closed(first))),
        };
    }
    Ok(match fed {
        Fed::TooLong => RecordRead::Bad(too_long(first)),
        _ => RecordRead::At(first),
    })
}

fn never_closed(line: u64) -> BadLine {
    BadLine {
        line,
        expected: "a closing quote before the end of the input".into(),
        found: None,
    }
}

fn too_long(line: u64) -> BadLine {
    BadLine {
        line,
        expected: format!("a line of at most {LONGEST_LINE} bytes (is a quote left open?)"),
        found: None,
    }
}
