//! What shuttle schedules: many threads by priority, and threads that are suspended for good.
//!
//! shuttle runs the threads of a schedule one at a time, on one thread of the system, and asks before
//! each atomic operation and each lock who goes on. It takes every memory order for sequentially
//! consistent: weak ones are loom's part.

mod history;
mod line;
mod pct;
mod random;
mod schedule;
mod search;
mod suspended;
mod together;
mod writes;

pub use crate::line::Line;
pub use line::{line_finds, line_holds};
pub use pct::{pct_finds, pct_holds};
pub use random::{
    Calls, calls_of_cleared_keys, calls_of_keys, calls_of_swept_keys, calls_that_change,
    calls_that_settle, plain_calls,
};
pub use schedule::Schedule;
pub use suspended::{Bound, blocks, errs, goes_on, scripts, waits};
pub use writes::{denials_that_write, denials_write_nothing, to_a_limiter, to_a_store};

use shuttle::scheduler::{RoundRobinScheduler, Scheduler};
use shuttle::{Config, FailurePersistence, MaxSteps, Runner};

/// Runs `main` under every schedule that `scheduler` asks for.
fn run(scheduler: impl Scheduler + 'static, main: impl Fn() + Send + Sync + 'static) {
    let mut config = Config::new();
    // Schedules are printed in our own words, which a person can read.
    config.failure_persistence = FailurePersistence::None;
    config.silence_warnings = true;
    config.max_steps = MaxSteps::FailAfter(200_000);
    config.stack_size = 1 << 18;
    Runner::new(scheduler, config).run(main);
}

/// Runs a model of one thread.
pub(crate) fn alone(model: impl Fn() + Send + Sync + 'static) {
    run(RoundRobinScheduler::new(1), model);
}
