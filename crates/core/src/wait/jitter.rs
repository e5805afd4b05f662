//! Random jitter on top of a wait.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::clock::Nanos;

/// Random jitter in `0..=most`, added to a `retry_after` that many callers received at once.
///
/// All callers denied at one moment receive the same `retry_after`. Without jitter they all come
/// back at that moment, and most are denied again. Jitter is added to the wait, so no caller comes
/// back early. It is for callers that wait independently, such as the clients of a server that sends
/// `Retry-After`. The waiters of one [`Queue`](super::Queue) need none: only its head comes back.
///
/// ```
/// use std::time::Duration;
/// use windowpane_core::wait::Jitter;
///
/// let jitter = Jitter::up_to(Duration::from_millis(250));
/// let wait = jitter.after(Duration::from_secs(2));
/// assert!((2_000..=2_250).contains(&wait.as_millis()));
/// ```
#[derive(Debug)]
pub struct Jitter {
    most: Nanos,
    state: AtomicU64,
}

impl Jitter {
    /// Jitter up to `most`, with a random seed.
    pub fn up_to(most: Duration) -> Jitter {
        Jitter::seeded(most, RandomState::new().hash_one(0))
    }

    /// Jitter up to `most`, the same sequence for the same seed: for tests and simulations.
    pub fn seeded(most: Duration, seed: u64) -> Jitter {
        Jitter {
            most: u64::try_from(most.as_nanos()).unwrap_or(u64::MAX),
            state: AtomicU64::new(seed),
        }
    }

    /// The next jitter in nanoseconds, uniform from 0 to the maximum.
    pub fn draw(&self) -> Nanos {
        // SplitMix64: good enough to spread callers, and one addition is all its state.
        const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
        let state = self.state.fetch_add(STEP, Ordering::Relaxed);
        let mut z = state.wrapping_add(STEP);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        ((u128::from(z) * (u128::from(self.most) + 1)) >> 64) as u64
    }

    /// `wait` plus the next jitter.
    pub fn after(&self, wait: Duration) -> Duration {
        wait.saturating_add(Duration::from_nanos(self.draw()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jitter_is_uniform_up_to_its_maximum() {
        let jitter = Jitter::seeded(Duration::from_nanos(9), 7);
        let mut seen = [0_u32; 10];
        for _ in 0..10_000 {
            seen[jitter.draw() as usize] += 1;
        }
        assert!(
            seen.iter().all(|count| (800..1_200).contains(count)),
            "{seen:?}"
        );
        assert_eq!(Jitter::seeded(Duration::ZERO, 7).draw(), 0);
        let longest = Jitter::up_to(Duration::MAX);
        assert_eq!(longest.after(Duration::MAX), Duration::MAX);
        assert_ne!(longest.draw(), longest.draw());
        assert_ne!(
            Jitter::up_to(Duration::MAX).draw(),
            Jitter::up_to(Duration::MAX).draw()
        );
    }

    /// The generator is SplitMix64 as published: its first numbers for the seed 1234567.
    #[test]
    fn jitter_is_that_of_the_published_generator() {
        let jitter = Jitter::seeded(Duration::MAX, 1_234_567);
        for published in [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ] {
            assert_eq!(jitter.draw(), published);
        }
    }
}
