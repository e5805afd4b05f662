//! Who limits many keys: the stores of this workspace and their rivals, behind one adapter trait.
//!
//! All stores stand in the [table](crate::table).

mod key;

use windowpane_core::Quota;
use windowpane_lab_ground::clock::{LabClock, SimulatedClock};

use crate::table::TABLE;
use crate::{Cannot, ContestClock, Origin};

pub use key::{KeyType, LabKey};

/// What is known of a store before anything is measured.
#[derive(Clone, Copy, Debug)]
pub struct KeyedInfo {
    /// The name in every table, file name and filter.
    pub name: &'static str,
    /// Whose it is.
    pub origin: Origin,
    /// What it is, in one line.
    pub about: &'static str,
    /// The hasher of its keys.
    pub hasher: &'static str,
    /// What it cannot do; empty if nothing.
    pub cannot: &'static str,
    /// The most bytes of a key at a limit beside the key's own, roughly: what would not fit the
    /// machine is not tried.
    pub bytes_at_most: fn(u64) -> u64,
}

/// What a store is built for.
#[derive(Clone, Copy, Debug)]
pub struct Demand {
    /// The quota of every key.
    pub quota: Quota,
    /// How many keys will be live: a table of a fixed size is made for twice as many.
    pub keys: usize,
    /// The most keys that may be held, where a store has a cap.
    pub cap: usize,
}

/// One store as the laboratory runs it: the one trait that a rival's file implements.
pub trait KeyedAdapter: Send + Sync {
    /// What is known of it.
    const INFO: KeyedInfo;

    /// Builds it on a clock.
    ///
    /// # Errors
    /// [`Cannot`] if it cannot express the demand.
    fn on_clock<K: LabKey, C: ContestClock>(
        demand: Demand,
        clock: C,
    ) -> Result<impl DecideKeyed<K> + 'static, Cannot>;
}

/// What a store tells of itself; `None` where it does not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Keys that are held.
    pub keys: Option<u64>,
    /// Keys that made room for others.
    pub evictions: Option<u64>,
    /// Requests of unknown keys that found no room.
    pub refusals: Option<u64>,
    /// Entries examined to find room.
    pub examined: Option<u64>,
    /// The most of them in one call.
    pub most_examined: Option<u64>,
}

/// The decision of one built store. Implementations inline, and pass what the store answered,
/// whole, through [`std::hint::black_box`].
pub trait DecideKeyed<K>: Send + Sync {
    /// Decides a request of cost 1 for `key` now; whether it was allowed.
    fn decide(&self, key: &K) -> bool;

    /// What it tells of itself.
    fn counts(&self) -> Counts {
        Counts::default()
    }

    /// Does what its users are told to do now and then against keys that do not come back; whether
    /// there is such a thing, and nothing does it for them.
    fn tidy(&self) -> bool {
        false
    }
}

/// A built store of whichever type. One virtual call runs many decisions.
pub trait KeyedInstance<K>: Send + Sync {
    /// Makes a decision for each of `picks`, which are places in `keys`; how many were allowed.
    fn batch(&self, keys: &[K], picks: &[u32]) -> u32;

    /// As [`DecideKeyed::counts`].
    fn counts(&self) -> Counts;

    /// As [`DecideKeyed::tidy`].
    fn tidy(&self) -> bool;
}

impl<K, D: DecideKeyed<K>> KeyedInstance<K> for D {
    fn batch(&self, keys: &[K], picks: &[u32]) -> u32 {
        let decide = |pick: &u32| u32::from(self.decide(&keys[*pick as usize]));
        picks.iter().map(decide).sum()
    }

    fn counts(&self) -> Counts {
        DecideKeyed::counts(self)
    }

    fn tidy(&self) -> bool {
        DecideKeyed::tidy(self)
    }
}

/// A built store, or why there is none.
pub type Built<K> = Result<Box<dyn KeyedInstance<K>>, Cannot>;

/// One store, as the measurements see it. Every [`KeyedAdapter`] is one.
pub trait KeyedContestant: Send + Sync {
    /// What is known of it.
    fn info(&self) -> KeyedInfo;

    /// Builds it for keys of text.
    ///
    /// # Errors
    /// [`Cannot`] if it cannot express the demand.
    fn of_strings(&self, demand: Demand, clock: LabClock) -> Built<String>;

    /// Builds it for keys of one word.
    ///
    /// # Errors
    /// [`Cannot`] if it cannot express the demand.
    fn of_words(&self, demand: Demand, clock: LabClock) -> Built<u64>;
}

/// A store that is built for any type of key and clock. Every [`KeyedAdapter`] is one.
pub(crate) trait KeyedOnClock: Send + Sync {
    fn info(&self) -> KeyedInfo;

    fn on_clock<K: LabKey, C: ContestClock>(
        &self,
        demand: Demand,
        clock: C,
    ) -> Result<impl DecideKeyed<K> + 'static, Cannot>;
}

impl<A: KeyedAdapter> KeyedOnClock for A {
    fn info(&self) -> KeyedInfo {
        A::INFO
    }

    fn on_clock<K: LabKey, C: ContestClock>(
        &self,
        demand: Demand,
        clock: C,
    ) -> Result<impl DecideKeyed<K> + 'static, Cannot> {
        A::on_clock::<K, C>(demand, clock)
    }
}

fn build<S: KeyedOnClock, K: LabKey>(store: &S, demand: Demand, clock: LabClock) -> Built<K> {
    Ok(match clock {
        LabClock::Bench(clock) => Box::new(store.on_clock::<K, _>(demand, clock)?),
        LabClock::Stalling(_) => {
            return Err(Cannot(
                "stores of many keys are not measured with stalls".into(),
            ));
        }
        LabClock::Simulated => Box::new(store.on_clock::<K, _>(demand, SimulatedClock)?),
    })
}

impl<S: KeyedOnClock> KeyedContestant for S {
    fn info(&self) -> KeyedInfo {
        KeyedOnClock::info(self)
    }

    fn of_strings(&self, demand: Demand, clock: LabClock) -> Built<String> {
        build(self, demand, clock)
    }

    fn of_words(&self, demand: Demand, clock: LabClock) -> Built<u64> {
        build(self, demand, clock)
    }
}

/// Returns all stores: ours, then the rivals'.
pub fn all() -> Vec<&'static dyn KeyedContestant> {
    TABLE.stores()
}
