//! The arm that loom explores.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Mutex as StdMutex;

use bytemuck::{AnyBitPattern, NoUninit};
use loom::sync::atomic::AtomicU64;
pub use loom::sync::{Mutex, MutexGuard};

use super::Ordering;

/// loom's twin of the `atomic` crate's `Atomic<T>`: any plain type of at most 64 bits.
pub struct Atomic<T> {
    bits: AtomicU64,
    loads: Loads,
    of: PhantomData<T>,
}

impl<T: NoUninit + AnyBitPattern> Atomic<T> {
    /// A cell that holds `value`.
    pub fn new(value: T) -> Atomic<T> {
        Atomic {
            bits: AtomicU64::new(to_bits(value)),
            loads: Loads::new(),
            of: PhantomData,
        }
    }

    /// The value.
    pub fn load(&self, order: Ordering) -> T {
        self.loads.note();
        from_bits(self.bits.load(order))
    }

    /// Writes `value`.
    pub fn store(&self, value: T, order: Ordering) {
        self.bits.store(to_bits(value), order);
    }

    /// Writes `new` if the cell holds `current`; `Err` has what it holds.
    pub fn compare_exchange(
        &self,
        current: T,
        new: T,
        success: Ordering,
        failure: Ordering,
    ) -> Result<T, T> {
        self.bits
            .compare_exchange(to_bits(current), to_bits(new), success, failure)
            .map(from_bits)
            .map_err(from_bits)
    }

    /// As [`compare_exchange`](Self::compare_exchange): loom fails no exchange without a cause.
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
    pub fn fetch_add(&self, by: u64, order: Ordering) -> u64 {
        self.bits.fetch_add(by, order)
    }

    /// Keeps the larger; returns what was there.
    pub fn fetch_max(&self, other: u64, order: Ordering) -> u64 {
        self.bits.fetch_max(other, order)
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

/// A 128-bit atomic over loom's 64-bit one.
///
/// Every value ever seen gets a number; the loom atomic holds the number. Equal values have equal
/// numbers, so a compare-and-swap of numbers succeeds exactly where one of values would, and the
/// memory orders are those of the loom atomic. The table is a std mutex that loom does not see: it
/// orders nothing inside the model.
pub struct AtomicU128 {
    number: AtomicU64,
    loads: Loads,
    values: StdMutex<Vec<u128>>,
}

impl AtomicU128 {
    /// A cell that holds `value`.
    pub fn new(value: u128) -> AtomicU128 {
        AtomicU128 {
            number: AtomicU64::new(0),
            loads: Loads::new(),
            values: StdMutex::new(vec![value]),
        }
    }

    /// As in the real arm; the emulation is as lock-free as loom's atomic.
    pub fn is_lock_free() -> bool {
        true
    }

    /// The value.
    pub fn load(&self, order: Ordering) -> u128 {
        self.loads.note();
        self.value(self.number.load(order))
    }

    /// Writes `new` if the cell holds `current`; `Err` has what it holds.
    pub fn compare_exchange(
        &self,
        current: u128,
        new: u128,
        success: Ordering,
        failure: Ordering,
    ) -> Result<u128, u128> {
        let (current, new) = (self.number_of(current), self.number_of(new));
        self.number
            .compare_exchange(current, new, success, failure)
            .map(|number| self.value(number))
            .map_err(|number| self.value(number))
    }

    /// As [`compare_exchange`](Self::compare_exchange): loom fails no exchange without a cause.
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

/// Makes the loads of one atomic depend on each other, so that loom tries their orders too.
///
/// loom 0.7.3 compares an operation with the last access to its atomic and no earlier one. A thread
/// that loads and then exchanges finds its own load there, and whatever another thread loaded before
/// is never tried after the exchange (loom's issues 166 and 392): a model of a compare-and-swap loop
/// ends after a few schedules and looks exhaustive. A relaxed exchange beside each load closes the
/// gap: exchanges are compared with every access. It orders nothing in memory.
struct Loads(AtomicU64);

impl Loads {
    fn new() -> Loads {
        Loads(AtomicU64::new(0))
    }

    fn note(&self) {
        self.0.fetch_add(0, Ordering::Relaxed);
    }
}

/// Waits after a lost compare-and-swap: here not at all, since loom itself schedules every order.
pub fn back_off() {}
