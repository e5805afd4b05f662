//! The arm that a model checker schedules: loom, or shuttle.
//!
//! This module has what both need. What one of them needs is in the module of its name.

#[cfg(windowpane_loom)]
#[path = "model/loom.rs"]
mod checker;
#[cfg(windowpane_shuttle)]
#[path = "model/shuttle.rs"]
mod checker;
#[cfg(windowpane_loom)]
mod loads;
pub mod steps;
mod word;

use std::fmt;
use std::marker::PhantomData;
use std::sync::Mutex as StdMutex;

use bytemuck::{AnyBitPattern, NoUninit};

use super::Ordering;
pub use checker::{Gates, Mutex, MutexGuard, ShardedLock, fence, plain};
use word::Word;

/// The model checker's copy of the `Atomic<T>` of the crate `atomic`: any plain type of at most 64 bits.
pub struct Atomic<T> {
    bits: Word,
    of: PhantomData<T>,
}

impl<T: NoUninit + AnyBitPattern> Atomic<T> {
    /// A cell that holds `value`.
    pub fn new(value: T) -> Atomic<T> {
        Atomic {
            bits: Word::new(to_bits(value)),
            of: PhantomData,
        }
    }

    /// The value.
    #[track_caller]
    pub fn load(&self, order: Ordering) -> T {
        let found = self.bits.load(order);
        steps::note("load", found.into(), None);
        from_bits(found)
    }

    /// Writes `value`.
    #[track_caller]
    pub fn store(&self, value: T, order: Ordering) {
        self.bits.store(to_bits(value), order);
        steps::note("store", 0, Some(to_bits(value).into()));
    }

    /// Writes `new` if the cell holds `current`; `Err` has what it holds.
    #[track_caller]
    pub fn compare_exchange(
        &self,
        current: T,
        new: T,
        success: Ordering,
        failure: Ordering,
    ) -> Result<T, T> {
        let (current, new) = (to_bits(current), to_bits(new));
        let exchanged = self.bits.compare_exchange(current, new, success, failure);
        note_exchange(exchanged.map(u128::from).map_err(u128::from), new.into());
        exchanged.map(from_bits).map_err(from_bits)
    }

    /// As [`compare_exchange`](Self::compare_exchange): a model checker fails no exchange spuriously.
    #[track_caller]
    pub fn compare_exchange_weak(
        &self,
        current: T,
        new: T,
        success: Ordering,
        failure: Ordering,
    ) -> Result<T, T> {
        self.compare_exchange(current, new, success, failure)
    }
}

impl Atomic<u64> {
    /// Adds, wrapping; returns what was there.
    #[track_caller]
    pub fn fetch_add(&self, by: u64, order: Ordering) -> u64 {
        let found = self.bits.fetch_add(by, order);
        steps::note("add", found.into(), Some(found.wrapping_add(by).into()));
        found
    }

    /// Keeps the larger; returns what was there.
    #[track_caller]
    pub fn fetch_max(&self, other: u64, order: Ordering) -> u64 {
        let found = self.bits.fetch_max(other, order);
        steps::note("max", found.into(), Some(found.max(other).into()));
        found
    }
}

impl<T> fmt::Debug for Atomic<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Atomic(..)")
    }
}

fn to_bits<T: NoUninit>(value: T) -> u64 {
    const { assert!(size_of::<T>() <= 8) };
    let mut bytes = [0; 8];
    bytes[..size_of::<T>()].copy_from_slice(bytemuck::bytes_of(&value));
    u64::from_ne_bytes(bytes)
}

fn from_bits<T: AnyBitPattern>(bits: u64) -> T {
    bytemuck::pod_read_unaligned(&bits.to_ne_bytes()[..size_of::<T>()])
}

/// A 128-bit atomic over the model checker's 64-bit one.
///
/// Every value ever seen gets a number; the 64-bit atomic holds the number. Equal values have equal
/// numbers, so a compare-and-swap of numbers succeeds exactly where one of values would, and the
/// memory orders are those of the 64-bit atomic. The table is a std mutex that no model checker sees: it
/// orders nothing inside the model.
pub struct AtomicU128 {
    number: Word,
    values: StdMutex<Vec<u128>>,
}

impl AtomicU128 {
    /// A cell that holds `value`.
    pub fn new(value: u128) -> AtomicU128 {
        AtomicU128 {
            number: Word::new(0),
            values: StdMutex::new(vec![value]),
        }
    }

    /// As in the real arm; the emulation is as lock-free as the model checker's atomic.
    pub fn is_lock_free() -> bool {
        true
    }

    /// The value.
    #[track_caller]
    pub fn load(&self, order: Ordering) -> u128 {
        let found = self.value(self.number.load(order));
        steps::note("load", found, None);
        found
    }

    /// Writes `new` if the cell holds `current`; `Err` has what it holds.
    #[track_caller]
    pub fn compare_exchange(
        &self,
        current: u128,
        new: u128,
        success: Ordering,
        failure: Ordering,
    ) -> Result<u128, u128> {
        let numbers = (self.number_of(current), self.number_of(new));
        let exchanged = self
            .number
            .compare_exchange(numbers.0, numbers.1, success, failure)
            .map(|number| self.value(number))
            .map_err(|number| self.value(number));
        note_exchange(exchanged, new);
        exchanged
    }

    /// As [`compare_exchange`](Self::compare_exchange): a model checker fails no exchange spuriously.
    #[track_caller]
    pub fn compare_exchange_weak(
        &self,
        current: u128,
        new: u128,
        success: Ordering,
        failure: Ordering,
    ) -> Result<u128, u128> {
        self.compare_exchange(current, new, success, failure)
    }

    fn value(&self, number: u64) -> u128 {
        self.values.lock().unwrap()[number as usize]
    }

    fn number_of(&self, value: u128) -> u64 {
        let mut values = self.values.lock().unwrap();
        let known = values.iter().position(|known| *known == value);
        known.unwrap_or_else(|| {
            values.push(value);
            values.len() - 1
        }) as u64
    }
}

impl fmt::Debug for AtomicU128 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AtomicU128(..)")
    }
}

#[track_caller]
fn note_exchange(exchanged: Result<u128, u128>, new: u128) {
    match exchanged {
        Ok(found) => steps::note("exchange", found, Some(new)),
        Err(found) => steps::note("lost exchange", found, None),
    }
}

/// Returns `modelled`: a model checker cannot explore the size that `ships`.
pub const fn ships_or_models(_ships: usize, modelled: usize) -> usize {
    modelled
}

/// Does nothing: the model checker itself chooses the thread that goes on.
pub fn back_off(_spins: u32) {}
