//! The beginning of an input: which columns there are, and which of them are what.

use std::io::Read;

use crate::bad_line::{BadKind, BadLine};
use crate::columns::{self, ColumnNames, Defaults, Missing};
use crate::detect;
use crate::excerpt::excerpt_of;
use crate::fields::Selection;
use crate::format::Format;
use crate::formats::w3c;
use crate::input::{InputOptions, OpenError, Parser};
use crate::lines::{Line, Lines, without_end};
use crate::record::{Record, RecordRead, read_record, too_long};

/// What a parser, what it selects, and the names of all columns are.
pub(crate) type Opened = (Parser, Selection, Vec<String>);

pub(crate) const FIELDS: &str = "a directive `#Fields`";

/// Finds columns by their names.
pub(crate) fn named(
    names: &[String],
    defaults: &Defaults,
    options: &InputOptions,
    what: &str,
) -> Result<Selection, String> {
    let mut find = |name: &str| names.iter().position(|other| other == name);
    Selection::find(&mut find, defaults, options, what)
}

/// Whether a column from `tail` on is named.
pub(crate) fn columns_used(names: &[&str], named: &ColumnNames, tail: usize) -> bool {
    let all = [
        &named.time,
        &named.key,
        &named.cost,
        &named.status,
        &named.method,
        &named.path,
        &named.forwarded,
    ];
    let mut parts = all
        .into_iter()
        .flatten()
        .flat_map(|name| name.split([',', '+']));
    parts.any(|part| names[tail..].contains(&part))
}

/// A log of fixed columns.
pub(crate) fn of_log(
    names: &[&str],
    format: Format,
    options: &InputOptions,
) -> Result<(Selection, Vec<String>), OpenError> {
    let columns: Vec<String> = names.iter().map(ToString::to_string).collect();
    let what = format!("a log in the format {}", format.name());
    let selection = named(&columns, &columns::LOG, options, &what);
    let selection = selection
        .map_err(|expected| OpenError::Header(header(expected, names.join(",").as_bytes(), 1)))?;
    Ok((selection, columns))
}

/// Columns that are listed where one is missing, in characters.
const LISTED: usize = 400;

/// The error of a header, with the columns that there are.
pub(crate) fn header(expected: String, found: &[u8], line: u64) -> BadLine {
    BadLine {
        line,
        kind: BadKind::Format,
        expected,
        found: Some(excerpt_of(&String::from_utf8_lossy(found), LISTED)),
    }
}

pub(crate) fn open_w3c<R: Read>(
    lines: &mut Lines<R>,
    options: &InputOptions,
) -> Result<Opened, OpenError> {
    loop {
        let (line, text) = match lines.next_not_blank()? {
            Line::End => return Err(OpenError::Empty),
            Line::TooLong(line) => return Err(OpenError::Header(too_long(line))),
            Line::Text(line, text) => (line, without_end(text)),
        };
        if !text.starts_with(b"#") {
            let expected = format!("{FIELDS} before the first line");
            return Err(OpenError::Header(header(expected, text, line)));
        }
        let Some(names) = w3c::names(text) else {
            continue;
        };
        let found = named(&names, &columns::W3C, options, FIELDS);
        let selection =
            found.map_err(|expected| OpenError::Header(header(expected, text, line)))?;
        let parser = Parser::W3c {
            count: names.len(),
            options: Box::new(options.clone()),
            spans: Vec::new(),
        };
        return Ok((parser, selection, names));
    }
}

pub(crate) fn open_json<R: Read>(
    lines: &mut Lines<R>,
    options: &InputOptions,
) -> Result<Opened, OpenError> {
    let (there, unit) = detect::json_names(lines, options.unit)?;
    let mut names: Vec<String> = Vec::new();
    let mut find = |name: &str| {
        there.contains(name).then(|| {
            let known = names.iter().position(|other| other == name);
            known.unwrap_or_else(|| {
                names.push(name.into());
                names.len() - 1
            })
        })
    };
    let options = InputOptions {
        unit,
        ..options.clone()
    };
    let what = "JSON lines";
    let selection = Selection::find(&mut find, &columns::JSON, &options, what);
    let mut selection = selection.map_err(|expected| {
        let there = Vec::from_iter(there.iter().map(String::as_str)).join(",");
        OpenError::Header(header(expected, there.as_bytes(), 1))
    })?;
    // A line of something else, such as the server's start, is not a request of a client without a name.
    selection.need_keys(|index| &names[index]);
    let parser = Parser::Json {
        names: names.clone(),
        cells: Box::default(),
    };
    Ok((parser, selection, names))
}

pub(crate) fn open_csv<R: Read>(
    lines: &mut Lines<R>,
    options: &InputOptions,
) -> Result<Opened, OpenError> {
    let delimiter = detect::delimiter(lines, options)?;
    let mut record = Box::new(Record::new(delimiter));
    let line = match read_record(lines, &mut record, 0)? {
        RecordRead::End => return Err(OpenError::Empty),
        RecordRead::Bad(bad) => return Err(OpenError::Header(bad)),
        RecordRead::At(line) => line,
    };
    lines.release();
    let columns = record.names();
    let selection = of_header(&columns, options).map_err(|mut expected| {
        if options.format == Format::Auto && options.columns == ColumnNames::default() {
            expected.push_str(", or a line of the common or combined log format");
        }
        OpenError::Header(header(expected, columns.join(",").as_bytes(), line))
    })?;
    let parser = Parser::Csv {
        record,
        count: columns.len(),
        alone_before: 0,
    };
    Ok((parser, selection, columns))
}

/// Finds the columns of a CSV header. A default that is missing must not have a near namesake.
fn of_header(columns: &[String], options: &InputOptions) -> Result<Selection, String> {
    let near = |missing: Missing| missing.near(columns.iter().map(String::as_str));
    let selection = named(columns, &columns::CSV, options, "a CSV header").map_err(|expected| {
        let near = near(Missing::Time).filter(|_| options.columns.time.is_none());
        near.map_or(expected.clone(), |near| {
            format!("{expected} (is it `{near}`? --time-column {near})")
        })
    })?;
    let names = &options.columns;
    for (missing, is_named, column, option, none) in [
        (
            Missing::Key,
            names.key.is_some(),
            "key",
            "--key-column",
            "one key for all",
        ),
        (
            Missing::Cost,
            names.cost.is_some(),
            "cost",
            "--cost-column",
            "a cost of 1",
        ),
    ] {
        if let (true, false, Some(near)) = (selection.lacks(missing), is_named, near(missing)) {
            return Err(format!(
                "a CSV header with a column `{column}` (is it `{near}`? {option} {near}; for {none}: \
                 {option} '')"
            ));
        }
    }
    Ok(selection)
}

/// Whether the columns of a header are those asked for.
pub(crate) fn is_header(columns: &[String], options: &InputOptions) -> bool {
    named(columns, &columns::CSV, options, "").is_ok()
}
