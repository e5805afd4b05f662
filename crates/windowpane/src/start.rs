//! The default limiter, and how to make it in one line.

use windowpane_cas_ring::CasRing;
use windowpane_core::MonotonicClock;
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
use windowpane_core::{BuildError, Changeable, IntoQuotas};

/// A rate limiter for one key: an algorithm `L` with a clock `C`.
///
/// Without parameters it is the default: exact, lock-free, on the monotonic clock. [`limiter`] makes
/// it. Each call takes `&self`, so threads share it by reference or in an `Arc`. A call that takes
/// permits returns `Ok` only if the caller may go on.
///
/// ```
/// use windowpane::{AcquireError, Limiter, MutexLog};
///
/// struct Api {
///     limiter: Limiter,
/// }
///
/// let api = Api { limiter: windowpane::limiter("100/60s")? };
/// match api.limiter.try_acquire_many(3) {
///     Ok(_) => println!("go on"),
///     Err(AcquireError::Denied(denied)) => println!("wait for {:?}", denied.retry_after()),
///     Err(error) => return Err(error.into()),
/// }
///
/// // Another algorithm.
/// let log = Limiter::<MutexLog>::new("60req/60s, 100000/60s")?;
/// log.try_acquire_many(2_500)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type Limiter<L = CasRing, C = MonotonicClock> = windowpane_core::Limiter<L, C>;

/// Returns a limiter with `quotas`, such as `"100/60s"` or `"100/60s, 10/1s"`: exact, lock-free, on
/// the monotonic clock.
///
/// Its memory is 8 bytes for each permit of the largest limit. To raise a limit later, see
/// [`changeable_limiter`].
///
/// # Errors
/// [`BuildError`] if a quota is malformed, or one counts requests.
///
/// ```
/// let limiter = windowpane::limiter("100/60s, 10/1s")?;
/// for _ in 0..10 {
///     limiter.try_acquire()?;
/// }
/// assert!(limiter.try_acquire().is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
pub fn limiter(quotas: impl IntoQuotas) -> Result<Limiter, BuildError> {
    Limiter::new(quotas)
}

/// Returns a limiter as [`limiter`] does, whose quotas can be changed while threads use it. No limit
/// can exceed `max_limit`.
///
/// Its memory is 8 bytes for each permit of `max_limit`, and about a kilobyte.
///
/// # Errors
/// [`BuildError`] as for [`limiter`]; [`BuildError::CapacityTooSmall`] if a limit exceeds
/// `max_limit`.
///
/// ```
/// let limiter = windowpane::changeable_limiter("100/60s", 1_000)?;
/// limiter.try_acquire_many(100)?;
/// limiter.change("200/60s")?;
/// assert_eq!(limiter.remaining(), 100);
///
/// let error = limiter.change("2000/60s").unwrap_err().to_string();
/// assert!(error.contains("windowpane::changeable_limiter(quotas, 2000)"), "{error}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
pub fn changeable_limiter(
    quotas: impl IntoQuotas,
    max_limit: u64,
) -> Result<Limiter<Changeable<CasRing>>, BuildError> {
    let ring = CasRing::with_capacity(quotas.into_quotas()?, max_limit)?;
    Ok(Limiter::of(Changeable::new(ring)))
}
