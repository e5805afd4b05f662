//! CSV: one record at a time, taken apart into fields.

use std::io::{self, Read};

use csv_core::{ReadRecordResult, Reader, ReaderBuilder, Terminator};

use crate::bad_line::{BadKind, BadLine};
use crate::lines::{LONGEST_LINE, Line, Lines};

/// One record, taken apart into fields.
pub(crate) struct Record {
    core: Reader,
    text: Vec<u8>,
    /// Where the fields end in `text`.
    ends: Vec<usize>,
    used: usize,
    fields: usize,
    fed: usize,
}

/// Where a record stands after a line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Fed {
    /// It is complete.
    Complete,
    /// It goes on in the next line: a quote is open.
    Open,
    /// It is longer than a line may be, and was given up.
    TooLong,
}

impl Record {
    pub(crate) fn new(delimiter: u8) -> Record {
        let mut record = Record {
            // A bare `\r` does not end a record: line numbers count `\n`.
            core: ReaderBuilder::new()
                .delimiter(delimiter)
                .terminator(Terminator::Any(b'\n'))
                .build(),
            text: Vec::new(),
            ends: Vec::new(),
            used: 0,
            fields: 0,
            fed: 0,
        };
        record.clear();
        record
    }

    /// Forgets the record so far.
    pub(crate) fn clear(&mut self) {
        self.core.reset();
        // A blank line is nothing to it; but from then on it takes no byte order mark away, which is
        // the input's to have, once, and no record's.
        let _ = self.core.read_record(b"\n", &mut [0], &mut [0]);
        (self.used, self.fields, self.fed) = (0, 0, 0);
    }

    /// Adds a line that is not blank, or is inside an open quote, with its end.
    pub(crate) fn feed(&mut self, line: &[u8]) -> Fed {
        self.fed += line.len();
        if self.fed > LONGEST_LINE {
            return Fed::TooLong;
        }
        let mut complete = self.read(line);
        if !complete && !line.ends_with(b"\n") {
            complete = self.read(b"\n");
        }
        if !complete {
            return Fed::Open;
        }
        if line.ends_with(b"\r\n")
            && let Some(last) = self.ends[..self.fields].last_mut()
        {
            // Not part of the field but of the line's end.
            *last -= 1;
        }
        Fed::Complete
    }

    /// Whether the record is complete.
    fn read(&mut self, mut line: &[u8]) -> bool {
        loop {
            // Fields hold no more than what was fed, and end at no more places than it has bytes.
            let (text, ends) = (self.used + line.len() + 1, self.fields + line.len() + 1);
            self.text.resize(text.max(self.text.len()), 0);
            self.ends.resize(ends.max(self.ends.len()), 0);
            let (result, read, written, ended) = self.core.read_record(
                line,
                &mut self.text[self.used..],
                &mut self.ends[self.fields..],
            );
            self.used += written;
            self.fields += ended;
            line = &line[read..];
            match result {
                ReadRecordResult::Record => return true,
                ReadRecordResult::InputEmpty | ReadRecordResult::End => return false,
                ReadRecordResult::OutputFull | ReadRecordResult::OutputEndsFull => {}
            }
        }
    }

    /// The fields of a header.
    pub(crate) fn names(&self) -> Vec<String> {
        let name = |index| String::from_utf8_lossy(self.field(index).trim_ascii()).into_owned();
        (0..self.len()).map(name).collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.fields
    }

    /// A field, by its index below [`len`](Self::len).
    pub(crate) fn field(&self, index: usize) -> &[u8] {
        let start = match index {
            0 => 0,
            _ => self.ends[index - 1],
        };
        &self.text[start..self.ends[index]]
    }
}

/// What came of reading a record.
pub(crate) enum RecordRead {
    /// It began in this line.
    At(u64),
    Bad(BadLine),
    End,
}

/// Reads a record. If it is of several lines, those after the first are held.
pub(crate) fn read_record<R: Read>(
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
        kind: BadKind::Quote,
        expected: "a closing quote before the end of the input".into(),
        found: None,
    }
}

pub(crate) fn too_long(line: u64) -> BadLine {
    BadLine {
        line,
        kind: BadKind::Length,
        expected: format!("a line of at most {LONGEST_LINE} bytes (is a quote left open?)"),
        found: None,
    }
}
