//! What a limiter is needed for.

use serde::{Serialize, Serializer};
use windowpane_core::Quotas;

/// How far from an exact decision an answer may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Accuracy {
    /// Nothing was said: exact, or if nothing exact fits, what gives up the least.
    #[default]
    Unsaid,
    /// Only what decides as the log of accepted requests would.
    Exact,
    /// No window may hold more than the quota; a denial may come early.
    NeverAbove,
    /// A window may hold this share of the limit above it.
    AtMost(f64),
    /// A rate with a burst of the limit on top, and no bound on a window.
    Smooth,
}

/// What a limiter is needed for.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Need {
    /// The quotas of every key, as text.
    #[serde(serialize_with = "as_text")]
    pub quotas: Quotas,
    /// Keys that are live at once.
    pub keys: u64,
    /// Threads that decide at once.
    pub threads: usize,
    /// Machines that share the quota.
    pub machines: u64,
    /// How far from an exact decision an answer may be.
    pub accuracy: Accuracy,
    /// Bytes that all keys together may take.
    pub memory: Option<u64>,
    /// Permits that a request costs, typically.
    pub cost: u64,
    /// The share of the limit that a key uses, typically.
    pub used: f64,
    /// Whether a suspended thread must not delay others.
    pub lock_free: bool,
}

fn as_text<S: Serializer>(quotas: &Quotas, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(quotas.iter().map(ToString::to_string))
}

impl Need {
    /// One key, one thread, one machine, and no demands but these quotas.
    pub fn of(quotas: Quotas) -> Need {
        Need {
            quotas,
            keys: 1,
            threads: 1,
            machines: 1,
            accuracy: Accuracy::Unsaid,
            memory: None,
            cost: 1,
            used: 1.0,
            lock_free: false,
        }
    }

    /// Accepted requests that a key holds, typically: what a log has entries for.
    pub(super) fn entries(&self) -> u64 {
        let used = (self.quotas.largest_limit() as f64 * self.used).ceil() as u64;
        used.div_ceil(self.cost).max(1)
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
