//! One quota: a limit on the permits, or the requests, of any window.

use alloc::format;
use core::fmt;
use core::str::FromStr;
use core::time::Duration;

use crate::clock::Nanos;
use crate::cost::Cost;
use crate::window::{MAX_WINDOW, QuotaError, format_nanos, parse_nanos};

/// What a quota counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Unit {
    /// Permits: a request counts its cost.
    #[default]
    Permits,
    /// Requests: an accepted call counts 1 whatever it costs.
    Requests,
}

/// At most `limit` permits (or requests) in any `window`, the half-open `(t - window, t]`.
///
/// It is read from text and written the same way: `100/60s` counts permits, `60req/60s` requests.
///
/// ```
/// use std::time::Duration;
/// use windowpane_core::Quota;
///
/// const PER_MINUTE: Quota = Quota::per_minute(100);
///
/// let quota: Quota = "100/60s".parse()?;
/// assert_eq!(quota, PER_MINUTE);
/// assert_eq!(quota, Quota::new(100, Duration::from_secs(60)));
/// assert_eq!(quota.to_string(), "100/60s");
/// assert_eq!(PER_MINUTE.of_requests().to_string(), "100req/60s");
/// # Ok::<(), windowpane_core::QuotaError>(())
/// ```
///
/// A wrong constant does not compile:
///
/// ```compile_fail
/// use windowpane_core::Quota;
///
/// const NO_WINDOW: Quota = Quota::new(100, std::time::Duration::ZERO);
/// # let _ = NO_WINDOW;
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Quota {
    limit: u64,
    window: Nanos,
    unit: Unit,
}

impl Quota {
    /// A quota of `limit` permits in any second.
    pub const fn per_second(limit: u64) -> Quota {
        Quota::new(limit, Duration::from_secs(1))
    }

    /// A quota of `limit` permits in any 60 seconds.
    pub const fn per_minute(limit: u64) -> Quota {
        Quota::new(limit, Duration::from_secs(60))
    }

    /// A quota of `limit` permits in any hour.
    pub const fn per_hour(limit: u64) -> Quota {
        Quota::new(limit, Duration::from_secs(3_600))
    }

    /// A quota of `limit` permits in any 24 hours.
    pub const fn per_day(limit: u64) -> Quota {
        Quota::new(limit, Duration::from_secs(86_400))
    }

    /// A quota of `limit` permits in any `window`. A limit of 0 denies everything.
    ///
    /// For a window that is known when the program is compiled. [`try_new`](Self::try_new) takes
    /// any other.
    ///
    /// # Panics
    /// If the window is 0 or longer than 365 days. In a constant, that does not compile.
    pub const fn new(limit: u64, window: Duration) -> Quota {
        let nanos = window.as_nanos();
        assert!(nanos > 0, "a window is at least 1 ns");
        assert!(nanos <= MAX_WINDOW as u128, "a window is at most 365 days");
        Quota {
            limit,
            window: nanos as u64,
            unit: Unit::Permits,
        }
    }

    /// A quota of `limit` permits in any `window`. A limit of 0 denies everything.
    ///
    /// # Errors
    /// [`QuotaError::ZeroWindow`], or [`QuotaError::WindowTooLong`] above 365 days.
    pub fn try_new(limit: u64, window: Duration) -> Result<Quota, QuotaError> {
        let nanos = u64::try_from(window.as_nanos()).unwrap_or(u64::MAX);
        Quota::from_nanos(limit, nanos, Unit::Permits)
    }

    /// The same quota, counting requests: each accepted call is 1, whatever it costs.
    #[must_use]
    pub const fn of_requests(self) -> Quota {
        Quota {
            unit: Unit::Requests,
            ..self
        }
    }

    /// A quota with its window in nanoseconds.
    ///
    /// # Errors
    /// [`QuotaError::ZeroWindow`], or [`QuotaError::WindowTooLong`] above 365 days.
    pub fn from_nanos(limit: u64, window: Nanos, unit: Unit) -> Result<Quota, QuotaError> {
        match window {
            0 => Err(QuotaError::ZeroWindow),
            1..=MAX_WINDOW => Ok(Quota {
                limit,
                window,
                unit,
            }),
            _ => Err(QuotaError::WindowTooLong { window }),
        }
    }

    /// The most that fits in any window.
    pub const fn limit(&self) -> u64 {
        self.limit
    }

    /// The length of the window in nanoseconds, 1 to [`MAX_WINDOW`].
    pub const fn window(&self) -> Nanos {
        self.window
    }

    /// The length of the window.
    pub const fn window_duration(&self) -> Duration {
        Duration::from_nanos(self.window)
    }

    /// What is counted.
    pub const fn unit(&self) -> Unit {
        self.unit
    }

    /// What a request of `cost` counts against this quota: the cost, or 1 if requests are counted.
    pub const fn charge(&self, cost: Cost) -> u64 {
        match self.unit {
            Unit::Permits => cost.get(),
            Unit::Requests => 1,
        }
    }
}

impl FromStr for Quota {
    type Err = QuotaError;

    fn from_str(text: &str) -> Result<Quota, QuotaError> {
        let malformed = || QuotaError::Malformed { text: text.into() };
        let (limit, window) = text.split_once('/').ok_or_else(malformed)?;
        let (limit, unit) = match limit.strip_suffix("req") {
            Some(limit) => (limit, Unit::Requests),
            None => (limit, Unit::Permits),
        };
        // `u64::from_str` accepts a leading `+`, which a quota does not have.
        if !limit.bytes().all(|b| b.is_ascii_digit()) {
            return Err(malformed());
        }
        let limit = limit.parse().map_err(|_| malformed())?;
        Quota::from_nanos(limit, parse_nanos(window)?, unit)
    }
}

impl TryFrom<&str> for Quota {
    type Error = QuotaError;

    fn try_from(text: &str) -> Result<Quota, QuotaError> {
        text.parse()
    }
}

impl fmt::Display for Quota {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = match self.unit {
            Unit::Permits => "",
            Unit::Requests => "req",
        };
        f.pad(&format!(
            "{}{unit}/{}",
            self.limit,
            format_nanos(self.window)
        ))
    }
}

impl fmt::Debug for Quota {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Quota({self})")
    }
}
