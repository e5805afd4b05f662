//! The sliding log as people write it in an afternoon.

use std::collections::VecDeque;
use std::hint::black_box;
use std::sync::{Mutex, PoisonError};

use windowpane_core::{Nanos, Quota};

use super::{Adapter, Cannot, ContestClock, Decide, Info, Origin, Rule, SHARED_CLOCK};

/// A `Mutex<VecDeque<time>>`, pruned at each call.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlainLog;

impl Adapter for PlainLog {
    const INFO: Info = Info {
        name: "plain-log",
        origin: Origin::Rival,
        exact: true,
        rule: Rule::Exact,
        about: "a std Mutex<VecDeque<time>> as people write it",
        clock: SHARED_CLOCK,
        cannot: "costs, several quotas, retry-after",
        memory: "8 bytes an accepted request, room for the next power of two",
        memory_at_most: None,
    };

    fn on_clock<C: ContestClock>(quota: Quota, clock: C) -> Result<impl Decide + 'static, Cannot> {
        Ok(Log {
            times: Mutex::new(VecDeque::new()),
            limit: quota.limit() as usize,
            window: quota.window(),
            clock,
        })
    }
}

struct Log<C> {
    times: Mutex<VecDeque<Nanos>>,
    limit: usize,
    window: Nanos,
    clock: C,
}

impl<C: ContestClock> Decide for Log<C> {
    #[inline]
    fn decide(&self) -> bool {
        let mut times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.clock.now();
        black_box(take(&mut times, self.limit, self.window, now))
    }
}

/// Prunes, and takes a place if there is one.
#[inline]
pub(super) fn take(times: &mut VecDeque<Nanos>, limit: usize, window: Nanos, now: Nanos) -> bool {
    while times.front().is_some_and(|&at| at + window <= now) {
        times.pop_front();
    }
    let allowed = times.len() < limit;
    if allowed {
        times.push_back(now);
    }
    allowed
}
