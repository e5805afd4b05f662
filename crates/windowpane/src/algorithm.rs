//! For authors of algorithms, stores and middleware. Programs that only limit need none of it.
//!
//! An algorithm implements [`RateLimiter`]. Its caller gives the time, and a [`Decision`] is a value:
//! a denial is `Ok` here. [`Limiter::of`](crate::Limiter::of) adds a clock, and turns each decision
//! into a result that is `Ok` only if the caller may go on.
//!
//! | to | implement |
//! |---|---|
//! | decide for one key | [`RateLimiter`] |
//! | be built from quotas alone, so that [`Limiter::new`](crate::Limiter::new) works | [`FromQuotas`] |
//! | change quotas while in use | [`ChangeQuotas`] |
//! | replace an estimated cost | [`Settle`] |
//! | keep many keys in this process | [`KeyedRateLimiter`], [`KeyedSettle`] |
//! | keep many keys on another machine | [`AsyncKeyedRateLimiter`], [`AsyncKeyedSettle`] |
//!
//! ```
//! use windowpane::CasRing;
//! use windowpane::algorithm::{Cost, Decision, FromQuotas, RateLimiter};
//!
//! let ring = CasRing::from_quotas(&"1/10s".parse()?, 0)?;
//! let now = 5_000_000_000; // nanoseconds
//! assert_eq!(ring.decide_at(now, Cost::ONE)?, Decision::Allowed { at: now });
//! let denial = ring.decide_at(now, Cost::ONE)?.denied().unwrap();
//! assert_eq!(denial.retry_after_nanos(), Some(10_000_000_000));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[doc(inline)]
pub use windowpane_core::{
    Answer, AsyncKeyedRateLimiter, AsyncKeyedSettle, ChangeQuotas, Charge, Cost, Decision, Denial,
    Detailed, FromQuotas, KeyedRateLimiter, KeyedSettle, Local, MAX_WINDOW, PerQuota, RateLimiter,
    RequestError, Settle, StoreError, format_nanos, parse_nanos,
};
