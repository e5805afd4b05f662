//! Times as recorded: numbers in a unit, and date-times.
//!
//! All are read exactly, digit by digit; no float is involved.

use std::fmt;

use windowpane_core::Nanos;

use crate::date::date_time;

/// The unit of the numbers in a column of times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum TimeUnit {
    /// Nanoseconds.
    #[value(name = "ns")]
    Nanos,
    /// Microseconds.
    #[value(name = "us")]
    Micros,
    /// Milliseconds.
    #[default]
    #[value(name = "ms")]
    Millis,
    /// Seconds.
    #[value(name = "s")]
    Seconds,
}

impl TimeUnit {
    /// How many decimals of the unit a nanosecond is.
    const fn decimals(self) -> u32 {
        match self {
            TimeUnit::Nanos => 0,
            TimeUnit::Micros => 3,
            TimeUnit::Millis => 6,
            TimeUnit::Seconds => 9,
        }
    }

    /// The length of the unit in nanoseconds.
    const fn nanos(self) -> u64 {
        10_u64.pow(self.decimals())
    }
}

impl fmt::Display for TimeUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TimeUnit::Nanos => "ns",
            TimeUnit::Micros => "us",
            TimeUnit::Millis => "ms",
            TimeUnit::Seconds => "s",
        })
    }
}

/// What was expected where a time is not one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeError {
    /// Neither a number nor a date-time.
    Malformed(TimeUnit),
    /// Not a time of the common log format.
    MalformedClf,
    /// More decimals than nanoseconds hold.
    TooManyDecimals {
        /// How many they hold in the unit.
        most: u32,
        /// The unit.
        unit: TimeUnit,
    },
    /// Before 1970, or beyond `u64` nanoseconds.
    OutOfRange,
}

impl fmt::Display for TimeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TimeError::Malformed(unit) => write!(
                f,
                "a time: a whole or decimal number of {unit}, or a date-time such as 2023-11-16 18:17:03.97"
            ),
            TimeError::MalformedClf => {
                write!(f, "a time such as [12/May/2024:00:00:17 +0000]")
            }
            TimeError::TooManyDecimals { most, unit } => write!(
                f,
                "a time of whole nanoseconds, that is at most {most} decimals of {unit}"
            ),
            TimeError::OutOfRange => write!(
                f,
                "a time from 0 (1970) to {} ns (2554), not one out of range",
                u64::MAX
            ),
        }
    }
}

/// Reads a time: a whole or decimal number of `unit`, or a date-time
/// `YYYY-MM-DD HH:MM:SS[.FRACTION][Z|+HH:MM|-HH:MM]` (a `T` may stand for the blank), which is UTC
/// without an offset and counts from 1970. Blanks around it do not matter.
///
/// # Errors
/// [`TimeError`].
pub fn parse_time(text: &[u8], unit: TimeUnit) -> Result<Nanos, TimeError> {
    let text = text.trim_ascii();
    let whole = leading_digits(text);
    match text.get(whole) {
        None if whole > 0 => in_unit(&text[..whole], b"", unit),
        Some(b'.') if whole > 0 => {
            let decimals = &text[whole + 1..];
            if decimals.is_empty() || leading_digits(decimals) < decimals.len() {
                return Err(TimeError::Malformed(unit));
            }
            in_unit(&text[..whole], decimals, unit)
        }
        Some(b'-') if whole == 0 && is_number(&text[1..]) => Err(TimeError::OutOfRange),
        Some(b'-') => date_time(text, unit),
        _ => Err(TimeError::Malformed(unit)),
    }
}

pub(crate) fn leading_digits(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// Whether `text` is digits, or digits with decimals.
fn is_number(text: &[u8]) -> bool {
    let whole = leading_digits(text);
    let decimals = match text.get(whole) {
        Some(b'.') => &text[whole + 1..],
        _ => &text[whole..],
    };
    whole > 0 && leading_digits(decimals) == decimals.len()
}

/// The number that `digits` are, if `u64` holds it.
pub(crate) fn number(digits: &[u8]) -> Option<u64> {
    digits.iter().try_fold(0_u64, |number, digit| {
        number
            .checked_mul(10)?
            .checked_add(u64::from(digit.wrapping_sub(b'0')))
    })
}

pub(crate) fn in_unit(whole: &[u8], decimals: &[u8], unit: TimeUnit) -> Result<Nanos, TimeError> {
    let most = unit.decimals();
    let missing = u32::try_from(decimals.len())
        .ok()
        .and_then(|given| most.checked_sub(given))
        .ok_or(TimeError::TooManyDecimals { most, unit })?;
    let nanos = || {
        // At most nine decimals, so neither the number nor the product can overflow.
        let below = number(decimals)? * 10_u64.pow(missing);
        number(whole)?.checked_mul(unit.nanos())?.checked_add(below)
    };
    nanos().ok_or(TimeError::OutOfRange)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::date::parse_clf_time;
    use TimeUnit::{Micros, Millis, Nanos, Seconds};
    use proptest::prelude::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn numbers_count_in_their_unit_exactly() {
        for (text, unit, nanos) in [
            ("0", Millis, 0),
            ("1500", Millis, 1_500_000_000),
            ("0001", Seconds, SECOND),
            ("1.5", Millis, 1_500_000),
            ("1.000001", Millis, 1_000_001),
            ("1699999999.123456789", Seconds, 1_699_999_999_123_456_789),
            ("7.123", Micros, 7_123),
            (" 5 ", Nanos, 5),
            ("18446744073709551615", Nanos, u64::MAX),
            ("18446744073.709551615", Seconds, u64::MAX),
        ] {
            assert_eq!(
                parse_time(text.as_bytes(), unit),
                Ok(nanos),
                "{text} {unit}"
            );
        }
    }

    #[test]
    fn what_is_no_number_in_the_unit_says_why() {
        let too_many = |most, unit| TimeError::TooManyDecimals { most, unit };
        for (text, unit, error) in [
            ("", Millis, TimeError::Malformed(Millis)),
            (".5", Millis, TimeError::Malformed(Millis)),
            ("5.", Millis, TimeError::Malformed(Millis)),
            ("1e3", Millis, TimeError::Malformed(Millis)),
            ("+5", Millis, TimeError::Malformed(Millis)),
            ("0x1f", Millis, TimeError::Malformed(Millis)),
            ("1.2.3", Seconds, TimeError::Malformed(Seconds)),
            ("-", Seconds, TimeError::Malformed(Seconds)),
            ("nan", Seconds, TimeError::Malformed(Seconds)),
            ("-1", Millis, TimeError::OutOfRange),
            ("-0.5", Millis, TimeError::OutOfRange),
            ("18446744073709551616", Nanos, TimeError::OutOfRange),
            ("18446744073.709551616", Seconds, TimeError::OutOfRange),
            ("99999999999999999999999999", Nanos, TimeError::OutOfRange),
            ("1.5", Nanos, too_many(0, Nanos)),
            ("1.0000001", Millis, too_many(6, Millis)),
            ("1.0000000000", Seconds, too_many(9, Seconds)),
        ] {
            assert_eq!(
                parse_time(text.as_bytes(), unit),
                Err(error),
                "{text} {unit}"
            );
        }
    }

    #[test]
    fn date_times_count_from_1970_in_utc() {
        let at = 1_700_158_623 * SECOND;
        for (text, nanos) in [
            ("1970-01-01 00:00:00", 0),
            ("2023-11-16 18:17:03.9799600", at + 979_960_000),
            ("2023-11-16T18:17:03Z", at),
            ("2023-11-16t18:17:03z", at),
            ("2023-11-16 18:17:03", at),
            ("2023-11-16T20:17:03+02:00", at),
            ("2023-11-16T12:47:03.5-05:30", at + SECOND / 2),
            ("2023-11-16 18:17:03.123456789Z", at + 123_456_789),
            ("1969-12-31T23:00:00-01:00", 0),
            ("2016-12-31T23:59:60Z", 1_483_228_800 * SECOND),
            ("2024-02-29 00:00:00", 1_709_164_800 * SECOND),
        ] {
            assert_eq!(parse_time(text.as_bytes(), Millis), Ok(nanos), "{text}");
        }
    }

    #[test]
    fn what_is_no_date_time_says_why() {
        for (text, error) in [
            ("2023-11-16", TimeError::Malformed(Millis)),
            ("2023-11-16 18:17", TimeError::Malformed(Millis)),
            ("2023-11-16 18:17:03.", TimeError::Malformed(Millis)),
            ("2023-11-16 18:17:03+0200", TimeError::Malformed(Millis)),
            ("2023-11-16 18:17:03 UTC", TimeError::Malformed(Millis)),
            ("2023-02-29 00:00:00", TimeError::Malformed(Millis)),
            ("2023-13-01 00:00:00", TimeError::Malformed(Millis)),
            ("2023-11-16 24:00:00", TimeError::Malformed(Millis)),
            ("2023-11-16 18:17:03+24:00", TimeError::Malformed(Millis)),
            ("1969-12-31 23:59:59", TimeError::OutOfRange),
            ("1970-01-01T00:00:00+00:01", TimeError::OutOfRange),
            ("2554-07-21 23:34:34", TimeError::OutOfRange),
            ("9999-12-31 23:59:59", TimeError::OutOfRange),
            (
                "2023-11-16 18:17:03.1234567890",
                TimeError::TooManyDecimals {
                    most: 9,
                    unit: Seconds,
                },
            ),
        ] {
            assert_eq!(parse_time(text.as_bytes(), Millis), Err(error), "{text}");
        }
    }

    #[test]
    fn times_of_access_logs() {
        for (text, result) in [
            ("12/May/2024:00:00:17 +0000", Ok(1_715_472_017 * SECOND)),
            ("12/May/2024:02:00:17 +0200", Ok(1_715_472_017 * SECOND)),
            ("11/May/2024:18:30:17 -0530", Ok(1_715_472_017 * SECOND)),
            ("01/Jan/1970:00:00:00 +0001", Err(TimeError::OutOfRange)),
            ("12/may/2024:00:00:17 +0000", Err(TimeError::MalformedClf)),
            ("31/Jun/2024:00:00:17 +0000", Err(TimeError::MalformedClf)),
            ("12/May/2024:00:00:17", Err(TimeError::MalformedClf)),
            ("12/May/2024:00:00:17 +0000 ", Err(TimeError::MalformedClf)),
            ("", Err(TimeError::MalformedClf)),
        ] {
            assert_eq!(parse_clf_time(text.as_bytes()), result, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_time_or_an_error(text: Vec<u8>, digits in "[0-9.:TZ+ /-]{0,40}") {
            for unit in [Nanos, Micros, Millis, Seconds] {
                let _ = parse_time(&text, unit);
                let _ = parse_time(digits.as_bytes(), unit);
            }
            let _ = parse_clf_time(&text);
            let _ = parse_clf_time(digits.as_bytes());
        }

        #[test]
        fn every_instant_comes_back_from_each_way_to_write_it(nanos: u64) {
            for (unit, length, width) in [(Micros, 1_000, 3), (Millis, 1_000_000, 6), (Seconds, SECOND, 9)] {
                let decimal = format!("{}.{:0width$}", nanos / length, nanos % length);
                prop_assert_eq!(parse_time(decimal.as_bytes(), unit), Ok(nanos));
            }
            let whole = nanos.to_string();
            prop_assert_eq!(parse_time(whole.as_bytes(), Nanos), Ok(nanos));
            // jiff, which knows the calendar, writes the date-times.
            let instant = jiff::Timestamp::from_nanosecond(i128::from(nanos)).unwrap();
            prop_assert_eq!(parse_time(instant.to_string().as_bytes(), Millis), Ok(nanos));
            let zoned = instant.strftime("%d/%b/%Y:%H:%M:%S +0000").to_string();
            prop_assert_eq!(parse_clf_time(zoned.as_bytes()), Ok(nanos - nanos % SECOND));
        }
    }
}
