//! The hasher that a store takes unless told otherwise.

/// The default hasher: [`ahash`], with keys of its own in every store.
///
/// Keys come from whom is to be limited, so he must not be able to choose many that collide. The
/// 256 bits that this hasher is keyed with come from the operating system when the process starts
/// and differ from store to store; no hash leaves the store.
///
/// | hasher | what its authors say of chosen keys |
/// |---|---|
/// | `std::hash::RandomState` (SipHash-1-3) | a keyed pseudo-random function, studied for a decade |
/// | `ahash::RandomState` | made to withstand an adversary who does not know the keys; not proven, and not studied as SipHash is |
/// | `foldhash` | resists the simplest attacks alone; an attacker who observes timing may learn the seed |
/// | `rapidhash` | "minimal" resistance |
///
/// The second means to withstand an attack, and not only to be seeded. What the first costs beside
/// it is in the published runs, as `governor` beside `governor-ahash`: the same store with either.
/// In `results/2026-11-30-amd-epyc-2-cores-7th`, String keys, 1 thread, the second was 1.47 times as
/// fast on one hot key, allowed. On the other workloads no difference was shown above the noise.
///
/// To use the first, change one type:
///
/// ```
/// use std::hash::RandomState;
/// use windowpane_cas_ring::CasRing;
/// use windowpane_core::Quotas;
/// use windowpane_keyed::KeyedLimiter;
///
/// let limiter: KeyedLimiter<String, CasRing, RandomState> =
///     KeyedLimiter::builder(Quotas::parse(["100/60s"])?)
///         .hasher(RandomState::new())
///         .build()?;
/// limiter.try_acquire("alice")?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type DefaultHasher = ahash::RandomState;
