//! Date-times, and the times of access logs: texts of fixed places.

use jiff::civil::Date;
use windowpane_core::Nanos;

use crate::time::{TimeError, TimeUnit, in_unit, leading_digits};

/// Reads the time of an access log, without its brackets: `12/May/2024:00:00:17 +0000`.
///
/// # Errors
/// [`TimeError::MalformedClf`], [`TimeError::OutOfRange`].
pub(crate) fn parse_clf_time(text: &[u8]) -> Result<Nanos, TimeError> {
    let mut rest = Scanner(text);
    let seconds = log_seconds(&mut rest).and_then(|seconds| {
        let offset = log_offset(&mut rest)?;
        rest.0.is_empty().then_some(seconds - offset)
    });
    from_seconds(seconds.ok_or(TimeError::MalformedClf)?, 0)
}

/// The same with decimals of the second, and without an offset in UTC: `06/Feb/2009:12:14:14.655`.
///
/// # Errors
/// [`TimeError::MalformedClf`], [`TimeError::TooManyDecimals`], [`TimeError::OutOfRange`].
pub(crate) fn parse_log_time(text: &[u8]) -> Result<Nanos, TimeError> {
    let mut rest = Scanner(text);
    let seconds = log_seconds(&mut rest).ok_or(TimeError::MalformedClf)?;
    let mut nanos = 0;
    if rest.one_of(b".").is_some() {
        let (decimals, after) = rest.0.split_at(leading_digits(rest.0));
        rest = Scanner(after);
        nanos = in_unit(b"0", decimals, TimeUnit::Seconds)?;
    }
    let offset = match rest.0.is_empty() {
        true => 0,
        false => log_offset(&mut rest).ok_or(TimeError::MalformedClf)?,
    };
    match rest.0.is_empty() {
        true => from_seconds(seconds - offset, nanos),
        false => Err(TimeError::MalformedClf),
    }
}

/// `12/May/2024:00:00:17`, in seconds.
#[inline]
fn log_seconds(rest: &mut Scanner<'_>) -> Option<i64> {
    let day = rest.number(2)?;
    rest.one_of(b"/")?;
    let month = rest.month()?;
    rest.one_of(b"/")?;
    let year = rest.number(4)?;
    rest.one_of(b":")?;
    let clock = rest.clock()?;
    Some(days_since_1970(year, month, day)? * 86_400 + clock)
}

/// ` +0200`, in seconds.
#[inline]
fn log_offset(rest: &mut Scanner<'_>) -> Option<i64> {
    rest.one_of(b" ")?;
    let sign = rest.one_of(b"+-")?;
    offset(sign, rest.number(2)?, rest.number(2)?)
}

/// Reads `YYYY-MM-DD HH:MM:SS[.FRACTION][Z|+HH:MM|-HH:MM]`; `unit` is what a number would have had.
pub(crate) fn date_time(text: &[u8], unit: TimeUnit) -> Result<Nanos, TimeError> {
    let malformed = TimeError::Malformed(unit);
    let mut rest = Scanner(text);
    let to_the_second = |rest: &mut Scanner<'_>| {
        let year = rest.number(4)?;
        rest.one_of(b"-")?;
        let month = rest.number(2)?;
        rest.one_of(b"-")?;
        let day = rest.number(2)?;
        rest.one_of(b" Tt")?;
        let clock = rest.clock()?;
        Some(days_since_1970(year, month, day)? * 86_400 + clock)
    };
    let seconds = to_the_second(&mut rest).ok_or(malformed)?;

    let mut nanos = 0;
    if rest.one_of(b".").is_some() {
        let (decimals, after) = rest.0.split_at(leading_digits(rest.0));
        if decimals.is_empty() {
            return Err(malformed);
        }
        rest = Scanner(after);
        nanos = in_unit(b"0", decimals, TimeUnit::Seconds)?;
    }
    let to_the_end = |rest: &mut Scanner<'_>| {
        let offset = match rest.one_of(b"Zz+-") {
            None | Some(b'Z' | b'z') => 0,
            Some(sign) => {
                let hours = rest.number(2)?;
                rest.one_of(b":")?;
                offset(sign, hours, rest.number(2)?)?
            }
        };
        rest.0.is_empty().then_some(offset)
    };
    let offset = to_the_end(&mut rest).ok_or(malformed)?;
    from_seconds(seconds - offset, nanos)
}

#[inline]
fn from_seconds(seconds: i64, nanos: Nanos) -> Result<Nanos, TimeError> {
    u64::try_from(seconds)
        .ok()
        .and_then(|seconds| seconds.checked_mul(1_000_000_000)?.checked_add(nanos))
        .ok_or(TimeError::OutOfRange)
}

/// `None` if there is no such day.
#[inline]
fn days_since_1970(year: i64, month: i64, day: i64) -> Option<i64> {
    const EPOCH: Date = Date::constant(1970, 1, 1);
    let date = Date::new(
        i16::try_from(year).ok()?,
        i8::try_from(month).ok()?,
        i8::try_from(day).ok()?,
    );
    Some(date.ok()?.duration_since(EPOCH).as_secs() / 86_400)
}

/// An offset from UTC in seconds; `None` if it is not below 24 hours.
#[inline]
fn offset(sign: u8, hours: i64, minutes: i64) -> Option<i64> {
    let seconds = hours * 3_600 + minutes * 60;
    let offset = if sign == b'-' { -seconds } else { seconds };
    (hours < 24 && minutes < 60).then_some(offset)
}

/// What is still to be read of a text of fixed places.
struct Scanner<'a>(&'a [u8]);

impl Scanner<'_> {
    /// The next byte, if it is one of these.
    #[inline]
    fn one_of(&mut self, bytes: &[u8]) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        if !bytes.contains(first) {
            return None;
        }
        self.0 = rest;
        Some(*first)
    }

    /// A number of exactly `digits` digits, at most 18.
    #[inline]
    fn number(&mut self, digits: usize) -> Option<i64> {
        let (number, rest) = self.0.split_at_checked(digits)?;
        if leading_digits(number) < digits {
            return None;
        }
        self.0 = rest;
        Some(
            number
                .iter()
                .fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0')),
        )
    }

    /// A month by the first three letters of its English name.
    #[inline]
    fn month(&mut self) -> Option<i64> {
        const MONTHS: &[u8; 36] = b"JanFebMarAprMayJunJulAugSepOctNovDec";
        let (name, rest) = self.0.split_at_checked(3)?;
        let month = MONTHS.chunks_exact(3).position(|month| month == name)?;
        self.0 = rest;
        Some(month as i64 + 1)
    }

    /// `HH:MM:SS` as seconds. A leap second counts as the first second of the next minute.
    #[inline]
    fn clock(&mut self) -> Option<i64> {
        let hours = self.number(2)?;
        self.one_of(b":")?;
        let minutes = self.number(2)?;
        self.one_of(b":")?;
        let seconds = self.number(2)?;
        (hours < 24 && minutes < 60 && seconds <= 60)
            .then_some(hours * 3_600 + minutes * 60 + seconds)
    }
}
