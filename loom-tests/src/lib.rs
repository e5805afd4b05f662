#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

// The mutants name it, as the shipped source does.
extern crate alloc;

#[cfg(any(windowpane_loom, windowpane_shuttle))]
#[macro_use]
mod keys;
#[cfg(windowpane_shuttle)]
#[macro_use]
mod line;

pub mod mutants;

#[cfg(any(windowpane_loom, windowpane_shuttle))]
mod changes;
#[cfg(windowpane_loom)]
mod explore;
#[cfg(any(windowpane_loom, windowpane_shuttle))]
mod interleave;
#[cfg(any(windowpane_loom, windowpane_shuttle))]
mod judge;
#[cfg(windowpane_loom)]
mod macros;
#[cfg(any(windowpane_loom, windowpane_shuttle))]
mod run;
#[cfg(any(windowpane_loom, windowpane_shuttle))]
mod script;
#[cfg(any(windowpane_loom, windowpane_shuttle))]
pub mod scripts;
#[cfg(windowpane_shuttle)]
pub mod shuttle;
#[cfg(any(windowpane_loom, windowpane_shuttle))]
mod subject;

#[cfg(any(windowpane_loom, windowpane_shuttle))]
pub use changes::{Change, Changing, Settling};
#[cfg(windowpane_loom)]
pub use explore::{finds, holds, holds_at_random};
#[cfg(any(windowpane_loom, windowpane_shuttle))]
pub use keys::{FlatTable, KeyEach, KeyedLimiter, Keys, PlainHashes, Store, parts};
#[cfg(any(windowpane_loom, windowpane_shuttle))]
pub use run::{Answer, Callee, TickingClock};
#[cfg(any(windowpane_loom, windowpane_shuttle))]
pub use script::{Call, Script};
#[cfg(any(windowpane_loom, windowpane_shuttle))]
pub use subject::{
    Subject, bucket_ring, cas_ring, changing_ring, fixed_window, flat_table, gcra, keyed_limiter,
    mutex_log, packed_counter, rejecting_log, settling_counter, settling_log,
};
