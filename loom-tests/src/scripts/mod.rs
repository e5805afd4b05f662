//! The models, each a list of calls. Windows are of a few nanoseconds, so that every edge is near.

pub mod any;
pub mod buckets;
pub mod changes;
pub mod exact;
pub mod keys;
pub mod log;
pub mod random;
pub mod ring;
pub mod windows;
