#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

#[cfg(any(loom, shuttle))]
#[macro_use]
mod keys;
#[cfg(shuttle)]
#[macro_use]
mod line;

pub mod twins;

#[cfg(any(loom, shuttle))]
mod changes;
#[cfg(loom)]
mod explore;
#[cfg(any(loom, shuttle))]
mod interleave;
#[cfg(any(loom, shuttle))]
mod judge;
#[cfg(loom)]
mod macros;
#[cfg(any(loom, shuttle))]
mod run;
#[cfg(any(loom, shuttle))]
mod script;
#[cfg(any(loom, shuttle))]
pub mod scripts;
#[cfg(shuttle)]
pub mod shuttle;
#[cfg(any(loom, shuttle))]
mod subject;

#[cfg(any(loom, shuttle))]
pub use changes::{Change, Changing, Settling};
#[cfg(loom)]
pub use explore::{finds, holds, holds_at_random};
#[cfg(any(loom, shuttle))]
pub use keys::{FlatTable, KeyEach, KeyedLimiter, Keys, PlainHashes, Store, parts};
#[cfg(any(loom, shuttle))]
pub use run::{Answer, Callee, TickingClock};
#[cfg(any(loom, shuttle))]
pub use script::{Call, Script};
#[cfg(any(loom, shuttle))]
pub use subject::{
    Subject, bucket_ring, cas_ring, changing_ring, fixed_window, flat_table, gcra, keyed_limiter,
    mutex_log, packed_counter, rejecting_log, settling_counter, settling_log,
};
