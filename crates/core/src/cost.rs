//! What a request consumes.

use core::fmt;
use core::num::NonZeroU64;

/// The permits that one request consumes: 1 for most, more for heavy ones.
///
/// A cost of 0 cannot be expressed; to look without charging, `peek`.
///
/// ```
/// use windowpane_core::Cost;
///
/// assert_eq!(Cost::ONE.get(), 1);
/// assert_eq!(Cost::new(250).map(Cost::get), Some(250));
/// assert_eq!(Cost::new(0), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cost(NonZeroU64);

impl Cost {
    /// The cost of an ordinary request: one permit.
    pub const ONE: Cost = Cost(NonZeroU64::MIN);

    /// A cost of `permits`, or `None` if that is 0.
    pub const fn new(permits: u64) -> Option<Cost> {
        match NonZeroU64::new(permits) {
            Some(permits) => Some(Cost(permits)),
            None => None,
        }
    }

    /// A cost known when the program is compiled; 0 does not compile.
    ///
    /// ```
    /// use windowpane_core::Cost;
    /// assert_eq!(Cost::of::<5>().get(), 5);
    /// ```
    ///
    /// ```compile_fail
    /// windowpane_core::Cost::of::<0>();
    /// ```
    pub const fn of<const PERMITS: u64>() -> Cost {
        const { Cost(NonZeroU64::new(PERMITS).expect("a cost is at least 1 permit")) }
    }

    /// The number of permits.
    pub const fn get(self) -> u64 {
        self.0.get()
    }
}

impl From<NonZeroU64> for Cost {
    fn from(permits: NonZeroU64) -> Cost {
        Cost(permits)
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cost({})", self.0)
    }
}
