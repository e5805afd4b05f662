//! CSV: records of fields, and which columns hold what.

use csv_core::{ReadRecordResult, Reader, ReaderBuilder, Terminator};
use windowpane_core::Cost;

use crate::input::{Fields, Unexpected};
use crate::lines::LONGEST_LINE;
use crate::time::{TimeUnit, number, parse_time};

/// What the columns are called. A column that is named must be there; of those that are not, the
/// time must, and the key and the cost may be missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ColumnNames {
    /// The column of times; `time` if not named.
    pub time: Option<String>,
    /// The column of keys; `key` if not named. Without it all requests are of one key.
    pub key: Option<String>,
    /// The columns whose sum is the cost, joined by `+`; `cost` if not named. Without it every
    /// cost is 1.
    pub cost: Option<String>,
}

impl ColumnNames {
    /// Whether any is named.
    pub(crate) fn any(&self) -> bool {
        self.time.is_some() || self.key.is_some() || self.cost.is_some()
    }
}

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
    pub(crate) fn new() -> Record {
        let mut record = Record {
            // A bare `\r` does not end a record: line numbers count `\n`.
            core: ReaderBuilder::new()
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

/// Which columns hold what.
#[derive(Debug)]
pub(crate) struct Columns {
    time: usize,
    key: Option<usize>,
    costs: Vec<usize>,
    /// The names of the cost columns, joined by `+`.
    cost_names: String,
    count: usize,
}

impl Columns {
    /// Finds the columns in a header, or says what was expected of it.
    pub(crate) fn find(header: &Record, names: &ColumnNames) -> Result<Columns, String> {
        let find = |name: &str| {
            (0..header.len())
                .find(|index| header.field(*index).trim_ascii() == name.as_bytes())
                .ok_or_else(|| format!("a CSV header with a column `{name}`"))
        };
        let optional = |name: &Option<String>, default: &str| match name {
            Some(name) => name.split('+').map(find).collect(),
            None => Ok(Vec::from_iter(find(default).ok())),
        };
        Ok(Columns {
            time: find(names.time.as_deref().unwrap_or("time"))?,
            key: match &names.key {
                Some(name) => Some(find(name)?),
                None => find("key").ok(),
            },
            costs: optional(&names.cost, "cost")?,
            cost_names: names.cost.clone().unwrap_or_else(|| "cost".into()),
            count: header.len(),
        })
    }

    /// The request in a record.
    pub(crate) fn request<'a>(
        &self,
        record: &'a Record,
        unit: TimeUnit,
    ) -> Result<Fields<'a>, Unexpected<'a>> {
        if record.len() != self.count {
            let (expected, found) = (plural(self.count), plural(record.len()));
            return Err(Unexpected {
                expected: format!("{expected} as in the header, not {found}"),
                found: None,
            });
        }
        let time_text = record.field(self.time);
        let time = parse_time(time_text, unit).map_err(|error| Unexpected {
            expected: error.to_string(),
            found: Some(time_text),
        })?;
        Ok(Fields {
            time,
            time_text,
            key: self.key.map_or(b"", |index| record.field(index)),
            cost: self.cost(record)?,
        })
    }

    fn cost<'a>(&self, record: &'a Record) -> Result<Cost, Unexpected<'a>> {
        if self.costs.is_empty() {
            return Ok(Cost::ONE);
        }
        let mut sum = Some(0_u64);
        for index in &self.costs {
            let field = record.field(*index);
            let digits = field.trim_ascii();
            let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
            let cost = number(digits).filter(|_| is_number);
            let cost = cost.ok_or_else(|| self.not_a_cost(field))?;
            sum = sum.and_then(|sum| sum.checked_add(cost));
        }
        let cost = sum.and_then(Cost::new);
        cost.ok_or_else(|| match (&self.costs[..], sum) {
            ([index], _) => self.not_a_cost(record.field(*index)),
            (_, sum) => Unexpected {
                expected: format!(
                    "a cost from 1 to {} as the sum of the columns {}, not {}",
                    u64::MAX,
                    self.cost_names,
                    sum.map_or("more", |_| "0"),
                ),
                found: None,
            },
        })
    }

    /// That a field of a cost is none.
    fn not_a_cost<'a>(&self, field: &'a [u8]) -> Unexpected<'a> {
        let most = u64::MAX;
        Unexpected {
            expected: match self.costs.len() {
                1 => format!("a cost: a whole number from 1 to {most}"),
                _ => format!("parts of a cost: whole numbers up to {most}"),
            },
            found: Some(field),
        }
    }
}

fn plural(columns: usize) -> String {
    match columns {
        1 => "1 column".into(),
        n => format!("{n} columns"),
    }
}
