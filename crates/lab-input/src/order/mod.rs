//! The order of requests: merged, reordered in a window of time, or sorted.

mod merge;
mod reorder;
mod sort;

pub(crate) use merge::Merge;
pub(crate) use reorder::Reorder;
pub(crate) use sort::{Sorted, Sorter};

use windowpane_core::Nanos;

/// The order in which requests are decided. Several inputs are merged by time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Each input in the order it has.
    #[default]
    AsGiven,
    /// By time within a window: a request comes late by at most this many nanoseconds.
    Reordered(Nanos),
    /// By time. Requests of one time keep the order of the inputs and of their lines.
    Sorted,
}
