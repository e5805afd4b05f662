//! Pages to read. Programs cannot name these modules: they exist in the documentation alone.

#[doc = include_str!("links.md")]
#[doc = include_str!("../WHICH.md")]
pub mod which_one {}

#[doc = include_str!("links.md")]
#[cfg_attr(
    any(not(doctest), all(feature = "keyed", feature = "tokio")),
    doc = include_str!("../COMING_FROM.md")
)]
pub mod coming_from {}

#[doc = include_str!("links.md")]
#[doc = include_str!("../CHANGELOG.md")]
pub mod changelog {}

/// The page at the top of the repository, for its programs.
#[cfg(all(doctest, feature = "keyed", feature = "mutex-log", feature = "tokio"))]
#[doc = include_str!("../../../README.md")]
pub mod repository {}

/// Programs that must not compile, each beside one that does.
///
/// A result that is dropped limits nothing:
///
/// ```
/// #![deny(unused_must_use)]
/// let limiter = windowpane::limiter("100/60s").unwrap();
/// let _ = limiter.try_acquire();
/// ```
///
/// ```compile_fail
/// #![deny(unused_must_use)]
/// let limiter = windowpane::limiter("100/60s").unwrap();
/// limiter.try_acquire();
/// ```
///
/// A cost of 0:
///
/// ```
/// let cost = windowpane::algorithm::Cost::of::<1>();
/// assert_eq!(cost.get(), 1);
/// ```
///
/// ```compile_fail,E0080
/// let cost = windowpane::algorithm::Cost::of::<0>();
/// assert_eq!(cost.get(), 0);
/// ```
///
/// Settling a reservation twice:
///
/// ```
/// # #[cfg(feature = "mutex-log")] {
/// let limiter = windowpane::Limiter::<windowpane::MutexLog>::new("100/60s").unwrap();
/// let reservation = limiter.try_reserve(10).unwrap();
/// reservation.settle(3);
/// assert_eq!(limiter.remaining(), 97);
/// # }
/// ```
///
/// ```compile_fail,E0382
/// let limiter = windowpane::Limiter::<windowpane::MutexLog>::new("100/60s").unwrap();
/// let reservation = limiter.try_reserve(10).unwrap();
/// reservation.settle(3);
/// reservation.settle(3);
/// ```
///
/// A constant quota without a window:
///
/// ```
/// use std::time::Duration;
/// const QUOTA: windowpane::Quota = windowpane::Quota::new(100, Duration::from_secs(60));
/// assert_eq!(QUOTA.to_string(), "100/60s");
/// ```
///
/// ```compile_fail,E0080
/// use std::time::Duration;
/// const QUOTA: windowpane::Quota = windowpane::Quota::new(100, Duration::ZERO);
/// assert_eq!(QUOTA.to_string(), "100/0s");
/// ```
#[cfg(doctest)]
pub mod does_not_compile {}
