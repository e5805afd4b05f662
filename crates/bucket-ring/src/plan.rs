//! How quotas are laid onto buckets, and which cannot be.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use core::iter;

use windowpane_core::{BuildError, Cost, Quota, Quotas, Unit, format_nanos};

use crate::head::{MAX_LIMIT, MAX_SLOTS};
use crate::width::{Span, Width};

/// The buckets of the longest window, unless said otherwise.
pub const DEFAULT_BUCKETS: u32 = 60;

/// The most buckets of the longest window.
pub const MAX_BUCKETS: u32 = 3_600;

pub(crate) const NAME: &str = "bucket-ring";

/// One quota, ready for decisions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rule {
    pub(crate) limit: u64,
    pub(crate) span: Span,
}

/// The quotas of a ring, laid onto its buckets.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) width: Width,
    /// The first quota and the others: most rings have one, and finding it costs nothing.
    pub(crate) first: Rule,
    pub(crate) others: Box<[Rule]>,
    pub(crate) smallest_limit: u64,
    /// The limit, if there is one quota; 0 if there are more.
    pub(crate) limit_alone: u64,
    /// What all quotas count.
    pub(crate) unit: Unit,
    /// How many buckets the longest window has.
    pub(crate) buckets: u32,
    pub(crate) quotas: Quotas,
}

impl Plan {
    /// Lays `quotas` onto `buckets` buckets of the longest window.
    ///
    /// # Errors
    /// [`BuildError`]; it says what would do.
    pub(crate) fn new(quotas: Quotas, buckets: u32) -> Result<Plan, BuildError> {
        if !(1..=MAX_BUCKETS).contains(&buckets) {
            return Err(BuildError::BucketsOutOfRange {
                given: buckets,
                max: MAX_BUCKETS,
            });
        }
        if quotas.iter().any(|quota| quota.unit() != quotas[0].unit()) {
            return Err(BuildError::MixedUnits {
                algorithm: NAME,
                quotas: quotas.to_string(),
            });
        }
        let limit = quotas.largest_limit();
        if limit > MAX_LIMIT {
            return Err(BuildError::LimitTooLarge {
                algorithm: NAME,
                limit,
                max: MAX_LIMIT,
                instead: "mutex-log",
            });
        }
        let nanos = width(&quotas, buckets);
        if let Some(&quota) = cut(&quotas, buckets) {
            return Err(BuildError::WindowNotInBuckets {
                algorithm: NAME,
                quota,
                width: nanos,
                fits: what_fits(&quotas, buckets),
            });
        }
        let width = Width::new(nanos);
        let rule = |quota: &Quota| Rule {
            limit: quota.limit(),
            span: Span::new(quota.window(), width),
        };
        Ok(Plan {
            width,
            first: rule(&quotas[0]),
            others: quotas[1..].iter().map(rule).collect(),
            limit_alone: if quotas.len() == 1 { limit } else { 0 },
            smallest_limit: quotas.iter().map(Quota::limit).min().unwrap_or(0),
            unit: quotas[0].unit(),
            buckets,
            quotas,
        })
    }

    /// One a quota, in the quotas' order.
    pub(crate) fn rules(&self) -> impl Iterator<Item = &Rule> {
        iter::once(&self.first).chain(&self.others)
    }

    /// What a request of `cost` counts, which is the same against every quota.
    #[inline]
    pub(crate) fn charge(&self, cost: Cost) -> u64 {
        match self.unit {
            Unit::Requests => 1,
            _ => cost.get(),
        }
    }

    /// The longest window.
    pub(crate) fn longest(&self) -> Span {
        let longer = |a: Span, b: &Rule| match b.span.window(self.width) > a.window(self.width) {
            true => b.span,
            false => a,
        };
        self.others.iter().fold(self.first.span, longer)
    }

    /// How many slots the ring needs: one for each bucket that may count, and one for the record
    /// of the newest, which is written while the oldest may still be read.
    pub(crate) fn slots(&self) -> u64 {
        let slots = self.longest().most() + 1;
        debug_assert!(slots <= MAX_SLOTS);
        slots
    }
}

fn width(quotas: &Quotas, buckets: u32) -> u64 {
    quotas.longest_window().div_ceil(u64::from(buckets))
}

/// The first of several quotas whose window is no whole number of buckets. One quota alone may have
/// any window.
fn cut(quotas: &Quotas, buckets: u32) -> Option<&Quota> {
    let width = width(quotas, buckets);
    let is_cut = |quota: &&Quota| quotas.len() > 1 && !quota.window().is_multiple_of(width);
    quotas.iter().find(is_cut)
}

/// Which number of buckets would do for `quotas`, as text: the next larger one, or the next smaller.
fn what_fits(quotas: &Quotas, buckets: u32) -> String {
    let larger = buckets..=MAX_BUCKETS;
    let smaller = (1..buckets).rev();
    match larger
        .chain(smaller)
        .find(|buckets| cut(quotas, *buckets).is_none())
    {
        Some(fits) => format!(
            "{fits} buckets of {} would do",
            format_nanos(width(quotas, fits))
        ),
        None => format!("no number of buckets up to {MAX_BUCKETS} would do: take mutex-log"),
    }
}
