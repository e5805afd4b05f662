#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod limiter;
mod lock;
mod log;

pub use limiter::{MutexLog, OnRegression};
#[cfg(feature = "parking_lot")]
pub use lock::ParkingLotMutex;
pub use lock::{Lock, LockKind, StdMutex};
pub use log::Entry;
