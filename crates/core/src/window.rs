//! Windows and other spans of time as text, `250ms`, `60s`, `30d`, and what is wrong with a quota.

use alloc::format;
use alloc::string::String;

use thiserror::Error;

use crate::clock::Nanos;

/// The longest window: 365 days, in nanoseconds.
pub const MAX_WINDOW: Nanos = 365 * 86_400 * 1_000_000_000;

/// Unit names with their lengths in nanoseconds, longest first.
const UNITS: [(&str, Nanos); 7] = [
    ("d", 86_400_000_000_000),
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];

/// Reads a span of time such as `5ns`, `20us`, `250ms`, `10s`, `1m`, `1h`, `30d` as nanoseconds.
///
/// # Errors
/// [`QuotaError::BadWindow`] if it is not a whole number and a unit, or exceeds `u64` nanoseconds.
pub fn parse_nanos(text: &str) -> Result<Nanos, QuotaError> {
    let bad = || QuotaError::BadWindow { text: text.into() };
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().map_err(|_| bad())?;
    let (_, length) = UNITS
        .iter()
        .find(|(name, _)| *name == unit)
        .ok_or_else(bad)?;
    number.checked_mul(*length).ok_or_else(bad)
}

/// Writes a span of time the way [`parse_nanos`] reads it, exactly, in the longest unit that
/// divides it; minutes are left out, since quotas are usually given per `60s`.
///
/// ```
/// use windowpane_core::format_nanos;
/// assert_eq!(format_nanos(60_000_000_000), "60s");
/// assert_eq!(format_nanos(7_200_000_000_000), "2h");
/// assert_eq!(format_nanos(1_500_000), "1500us");
/// ```
pub fn format_nanos(nanos: Nanos) -> String {
    UNITS
        .iter()
        .filter(|(name, _)| *name != "m")
        .find(|(_, length)| nanos >= *length && nanos.is_multiple_of(*length))
        .map_or_else(
            || "0ns".into(),
            |(name, length)| format!("{}{name}", nanos / length),
        )
}

/// A quota that makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum QuotaError {
    /// The text is not `LIMIT/WINDOW` or `LIMITreq/WINDOW`.
    #[error(
        "malformed quota `{text}`: expected LIMIT/WINDOW or LIMITreq/WINDOW, such as 100/60s or 60req/1m"
    )]
    Malformed {
        /// What was given.
        text: String,
    },
    /// The window is not a whole number with a unit, or is beyond `u64` nanoseconds.
    #[error(
        "malformed window `{text}`: expected a whole number and one of ns, us, ms, s, m, h, d, such as 250ms or 60s, at most 365d"
    )]
    BadWindow {
        /// What was given.
        text: String,
    },
    /// A window of 0.
    #[error(
        "a window of 0 is not a window: the shortest is 1ns (to deny everything, set the limit to 0)"
    )]
    ZeroWindow,
    /// A window above 365 days.
    #[error("a window of {} is too long: the longest is 365d", format_nanos(*window))]
    WindowTooLong {
        /// The window given, in nanoseconds.
        window: Nanos,
    },
}
