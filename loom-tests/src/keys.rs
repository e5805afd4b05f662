//! Stores of keys under scripts, and limiters for each key to compare them with.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hasher};
use std::sync::Mutex;

use windowpane_baselines::{FixedWindow, FixedWindowRule};
use windowpane_core::clock::ManualClock;
use windowpane_core::one_word::OneWordRule;
use windowpane_core::{Answer as Looked, Cost, Decision, Nanos, Quotas, RateLimiter, StoreError};

use crate::run::{Answer, Callee, TickingClock};
use crate::script::{Call, Script};

/// What a script asks of a store.
pub trait Keys: Send + Sync + 'static {
    /// `decide_at`.
    ///
    /// # Errors
    /// The store's.
    fn decide_at(&self, key: u64, now: Nanos, cost: Cost) -> Result<Decision, StoreError>;

    /// `peek_at`.
    ///
    /// # Errors
    /// The store's.
    fn peek_at(&self, key: u64, now: Nanos, cost: Cost) -> Result<Looked, StoreError>;

    /// `reset`.
    fn reset(&self, key: u64);

    /// `sweep_at`.
    fn sweep_at(&self, now: Nanos);

    /// `clear`.
    ///
    /// # Panics
    /// If the store has no such call.
    fn clear(&self);
}

/// Implements [`Keys`] for a flat table or, if it says `store`, a store of limiters, shipped or a mutant.
macro_rules! as_keys {
    ($table:path) => {
        as_keys!(
            $table,
            |_: &Of| panic!("a flat table has no `clear`"),
            windowpane_baselines::FixedWindowRule,
            $crate::keys::PlainHashes,
            windowpane_core::clock::ManualClock
        );
    };
    (store $store:path) => {
        as_keys!(
            $store,
            Of::clear,
            u64,
            windowpane_baselines::FixedWindow,
            $crate::keys::PlainHashes,
            windowpane_core::clock::ManualClock
        );
    };
    ($table:path, $clear:expr, $($of:ty),*) => {
        const _: () = {
            use windowpane_core as core_;
            use $table as Table;
            type Of = Table<$($of),*>;

            impl $crate::keys::Keys for Of {
                fn decide_at(
                    &self,
                    key: u64,
                    now: core_::Nanos,
                    cost: core_::Cost,
                ) -> Result<core_::Decision, core_::StoreError> {
                    Of::decide_at(self, &key, now, cost)
                }

                fn peek_at(
                    &self,
                    key: u64,
                    now: core_::Nanos,
                    cost: core_::Cost,
                ) -> Result<core_::Answer, core_::StoreError> {
                    Of::peek_at(self, &key, now, cost)
                }

                fn reset(&self, key: u64) {
                    Of::reset(self, &key);
                }

                fn sweep_at(&self, now: core_::Nanos) {
                    Of::sweep_at(self, now);
                }

                fn clear(&self) {
                    ($clear)(self);
                }
            }
        };
    };
}

as_keys!(windowpane_keyed::flat::FlatTable);
as_keys!(store windowpane_keyed::KeyedLimiter);

/// The store that ships, as schedules take it.
pub type KeyedLimiter = windowpane_keyed::KeyedLimiter<u64, FixedWindow, PlainHashes, ManualClock>;

/// The table that ships, as models take it.
pub type FlatTable = windowpane_keyed::flat::FlatTable<FixedWindowRule, PlainHashes, ManualClock>;

/// The parts of a flat table for a script: a rule, one block, a clock that is not read, a hasher.
///
/// # Panics
/// If the script has more than a quota.
pub fn parts(script: &Script) -> (FixedWindowRule, usize, ManualClock, PlainHashes) {
    let quota = script.quotas().single("fixed-window").expect("one quota");
    let rule = FixedWindowRule::new(quota, 0).expect("a window");
    (rule, 1, ManualClock::new(0), PlainHashes)
}

/// A store that scripts are played on.
pub struct Store<T>(pub T);

impl<T: Keys> Callee for Store<T> {
    fn make(&self, call: Call, _clock: &TickingClock) -> Answer {
        make(&self.0, call)
    }
}

fn make(store: &impl Keys, call: Call) -> Answer {
    match call {
        Call::AcquireOf { key, now, cost } => Answer::OfKey(store.decide_at(key, now, cost)),
        Call::PeekOf { key, now, cost } => {
            Answer::LookAtKey(store.peek_at(key, now, cost).map(|looked| looked.detailed))
        }
        Call::ResetOf { key } => {
            store.reset(key);
            Answer::Done
        }
        Call::Sweep { now } => {
            store.sweep_at(now);
            Answer::Done
        }
        Call::Clear => {
            store.clear();
            Answer::Done
        }
        _ => panic!("{call:?} is no call to a store of keys"),
    }
}

/// What says which answers of a store are right.
pub enum KeyEach {
    /// A limiter for each key, none of which is ever forgotten.
    Limiters(Quotas, Mutex<BTreeMap<u64, FixedWindow>>),
    /// The store, used by one thread.
    Itself(FlatTable),
}

impl KeyEach {
    pub(crate) fn limiters(quotas: Quotas) -> KeyEach {
        KeyEach::Limiters(quotas, Mutex::default())
    }

    pub(crate) fn itself(script: &Script) -> KeyEach {
        let (rule, entries, clock, hasher) = parts(script);
        KeyEach::Itself(FlatTable::with_rule(rule, entries, clock, hasher))
    }
}

impl Callee for KeyEach {
    fn make(&self, call: Call, _clock: &TickingClock) -> Answer {
        let (quotas, limiters) = match self {
            KeyEach::Itself(table) => return make(table, call),
            KeyEach::Limiters(quotas, limiters) => (quotas, limiters),
        };
        let mut limiters = limiters.lock().expect("one thread alone");
        if call == Call::Clear {
            limiters.clear();
            return Answer::Done;
        }
        let Some(key) = call.key() else {
            // A sweep: it changes nothing for any key.
            return Answer::Done;
        };
        let new = || FixedWindow::new(quotas.clone()).expect("a window");
        let limiter = limiters.entry(key).or_insert_with(new);
        match call {
            Call::AcquireOf { now, cost, .. } => {
                Answer::OfKey(limiter.decide_at(now, cost).map_err(StoreError::from))
            }
            Call::PeekOf { now, cost, .. } => {
                Answer::LookAtKey(limiter.peek_at(now, cost).map_err(StoreError::from))
            }
            Call::ResetOf { .. } => {
                limiter.reset();
                Answer::Done
            }
            _ => panic!("{call:?} is no call to a store of keys"),
        }
    }
}

/// Hashes by which a script knows where keys stand: of the two entries that models have, even keys
/// go to the first one first, odd keys to the second.
#[derive(Clone, Copy, Debug)]
pub struct PlainHashes;

/// A number, doubled.
#[derive(Clone, Copy, Debug)]
pub struct PlainHash(u64);

impl BuildHasher for PlainHashes {
    type Hasher = PlainHash;

    fn build_hasher(&self) -> PlainHash {
        PlainHash(0)
    }
}

impl Hasher for PlainHash {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _bytes: &[u8]) {
        panic!("keys of models are numbers");
    }

    fn write_u64(&mut self, key: u64) {
        // The lowest bit is no part of a fingerprint, the one above chooses the entry.
        self.0 = 2 * key;
    }
}
