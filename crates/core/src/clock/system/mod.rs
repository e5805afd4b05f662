//! The clocks of the system and of the processor.

#[cfg(feature = "boottime")]
mod boot;
mod coarse;
mod monotonic;
#[cfg(feature = "tsc")]
mod tsc;

#[cfg(feature = "boottime")]
pub use boot::BootClock;
pub use coarse::CoarseClock;
pub use monotonic::MonotonicClock;
#[cfg(feature = "tsc")]
pub use tsc::TscClock;
