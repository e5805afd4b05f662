//! What is recorded, and what differs from it.

use std::collections::BTreeMap;
use std::fmt;

use anyhow::{Context, Result};
use serde::Deserialize;

/// A rise above this many per cent fails.
const ALLOWED_RISE: u64 = 3;

/// Instructions a call, in hundredths: a share of a rare way, such as a window's roll, shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Count(u64);

impl Count {
    /// The instructions of a number of calls, per call, rounded down.
    pub(super) fn of(total: u64, calls: u64) -> Count {
        Count(total * 100 / calls)
    }
}

impl TryFrom<String> for Count {
    type Error = String;

    fn try_from(text: String) -> Result<Count, String> {
        let parse = || {
            let (whole, hundredths) = text.split_once('.')?;
            let whole: u64 = whole.parse().ok()?;
            let hundredths: u64 = hundredths.parse().ok().filter(|h| *h < 100)?;
            whole.checked_mul(100)?.checked_add(hundredths)
        };
        parse()
            .map(Count)
            .ok_or_else(|| format!("`{text}`: expected instructions as \"41.07\""))
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}.{:02}", self.0 / 100, self.0 % 100))
    }
}

/// Counts, and where they were counted.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Record {
    /// The first line that the compiler prints of itself.
    pub(super) rustc: String,
    /// What of the processor decides which way the code goes, as valgrind shows it.
    pub(super) processor: String,
    /// By case: the limiter, the call.
    pub(super) instructions: BTreeMap<String, Count>,
}

/// How a case differs from its record.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Difference {
    /// More than the record allows; the record.
    Rose(Count),
    /// Less than the record by as much; the record.
    Fell(Count),
    /// The record does not know the case.
    New,
    /// Only the record knows it.
    Gone,
}

impl Difference {
    pub(super) fn fails(&self) -> bool {
        !matches!(self, Difference::Fell(_))
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Difference::Rose(from) => write!(f, "ROSE by over {ALLOWED_RISE} % from {from}"),
            Difference::Fell(from) => write!(f, "fell from {from}: worth recording"),
            Difference::New => f.write_str("NOT RECORDED"),
            Difference::Gone => f.write_str("RECORDED, and there is no such case"),
        }
    }
}

impl Record {
    pub(super) fn parse(text: &str) -> Result<Record> {
        toml::from_str(text).context("not as --write writes it")
    }

    /// What makes counts of there and of here no matter for comparison, if anything does.
    pub(super) fn other_place(&self, here: &Record) -> Option<String> {
        let differ = |what: &str, recorded: &str, here: &str| {
            let text = format!("recorded with {what} `{recorded}`, and here it is `{here}`");
            (recorded != here).then_some(text)
        };
        differ("rustc", &self.rustc, &here.rustc)
            .or_else(|| differ("processor", &self.processor, &here.processor))
    }

    /// The cases that differ by more than the allowed rise, or that only one knows.
    pub(super) fn differences(&self, here: &Record) -> Vec<(String, Difference)> {
        let over = |more: Count, less: Count| more.0 * 100 > less.0 * (100 + ALLOWED_RISE);
        let mut differences = Vec::new();
        for (name, count) in &here.instructions {
            let difference = match self.instructions.get(name) {
                None => Difference::New,
                Some(recorded) if over(*count, *recorded) => Difference::Rose(*recorded),
                Some(recorded) if over(*recorded, *count) => Difference::Fell(*recorded),
                Some(_) => continue,
            };
            differences.push((name.clone(), difference));
        }
        for name in self.instructions.keys() {
            if !here.instructions.contains_key(name) {
                differences.push((name.clone(), Difference::Gone));
            }
        }
        differences
    }
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "# Instructions a call, counted by callgrind; `cargo xtask instructions` compares with it,"
        )?;
        writeln!(f, "# and with --write writes it.")?;
        writeln!(f, "rustc = {:?}", self.rustc)?;
        writeln!(f, "processor = {:?}", self.processor)?;
        writeln!(f, "\n[instructions]")?;
        for (name, count) in &self.instructions {
            writeln!(f, "{name:?} = \"{count}\"")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record<const N: usize>(instructions: [(&str, u64); N]) -> Record {
        Record {
            rustc: "rustc 1.2.3".into(),
            processor: "x86_64 avx".into(),
            instructions: instructions
                .map(|(name, total)| (name.to_owned(), Count::of(total, 100)))
                .into(),
        }
    }

    #[test]
    fn a_rise_of_three_per_cent_passes_and_more_does_not() {
        let recorded = record([("a, allowed", 10_000)]);
        for (total, expected) in [
            (10_000, None),
            (10_300, None),
            (10_301, Some(Difference::Rose(Count(10_000)))),
            (9_709, None),
            (9_708, Some(Difference::Fell(Count(10_000)))),
        ] {
            let found = recorded.differences(&record([("a, allowed", total)]));
            assert_eq!(
                found.into_iter().next().map(|(_, d)| d),
                expected,
                "{total}"
            );
        }
    }

    #[test]
    fn a_case_that_only_one_knows_fails() {
        let found = record([("old", 500)]).differences(&record([("new", 500)]));
        let expected = [("new", Difference::New), ("old", Difference::Gone)];
        assert_eq!(found, expected.map(|(name, d)| (name.to_owned(), d)));
        assert!(found.iter().all(|(_, difference)| difference.fails()));
        assert!(!Difference::Fell(Count(1)).fails());
    }

    #[test]
    fn what_is_written_is_read_back() {
        let written = record([("a, allowed", 4_107), ("b, \"denied\"", 3)]);
        let read = Record::parse(&written.to_string()).unwrap();
        assert_eq!(read.instructions, written.instructions);
        assert_eq!(read.other_place(&written), None);
        let other = Record {
            rustc: "rustc 1.2.4".into(),
            ..record([])
        };
        assert!(written.other_place(&other).unwrap().contains("1.2.4"));
        for wrong in ["41", "41.100", "x.1", "-1.0"] {
            assert!(Count::try_from(wrong.to_owned()).is_err(), "{wrong}");
        }
    }
}
