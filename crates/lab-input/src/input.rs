//! Recorded requests, read as a stream in any of the formats.

use std::io::{self, Read};

use windowpane_core::{Cost, Nanos};

use crate::bad_line::{BadKind, BadLine, Unexpected};
use crate::columns::{self, ColumnNames};
use crate::detect;
use crate::error::InputError;
use crate::fields::Selection;
use crate::filter::Filter;
use crate::format::Format;
use crate::formats::{Span, alb, clf, haproxy, json, w3c};
use crate::key::KeyOptions;
use crate::lines::{Line, Lines, without_end};
use crate::open::{FIELDS, columns_used, header, named, of_log, open_csv, open_json, open_w3c};
use crate::record::{Record, RecordRead, read_record, too_long};
use crate::time::TimeUnit;

/// How the input is to be read.
#[derive(Clone, Debug, Default)]
pub struct InputOptions {
    /// The format.
    pub format: Format,
    /// The unit of times that are numbers.
    pub unit: TimeUnit,
    /// What the columns are called.
    pub columns: ColumnNames,
    /// How keys are made of them.
    pub keys: KeyOptions,
    /// Which requests are taken.
    pub filter: Filter,
    /// The statuses with which the service itself denied a request.
    pub denied: Vec<u16>,
    /// Receives notes on how the input is read.
    pub say: Option<fn(&str)>,
}

/// What one line says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Fields<'a> {
    pub(crate) time: Nanos,
    /// The time as it stood.
    pub(crate) time_text: &'a [u8],
    pub(crate) key: &'a [u8],
    pub(crate) cost: Cost,
    /// Whether the service itself denied it, where the input says so.
    pub(crate) denied: Option<bool>,
}

/// What comes next in the input.
#[derive(Debug)]
pub(crate) enum Next<'a> {
    Request(u64, Fields<'a>),
    /// No filter takes it.
    LeftOut,
    /// It says something about those after it.
    Directive,
    Bad(BadLine),
    End,
}

/// How lines are taken apart.
pub(crate) enum Parser {
    Csv {
        record: Box<Record>,
        count: usize,
        /// A quote that is open at the end of a line before this one is not followed.
        alone_before: u64,
    },
    Json {
        names: Vec<String>,
        cells: Box<json::Cells>,
    },
    W3c {
        count: usize,
        options: Box<InputOptions>,
        spans: Vec<Span>,
    },
    Clf {
        with_tail: bool,
        spans: Vec<Span>,
    },
    Alb(Vec<Span>),
    Haproxy(Vec<Span>),
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
    selection: Selection,
    parser: Parser,
    format: Format,
}

impl<R: Read> Requests<R> {
    /// Reads the first lines, and the header if there is to be one; `input` is the source's name in
    /// errors.
    ///
    /// # Errors
    /// [`InputError`].
    pub fn open(source: R, input: &str, options: &InputOptions) -> Result<Requests<R>, InputError> {
        Self::begin(source, input, options).map_err(|error| error.of(input))
    }

    pub(crate) fn begin(
        source: R,
        input: &str,
        options: &InputOptions,
    ) -> Result<Requests<R>, OpenError> {
        let mut lines = Lines::new(source);
        let format = match options.format {
            Format::Auto => detect::format(&mut lines, options)?,
            format => format,
        };
        let (parser, selection, columns) = match format {
            Format::Csv | Format::Auto => open_csv(&mut lines, options)?,
            Format::Json => open_json(&mut lines, options)?,
            Format::W3c => open_w3c(&mut lines, options)?,
            Format::Clf => {
                let (selection, columns) = of_log(clf::NAMES, format, options)?;
                let with_tail = columns_used(clf::NAMES, &options.columns, clf::TAIL);
                let spans = Vec::new();
                (Parser::Clf { with_tail, spans }, selection, columns)
            }
            Format::Alb => {
                let (selection, columns) = of_log(alb::NAMES, format, options)?;
                (Parser::Alb(Vec::new()), selection, columns)
            }
            Format::Haproxy => {
                let (selection, columns) = of_log(haproxy::NAMES, format, options)?;
                (Parser::Haproxy(Vec::new()), selection, columns)
            }
        };
        // Of CSV all of whose columns are used, nothing can be mistaken.
        let is_plain = format == Format::Csv && selection.uses_all(columns.len());
        if let (Format::Auto, Some(say), false) = (options.format, options.say, is_plain) {
            let what = selection.description(|index| &columns[index]);
            say(&format!("{input}: read as {}: {what}", format.name()));
        }
        Ok(Requests {
            lines,
            selection,
            parser,
            format,
        })
    }

    /// The format, known by now.
    pub(crate) fn format(&self) -> Format {
        self.format
    }

    /// How many bytes have been read.
    pub(crate) fn bytes(&self) -> u64 {
        self.lines.bytes()
    }

    /// The next request or bad line.
    pub(crate) fn next(&mut self) -> io::Result<Next<'_>> {
        let Requests {
            lines,
            selection,
            parser,
            format,
        } = self;
        let parser = match parser {
            Parser::Csv {
                record,
                count,
                alone_before,
            } => return next_record(lines, selection, record, *count, alone_before),
            other => other,
        };
        let (line, text) = match lines.next_not_blank()? {
            Line::End => {
                selection.end();
                return Ok(Next::End);
            }
            Line::TooLong(line) => return Ok(Next::Bad(too_long(line))),
            Line::Text(line, text) => (line, without_end(text)),
        };
        let (is_one, spans) = match parser {
            Parser::Csv { .. } => return Ok(Next::Directive),
            Parser::Json { names, cells } => {
                return Ok(match json::read(text, names, cells) {
                    Ok(()) => answer(line, selection.request(|index| cells.field(index))),
                    Err(_) => Next::Bad(not_of(*format, text).at(line)),
                });
            }
            Parser::W3c {
                count,
                options,
                spans,
            } => {
                if text.starts_with(b"#") {
                    if let Some(names) = w3c::names(text) {
                        match named(&names, &columns::W3C, options, FIELDS) {
                            Ok(found) => (*selection, *count) = (found, names.len()),
                            Err(expected) => {
                                return Ok(Next::Bad(header(expected, text, line)));
                            }
                        }
                    }
                    return Ok(Next::Directive);
                }
                (w3c::split(text, *count, spans), &*spans)
            }
            Parser::Clf { with_tail, spans } => (clf::split(text, *with_tail, spans), &*spans),
            Parser::Alb(spans) => (alb::split(text, spans), &*spans),
            Parser::Haproxy(spans) => (haproxy::split(text, spans), &*spans),
        };
        Ok(match is_one {
            true => answer(
                line,
                selection
                    .request(|index| spans.get(index).map_or(b"", |(from, to)| &text[*from..*to])),
            ),
            false => Next::Bad(not_of(*format, text).at(line)),
        })
    }
}

fn answer<'a>(line: u64, read: Result<Option<Fields<'a>>, Unexpected<'a>>) -> Next<'a> {
    match read {
        Ok(Some(fields)) => Next::Request(line, fields),
        Ok(None) => Next::LeftOut,
        Err(unexpected) => Next::Bad(unexpected.at(line)),
    }
}

fn next_record<'a, R: Read>(
    lines: &mut Lines<R>,
    selection: &'a mut Selection,
    record: &'a mut Record,
    count: usize,
    alone_before: &mut u64,
) -> io::Result<Next<'a>> {
    let next = match read_record(lines, record, *alone_before)? {
        RecordRead::End => {
            selection.end();
            return Ok(Next::End);
        }
        RecordRead::Bad(bad) => Next::Bad(bad),
        RecordRead::At(line) if record.len() != count => {
            let (expected, found) = (plural(count), plural(record.len()));
            let unexpected = Unexpected {
                kind: BadKind::Fields,
                expected: format!("{expected} as in the header, not {found}"),
                found: None,
            };
            Next::Bad(unexpected.at(line))
        }
        RecordRead::At(line) => answer(line, selection.request(|index| record.field(index))),
    };
    match next {
        // The quote that made one record of several lines may be a stray one, and the lines sound.
        // Each is read at most once more: those up to where the record came to its end do not begin
        // such a record again.
        Next::Bad(_) => {
            if let Some(latest) = lines.back() {
                *alone_before = latest;
            }
        }
        _ => lines.release(),
    }
    Ok(next)
}

fn plural(columns: usize) -> String {
    match columns {
        1 => "1 column".into(),
        n => format!("{n} columns"),
    }
}

fn not_of(format: Format, text: &[u8]) -> Unexpected<'_> {
    Unexpected {
        kind: BadKind::Format,
        expected: format.line().into(),
        found: Some(text),
    }
}
