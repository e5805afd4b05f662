//! Which mutex guards the log.

use windowpane_core::sync::Mutex;

/// A family of mutexes, by which [`MutexLog`](crate::MutexLog) is generic.
pub trait LockKind: 'static {
    /// The mutex around a `T`.
    type Lock<T: Send>: Lock<T>;
}

/// A mutex, as far as the log needs one.
pub trait Lock<T>: Send + Sync {
    /// A mutex around `value`.
    fn new(value: T) -> Self;

    /// Runs `f` while the lock is held.
    fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R;
}

/// The standard library's mutex (loom's, when loom explores).
#[derive(Debug)]
pub enum StdMutex {}

impl LockKind for StdMutex {
    type Lock<T: Send> = Mutex<T>;
}

impl<T: Send> Lock<T> for Mutex<T> {
    fn new(value: T) -> Self {
        Mutex::new(value)
    }

    #[inline]
    fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        // A thread that panicked inside (a caller's clock can) has changed nothing yet: the log is
        // changed only after all that can fail. So a poisoned lock guards a sound log.
        let mut guard = self
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        f(&mut guard)
    }
}

/// parking_lot's mutex: one byte, and faster under contention on most systems.
#[cfg(feature = "parking_lot")]
#[derive(Debug)]
pub enum ParkingLotMutex {}

#[cfg(feature = "parking_lot")]
impl LockKind for ParkingLotMutex {
    type Lock<T: Send> = parking_lot::Mutex<T>;
}

#[cfg(feature = "parking_lot")]
impl<T: Send> Lock<T> for parking_lot::Mutex<T> {
    fn new(value: T) -> Self {
        parking_lot::Mutex::new(value)
    }

    #[inline]
    fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        f(&mut self.lock())
    }
}
