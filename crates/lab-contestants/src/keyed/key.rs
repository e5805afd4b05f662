//! The keys of the laboratory: text as services have it, and one word.

use std::fmt::Debug;
use std::hash::Hash;

use rate_net::{Decision, RateLimiter};
use serde::Deserialize;
use windowpane_keyed::KeyOf;

/// What keys are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum KeyType {
    /// Text of fifteen bytes.
    String,
    /// A word.
    #[serde(rename = "u64")]
    Word,
}

impl KeyType {
    /// The word in tables and CSV.
    pub const fn word(self) -> &'static str {
        match self {
            KeyType::String => "String",
            KeyType::Word => "u64",
        }
    }
}

/// A key, and how stores are asked that do not take any type.
pub trait LabKey: KeyOf<Self::Found> + Clone + Debug + Send + Sync + 'static {
    /// What it is found by.
    type Found: Hash + Eq + ?Sized;

    /// Which of the types of keys it is.
    const TYPE: KeyType;

    /// The key of a number; different numbers are different keys.
    fn nth(number: u64) -> Self;

    /// Its text, where it is one.
    fn text(&self) -> Option<&str>;

    /// Asks rate-net, without an owned key where it can do without.
    fn ask_rate_net<C: clock_lib::Clock + Clone>(&self, limiter: &RateLimiter<C>) -> Decision;

    /// As what it is found by.
    #[inline]
    fn found(&self) -> &Self::Found {
        self.borrow()
    }
}

impl LabKey for String {
    type Found = str;

    const TYPE: KeyType = KeyType::String;

    fn nth(number: u64) -> String {
        format!("client-{number:08}")
    }

    fn text(&self) -> Option<&str> {
        Some(self)
    }

    #[inline]
    fn ask_rate_net<C: clock_lib::Clock + Clone>(&self, limiter: &RateLimiter<C>) -> Decision {
        limiter.check_bytes(self.as_bytes())
    }
}

impl LabKey for u64 {
    type Found = u64;

    const TYPE: KeyType = KeyType::Word;

    fn nth(number: u64) -> u64 {
        // Spread out as identifiers are, and still each another: the multiplier is odd.
        number.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    fn text(&self) -> Option<&str> {
        None
    }

    #[inline]
    fn ask_rate_net<C: clock_lib::Clock + Clone>(&self, limiter: &RateLimiter<C>) -> Decision {
        limiter.check(*self)
    }
}
