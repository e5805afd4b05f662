//! The default hasher of stores.

use std::fmt;
use std::hash::{BuildHasher, Hasher};

/// The default hasher: that of the crate `ahash`, with seeds of its own in every store.
///
/// Clients choose their keys, so they must not be able to choose many that collide. The 256 bits
/// that seed this hasher come from the operating system when the process starts, and differ from
/// store to store. No hash leaves the store.
///
/// | hasher | its authors on chosen keys |
/// |---|---|
/// | `std::hash::RandomState` (SipHash-1-3) | a keyed pseudo-random function, studied for a decade |
/// | `ahash::RandomState` | made to withstand an adversary who does not know the keys; not proven, and not studied as SipHash is |
/// | `foldhash` | resists the simplest attacks alone; an attacker who observes timing may learn the seed |
/// | `rapidhash` | "minimal" resistance |
///
/// The second one is made to withstand an attack, and not only seeded. The published runs compare
/// the first two as `governor` and `governor-ahash`: the same store with either.
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
#[derive(Clone, Default)]
pub struct DefaultHasher(ahash::RandomState);

impl DefaultHasher {
    /// A hasher with seeds from the operating system.
    pub fn new() -> DefaultHasher {
        DefaultHasher::default()
    }

    /// A hasher with the given seeds, for tests that must repeat. With seeds that a client can
    /// guess, it is not safe against chosen keys.
    pub const fn with_seeds(a: u64, b: u64, c: u64, d: u64) -> DefaultHasher {
        DefaultHasher(ahash::RandomState::with_seeds(a, b, c, d))
    }
}

impl BuildHasher for DefaultHasher {
    type Hasher = KeyHasher;

    #[inline]
    fn build_hasher(&self) -> KeyHasher {
        KeyHasher(self.0.build_hasher())
    }
}

/// Shows no seed.
impl fmt::Debug for DefaultHasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DefaultHasher").finish_non_exhaustive()
    }
}

/// The hash of one key in the making, by a [`DefaultHasher`].
#[derive(Clone)]
pub struct KeyHasher(ahash::AHasher);

macro_rules! forward {
    ($($write:ident: $number:ty),*) => {$(
        #[inline]
        fn $write(&mut self, number: $number) {
            self.0.$write(number);
        }
    )*};
}

impl Hasher for KeyHasher {
    #[inline]
    fn finish(&self) -> u64 {
        self.0.finish()
    }

    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    forward!(write_u8: u8, write_u16: u16, write_u32: u32, write_u64: u64, write_u128: u128, write_usize: usize);
}

impl fmt::Debug for KeyHasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyHasher").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The hasher only hides a type: a hash must not become slower or weaker on the way.
    #[test]
    fn it_hashes_as_ahash_does_with_the_same_seeds() {
        let (ours, theirs) = (
            DefaultHasher::with_seeds(1, 2, 3, 4),
            ahash::RandomState::with_seeds(1, 2, 3, 4),
        );
        assert_eq!(ours.hash_one("a key"), theirs.hash_one("a key"));
        assert_eq!(ours.hash_one((1u8, 2u16)), theirs.hash_one((1u8, 2u16)));
        assert_eq!(ours.hash_one((3u32, 4u64)), theirs.hash_one((3u32, 4u64)));
        assert_eq!(
            ours.hash_one((5u128, 6usize)),
            theirs.hash_one((5u128, 6usize))
        );
        assert_eq!(ours.hash_one(-7i64), theirs.hash_one(-7i64));
    }

    #[test]
    fn two_stores_hash_differently() {
        assert_ne!(
            DefaultHasher::new().hash_one(1),
            DefaultHasher::new().hash_one(1)
        );
    }

    #[test]
    fn debug_shows_no_seed() {
        let text = format!("{:?}", DefaultHasher::with_seeds(1, 2, 3, 4));
        assert_eq!(text, "DefaultHasher { .. }");
    }
}
