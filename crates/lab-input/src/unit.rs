//! Whether numbers are likely times in another unit.

use crate::time::{TimeUnit, leading_digits, number};

/// The seconds from 1970 to 2000 and to 2100.
const LIKELY: std::ops::Range<u64> = 946_684_800..4_102_444_800;

/// Requests that are looked at.
const FIRST: u32 = 100;

/// The unit in which a number is a time of these days; `None` if there is none, or it is no number.
pub(crate) fn likely_unit(text: &[u8]) -> Option<TimeUnit> {
    let text = text.trim_ascii();
    let digits = leading_digits(text);
    let is_number = digits == text.len() || text.get(digits) == Some(&b'.');
    let whole = number(&text[..digits]).filter(|_| is_number && digits > 0)?;
    let units = [
        (TimeUnit::Seconds, 1),
        (TimeUnit::Millis, 1_000),
        (TimeUnit::Micros, 1_000_000),
        (TimeUnit::Nanos, 1_000_000_000),
    ];
    let likely = |(_, a_second): &(TimeUnit, u64)| LIKELY.contains(&(whole / a_second));
    units.into_iter().find(likely).map(|(unit, _)| unit)
}

/// Looks at the first times of an input.
#[derive(Debug)]
pub(crate) struct UnitWatch {
    unit: TimeUnit,
    seen: u32,
    likely: Option<TimeUnit>,
}

impl UnitWatch {
    pub(crate) fn new(unit: TimeUnit) -> UnitWatch {
        UnitWatch {
            unit,
            seen: 0,
            likely: None,
        }
    }

    /// Whether more times are to be looked at.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.seen < FIRST
    }

    /// Looks at a time. Returns the likely unit at the last, if all of them say so.
    pub(crate) fn see(&mut self, text: &[u8]) -> Option<TimeUnit> {
        let likely = likely_unit(text);
        if likely.is_none() || likely == Some(self.unit) || (self.seen > 0 && likely != self.likely)
        {
            self.seen = FIRST;
            self.likely = None;
            return None;
        }
        self.likely = likely;
        self.seen += 1;
        match self.is_on() {
            true => None,
            false => self.end(),
        }
    }

    /// The likely unit, after the last time of the input. It is returned once.
    pub(crate) fn end(&mut self) -> Option<TimeUnit> {
        self.seen = FIRST;
        self.likely.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_these_days_has_one_unit() {
        for (text, unit) in [
            ("1700000000", Some(TimeUnit::Seconds)),
            ("1700000000.5", Some(TimeUnit::Seconds)),
            ("1700000000000", Some(TimeUnit::Millis)),
            (" 1700000000000000 ", Some(TimeUnit::Micros)),
            ("1700000000000000000", Some(TimeUnit::Nanos)),
            ("5000", None),
            ("2023-11-16 18:17:03", None),
            ("", None),
        ] {
            assert_eq!(likely_unit(text.as_bytes()), unit, "{text}");
        }
    }

    #[test]
    fn all_times_must_be_likely_in_one_other_unit() {
        let told = |unit, times: &[&str]| {
            let mut watch = UnitWatch::new(unit);
            let seen = times.iter().find_map(|time| watch.see(time.as_bytes()));
            seen.or_else(|| watch.end())
        };
        let (s, ms) = (TimeUnit::Seconds, TimeUnit::Millis);
        assert_eq!(told(ms, &["1700000000", "1700000001"]), Some(s));
        assert_eq!(told(s, &["1700000000", "1700000001"]), None);
        assert_eq!(told(ms, &["0", "1700000001"]), None);
        assert_eq!(told(ms, &["1700000001", "5"]), None);
        assert_eq!(told(ms, &["1700000001"; 300]), Some(s));
    }
}
