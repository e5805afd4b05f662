#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

#[cfg(loom)]
#[macro_use]
mod keys;

pub mod twins;

#[cfg(loom)]
mod changes;
#[cfg(loom)]
mod explore;
#[cfg(loom)]
mod interleave;
#[cfg(loom)]
mod judge;
#[cfg(loom)]
mod macros;
#[cfg(loom)]
mod run;
#[cfg(loom)]
mod script;
#[cfg(loom)]
pub mod scripts;
#[cfg(loom)]
mod subject;

#[cfg(loom)]
pub use changes::{Change, Changing, Settling};
#[cfg(loom)]
pub use explore::{finds, holds, holds_at_random};
#[cfg(loom)]
pub use keys::{FlatTable, KeyEach, Keys, PlainHashes, Store, parts};
#[cfg(loom)]
pub use run::{Answer, Callee, TickingClock};
#[cfg(loom)]
pub use script::{Call, Script};
#[cfg(loom)]
pub use subject::{
    Subject, bucket_ring, cas_ring, changing_ring, fixed_window, flat_table, mutex_log,
    packed_counter, rejecting_log, settling_counter, settling_log,
};
