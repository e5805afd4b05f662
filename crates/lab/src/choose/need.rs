//! What a limiter is needed for.

use serde::{Serialize, Serializer};
use windowpane_core::Quotas;

/// What a limiter is needed for.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Need {
    /// The quotas of every key; told as text.
    #[serde(serialize_with = "as_text")]
    pub quotas: Quotas,
    /// Keys that are live at once.
    pub keys: u64,
    /// Threads that decide at once.
    pub threads: usize,
    /// The most that a window may hold above the limit, as a share of it; `None` if that was not
    /// said.
    pub max_overshoot: Option<f64>,
    /// Whether no window may ever hold more than the quota.
    pub never_over_admit: bool,
    /// Bytes that all keys together may take.
    pub memory: Option<u64>,
    /// Whether requests cost more than 1.
    pub costs: bool,
}

fn as_text<S: Serializer>(quotas: &Quotas, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(quotas.iter().map(ToString::to_string))
}

impl Need {
    /// One key, one thread, and no demands but these quotas.
    pub fn of(quotas: Quotas) -> Need {
        Need {
            quotas,
            keys: 1,
            threads: 1,
            max_overshoot: None,
            never_over_admit: false,
            memory: None,
            costs: false,
        }
    }

    /// Whether it was said how much accuracy is enough; then speed alone ranks what is left.
    pub fn says_accuracy(&self) -> bool {
        self.never_over_admit || self.max_overshoot.is_some()
    }
}

/// Reads a share: `1%`, `0.5 %`, `0%`.
///
/// # Errors
/// What was expected.
pub fn parse_share(text: &str) -> Result<f64, String> {
    let expected = || format!("`{text}`: expected a share of the limit in percent, such as 1%");
    let number = text.trim().strip_suffix('%').ok_or_else(expected)?.trim();
    match number.parse::<f64>() {
        Ok(percent) if percent.is_finite() && percent >= 0.0 => Ok(percent / 100.0),
        _ => Err(expected()),
    }
}

/// The units of memory, and their bytes.
const UNITS: [(&str, u64); 9] = [
    ("kib", 1 << 10),
    ("mib", 1 << 20),
    ("gib", 1 << 30),
    ("tib", 1 << 40),
    ("kb", 1_000),
    ("mb", 1_000_000),
    ("gb", 1_000_000_000),
    ("tb", 1_000_000_000_000),
    ("b", 1),
];

/// Reads an amount of memory: `100MB` (a million bytes each), `64 MiB`, `4096`.
///
/// # Errors
/// What was expected.
pub fn parse_bytes(text: &str) -> Result<u64, String> {
    let expected = || format!("`{text}`: expected bytes such as 100MB, 64MiB or 4096");
    let lower = text.trim().to_ascii_lowercase();
    let unit = UNITS
        .iter()
        .find_map(|(unit, bytes)| Some((lower.strip_suffix(unit)?, *bytes)));
    let (number, unit) = unit.unwrap_or((&lower, 1));
    let number: u64 = number.trim().parse().map_err(|_| expected())?;
    number
        .checked_mul(unit)
        .filter(|bytes| *bytes > 0)
        .ok_or_else(expected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_and_bytes_are_read_and_nothing_else_is() {
        assert_eq!(parse_share("1%"), Ok(0.01));
        assert_eq!(parse_share(" 50 % "), Ok(0.5));
        for bad in ["1", "-1%", "nan%", "inf%", "%", ""] {
            assert!(parse_share(bad).is_err(), "{bad}");
        }
        assert_eq!(parse_bytes("100MB"), Ok(100_000_000));
        assert_eq!(parse_bytes("64 MiB"), Ok(64 << 20));
        assert_eq!(parse_bytes("4096"), Ok(4_096));
        assert_eq!(parse_bytes("12b"), Ok(12));
        for bad in ["", "MB", "0", "-1MB", "1.5GB", "99999999TB", "1 kilo"] {
            assert!(parse_bytes(bad).is_err(), "{bad}");
        }
    }
}
