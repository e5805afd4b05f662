//! One quota: at most so many permits, or requests, in any window.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::clock::Nanos;
use crate::cost::Cost;
use crate::error::QuotaError;
use crate::window::{MAX_WINDOW, format_nanos, parse_nanos};

/// What a quota counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
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
/// let quota: Quota = "100/60s".parse()?;
/// assert_eq!(quota, Quota::permits(100, Duration::from_secs(60))?);
/// assert_eq!(quota.to_string(), "100/60s");
/// # Ok::<(), windowpane_core::QuotaError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Quota {
    limit: u64,
    window: Nanos,
    unit: Unit,
}

impl Quota {
    /// A quota of `limit` permits in any `window`. A limit of 0 denies everything.
    ///
    /// # Errors
    /// [`QuotaError::ZeroWindow`], or [`QuotaError::WindowTooLong`] above 365 days.
    pub fn permits(limit: u64, window: Duration) -> Result<Quota, QuotaError> {
        let nanos = u64::try_from(window.as_nanos()).unwrap_or(u64::MAX);
        Quota::from_nanos(limit, nanos, Unit::Permits)
    }

    /// A quota of `limit` requests in any `window`, whatever each costs.
    ///
    /// # Errors
    /// [`QuotaError::ZeroWindow`], or [`QuotaError::WindowTooLong`] above 365 days.
    pub fn requests(limit: u64, window: Duration) -> Result<Quota, QuotaError> {
        let nanos = u64::try_from(window.as_nanos()).unwrap_or(u64::MAX);
        Quota::from_nanos(limit, nanos, Unit::Requests)
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
        // `u64::from_str` accepts a leading `+`, which nobody means in a quota.
        if !limit.bytes().all(|b| b.is_ascii_digit()) {
            return Err(malformed());
        }
        let limit = limit.parse().map_err(|_| malformed())?;
        Quota::from_nanos(limit, parse_nanos(window)?, unit)
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
