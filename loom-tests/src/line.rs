//! The line of those who wait, as schedules take it: shipped or a mutant.

use windowpane_core::{Cost, Nanos};
use windowpane_mutex_log::MutexLog;

use crate::run::TickingClock;

/// What a schedule asks of a line.
pub trait Line: Send + Sync + 'static {
    /// A line before a limiter.
    fn before(limiter: MutexLog, clock: TickingClock) -> Self;

    /// `until_ready_many_blocking`; returns when the permits were recorded.
    ///
    /// # Panics
    /// If it answers with an error.
    fn wait(&self, cost: Cost) -> Nanos;

    /// `waiting`.
    fn waiting(&self) -> usize;
}

/// Implements [`Line`] for a queue.
macro_rules! as_line {
    ($queue:path) => {
        const _: () = {
            use $queue as Of;
            type Waiting = Of<windowpane_mutex_log::MutexLog, $crate::TickingClock>;

            impl $crate::shuttle::Line for Waiting {
                fn before(
                    limiter: windowpane_mutex_log::MutexLog,
                    clock: $crate::TickingClock,
                ) -> Self {
                    Of::new(windowpane_core::Limiter::with_clock(limiter, clock))
                }

                fn wait(&self, cost: windowpane_core::Cost) -> windowpane_core::Nanos {
                    let allowed = Of::until_ready_many_blocking(self, cost.get());
                    let at = allowed.expect("it is served in the end").at();
                    at.expect("a log records what it allows").as_nanos() as u64
                }

                fn waiting(&self) -> usize {
                    Of::waiting(self)
                }
            }
        };
    };
}

as_line!(windowpane_core::wait::Queue);
