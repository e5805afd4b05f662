//! Which format an input has, by its first lines.

use std::collections::BTreeSet;
use std::io::Read;

use crate::columns::{ColumnNames, JSON};
use crate::format::Format;
use crate::formats::{alb, clf, haproxy, json, w3c};
use crate::input::{InputOptions, OpenError};
use crate::lines::{Line, Lines, without_end};
use crate::open::is_header;
use crate::record::{Fed, Record, too_long};
use crate::time::TimeUnit;
use crate::unit::likely_unit;

/// How many of the first lines are looked at.
const FIRST_LINES: usize = 100;

/// The delimiters of CSV, the likeliest first.
const DELIMITERS: [u8; 5] = [b',', b'\t', b';', b'|', b' '];

/// Shows the first lines to `see` until it returns false, and gives them out again.
fn look<R: Read>(
    lines: &mut Lines<R>,
    mut see: impl FnMut(&[u8]) -> bool,
) -> Result<(), OpenError> {
    match lines.next_not_blank()? {
        Line::End => return Err(OpenError::Empty),
        Line::TooLong(line) => return Err(OpenError::Header(too_long(line))),
        Line::Text(..) => lines.again(),
    }
    lines.hold();
    for _ in 0..FIRST_LINES {
        match lines.next_not_blank()? {
            Line::Text(_, text) if see(without_end(text)) => {}
            _ => break,
        }
    }
    lines.back();
    Ok(())
}

/// Finds the format: CSV if the first line is a header; an access log if it looks like one; otherwise
/// the format of which most of the first lines are, and CSV if there is none.
pub(crate) fn format<R: Read>(
    lines: &mut Lines<R>,
    options: &InputOptions,
) -> Result<Format, OpenError> {
    let mut settled = None;
    let mut nth = 0;
    let mut is_w3c = false;
    let mut counts = [0; 4];
    let (mut names, mut spans) = (BTreeSet::new(), Vec::new());
    look(lines, |line| {
        nth += 1;
        if nth == 1 {
            settled = if options.columns == ColumnNames::default() && clf::looks_like(line) {
                Some(Format::Clf)
            } else if w3c::names(line).is_some() {
                Some(Format::W3c)
            } else {
                delimiter_of(line, options).map(|_| Format::Csv)
            };
            if settled.is_some() {
                return false;
            }
        }
        is_w3c |= w3c::names(line).is_some();
        counts[0] += u32::from(line.starts_with(b"{") && json::collect_names(line, &mut names));
        counts[1] += u32::from(clf::split(line, false, &mut spans));
        counts[2] += u32::from(alb::split(line, &mut spans));
        counts[3] += u32::from(haproxy::split(line, &mut spans));
        true
    })?;
    if let Some(format) = settled {
        return Ok(format);
    }
    if is_w3c {
        return Ok(Format::W3c);
    }
    let formats = [Format::Json, Format::Clf, Format::Alb, Format::Haproxy];
    let most = counts.into_iter().zip(formats).rev();
    let most = most.max_by_key(|(count, _)| *count);
    Ok(match most {
        Some((count, format)) if count > 0 => format,
        _ => Format::Csv,
    })
}

/// The delimiter with which a line is a header that has what is asked for.
fn delimiter_of(line: &[u8], options: &InputOptions) -> Option<u8> {
    let is_it = |delimiter: &u8| is_header(&names(line, *delimiter), options);
    let found = DELIMITERS.into_iter().rev().filter(is_it);
    found.max_by_key(|delimiter| names(line, *delimiter).len())
}

/// The fields of a line; none if a quote is left open.
fn names(line: &[u8], delimiter: u8) -> Vec<String> {
    let mut record = Record::new(delimiter);
    match record.feed(line) {
        Fed::Complete => record.names(),
        Fed::Open | Fed::TooLong => Vec::new(),
    }
}

/// The delimiter of CSV: one with which the first line is a header, or else the one that divides it
/// most.
pub(crate) fn delimiter<R: Read>(
    lines: &mut Lines<R>,
    options: &InputOptions,
) -> Result<u8, OpenError> {
    let mut found = b',';
    look(lines, |line| {
        let most = || {
            let all = DELIMITERS[..4].iter().copied().rev();
            all.max_by_key(|delimiter| names(line, *delimiter).len())
        };
        found = delimiter_of(line, options).or_else(most).unwrap_or(b',');
        false
    })?;
    Ok(found)
}

/// The names in the first lines of JSON, and the unit of its times if they are numbers: seconds where
/// they are of these days in seconds, as Caddy and nginx write them.
pub(crate) fn json_names<R: Read>(
    lines: &mut Lines<R>,
    unit: TimeUnit,
) -> Result<(BTreeSet<String>, TimeUnit), OpenError> {
    let mut found = BTreeSet::new();
    let times: Vec<String> = JSON.time.iter().map(ToString::to_string).collect();
    let mut cells = json::Cells::default();
    let mut is_seconds = false;
    look(lines, |line| {
        if json::collect_names(line, &mut found) && json::read(line, &times, &mut cells).is_ok() {
            let mut texts = (0..times.len()).map(|index| cells.field(index));
            let time = texts.find(|text| !text.is_empty());
            is_seconds |= time.and_then(likely_unit) == Some(TimeUnit::Seconds);
        }
        true
    })?;
    let unit = match is_seconds {
        true => TimeUnit::Seconds,
        false => unit,
    };
    Ok((found, unit))
}
