#![doc = include_str!("../README.md")]
#![cfg_attr(not(feature = "std"), no_std)]
#![forbid(unsafe_code)]

extern crate alloc;

mod layout;
mod rule;

use windowpane_core::OneWordLimiter;

pub use rule::TwoWindowRule;

/// An approximate sliding-window limiter in one atomic word: the count of the window before,
/// weighted by how much of it the sliding window still overlaps, and the count of this one.
///
/// One quota, any cost; O(1); a denial writes nothing; one word a key. Its error is one-sided in
/// neither direction: see the crate's front page. The idea is Cloudflare's ("How we built rate
/// limiting capable of scaling to millions of domains", 2017); the arithmetic here is exact
/// integers.
///
/// ```
/// use windowpane_core::{Cost, Quotas, RateLimiter};
/// use windowpane_packed_counter::PackedCounter;
///
/// let counter = PackedCounter::new(Quotas::parse(["10/60s"])?)?;
/// let second = 1_000_000_000;
/// assert!(counter.decide_at(59 * second, Cost::of::<10>())?.is_allowed());
/// // Half of the next window is gone, so the ten weigh five.
/// assert_eq!(counter.peek_at(90 * second, Cost::ONE)?.remaining(), 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type PackedCounter = OneWordLimiter<TwoWindowRule>;
