//! Counts that many threads add to and few read.

use std::sync::atomic::AtomicUsize;

use windowpane_core::sync::plain::AtomicU64;
use windowpane_core::sync::{CachePadded, Ordering};

/// How many lines a count is spread over.
const LINES: usize = 16;

thread_local! {
    /// The line of this thread.
    static LINE: usize = {
        static THREADS: AtomicUsize = AtomicUsize::new(0);
        THREADS.fetch_add(1, Ordering::Relaxed) % LINES
    };
}

/// A count that is added to in every second decision: spread over several cache lines, so that
/// threads do not wait for each other's.
#[derive(Default)]
pub(crate) struct Spread([CachePadded<AtomicU64>; LINES]);

impl Spread {
    #[inline]
    pub(crate) fn add_one(&self) {
        // A thread that is ending has no line any more.
        let line = LINE.try_with(|line| *line).unwrap_or(0);
        self.0[line].fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn sum(&self) -> u64 {
        self.0.iter().map(|line| line.load(Ordering::Relaxed)).sum()
    }
}

/// A count off the short way.
#[derive(Default)]
pub(crate) struct Count(AtomicU64);

impl Count {
    pub(crate) fn add(&self, more: u64) {
        self.0.fetch_add(more, Ordering::Relaxed);
    }

    /// Keeps the larger.
    pub(crate) fn raise(&self, to: u64) {
        if self.get() < to {
            self.0.fetch_max(to, Ordering::Relaxed);
        }
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost_between_threads() {
        let count = Spread::default();
        std::thread::scope(|scope| {
            for _ in 0..LINES + 2 {
                scope.spawn(|| (0..1_000).for_each(|_| count.add_one()));
            }
        });
        assert_eq!(count.sum(), 1_000 * (LINES as u64 + 2));
    }
}
