//! A model as data: who calls what.

use windowpane_core::{Cost, IntoQuotas, Nanos, Quotas};

/// One call to a limiter, or to a store of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Call {
    /// `decide_at`.
    Acquire {
        /// The clock reading.
        now: Nanos,
        /// What is asked for.
        cost: Cost,
    },
    /// `decide_detailed_at`.
    Detailed {
        /// The clock reading.
        now: Nanos,
        /// What is asked for.
        cost: Cost,
    },
    /// `peek_at`.
    Peek {
        /// The clock reading.
        now: Nanos,
        /// What is asked for.
        cost: Cost,
    },
    /// `decide_with` a clock that all threads share and that ticks at every reading.
    Now {
        /// What is asked for.
        cost: Cost,
    },
    /// `reset`.
    Reset,
    /// `settle_at`.
    Settle {
        /// When the estimate was recorded.
        at: Nanos,
        /// The estimate.
        estimate: Cost,
        /// What it really cost.
        actual: u64,
    },
    /// `change_at`, to one quota of permits.
    Change {
        /// The clock reading.
        now: Nanos,
        /// The new limit.
        limit: u64,
        /// The new window.
        window: Nanos,
    },
    /// `decide_at` of a store.
    AcquireOf {
        /// Whose quota it is.
        key: u64,
        /// The clock reading.
        now: Nanos,
        /// What is asked for.
        cost: Cost,
    },
    /// `peek_at` of a store.
    PeekOf {
        /// Whose quota it is.
        key: u64,
        /// The clock reading.
        now: Nanos,
        /// What is asked for.
        cost: Cost,
    },
    /// `reset` of a store.
    ResetOf {
        /// Whose quota it is.
        key: u64,
    },
    /// `sweep_at` of a store.
    Sweep {
        /// The clock reading.
        now: Nanos,
    },
    /// `clear` of a store of limiters.
    Clear,
}

impl Call {
    /// The same call for `permits`.
    ///
    /// # Panics
    /// If the call has no cost, or `permits` is 0.
    pub(crate) fn costing(mut self, permits: u64) -> Call {
        match &mut self {
            Call::Acquire { cost, .. }
            | Call::Detailed { cost, .. }
            | Call::Peek { cost, .. }
            | Call::Now { cost }
            | Call::AcquireOf { cost, .. }
            | Call::PeekOf { cost, .. } => *cost = Cost::new(permits).expect("a cost above 0"),
            _ => panic!("{self:?} has no cost of its own"),
        }
        self
    }

    /// What is asked for; nothing by a reset, a sweep and the like.
    pub(crate) fn cost(&self) -> Option<Cost> {
        match *self {
            Call::Acquire { cost, .. }
            | Call::Detailed { cost, .. }
            | Call::Peek { cost, .. }
            | Call::Now { cost }
            | Call::AcquireOf { cost, .. }
            | Call::PeekOf { cost, .. } => Some(cost),
            _ => None,
        }
    }

    /// The reading of the clock that it is made with, in a store.
    #[cfg(windowpane_shuttle)]
    pub(crate) fn reading(&self) -> Option<Nanos> {
        match *self {
            Call::AcquireOf { now, .. } | Call::PeekOf { now, .. } | Call::Sweep { now } => {
                Some(now)
            }
            _ => None,
        }
    }

    /// Whose quota it is, in a store.
    pub(crate) fn key(&self) -> Option<u64> {
        match *self {
            Call::AcquireOf { key, .. } | Call::PeekOf { key, .. } | Call::ResetOf { key } => {
                Some(key)
            }
            _ => None,
        }
    }
}

/// Asks for one permit at `now`.
pub(crate) fn acquire(now: Nanos) -> Call {
    let cost = Cost::ONE;
    Call::Acquire { now, cost }
}

/// Asks for one permit at `now`, and what remains.
pub(crate) fn detailed(now: Nanos) -> Call {
    let cost = Cost::ONE;
    Call::Detailed { now, cost }
}

/// Looks at `now`.
pub(crate) fn peek(now: Nanos) -> Call {
    let cost = Cost::ONE;
    Call::Peek { now, cost }
}

/// Asks for one permit by the shared ticking clock.
pub(crate) fn now() -> Call {
    Call::Now { cost: Cost::ONE }
}

/// Forgets all.
pub(crate) fn reset() -> Call {
    Call::Reset
}

/// Replaces the `estimate` that was recorded under `at`.
pub(crate) fn settle(at: Nanos, estimate: u64, actual: u64) -> Call {
    let estimate = Cost::new(estimate).expect("a cost above 0");
    Call::Settle {
        at,
        estimate,
        actual,
    }
}

/// Puts another quota in force.
pub(crate) fn change(now: Nanos, limit: u64, window: Nanos) -> Call {
    Call::Change { now, limit, window }
}

/// Asks a store for one permit of `key` at `now`.
pub(crate) fn acquire_of(key: u64, now: Nanos) -> Call {
    let cost = Cost::ONE;
    Call::AcquireOf { key, now, cost }
}

/// Looks at `key` at `now`.
pub(crate) fn peek_of(key: u64, now: Nanos) -> Call {
    let cost = Cost::ONE;
    Call::PeekOf { key, now, cost }
}

/// Forgets all of `key`.
pub(crate) fn reset_of(key: u64) -> Call {
    Call::ResetOf { key }
}

/// Removes the keys that are idle at `now`.
pub(crate) fn sweep(now: Nanos) -> Call {
    Call::Sweep { now }
}

/// Forgets all keys of a store of limiters.
#[cfg(windowpane_shuttle)]
pub(crate) fn clear() -> Call {
    Call::Clear
}

/// A limiter's quotas and who calls what: first some calls alone, then threads that race, then,
/// when all threads are done, some calls alone that look at what the race has left.
#[derive(Clone, Debug)]
pub struct Script {
    pub(crate) quotas: Quotas,
    pub(crate) capacity: u64,
    pub(crate) buckets: u32,
    pub(crate) before: Vec<Call>,
    pub(crate) threads: Vec<Vec<Call>>,
    pub(crate) after: Vec<Call>,
    pub(crate) preemptions: Option<usize>,
    pub(crate) steps_back: bool,
}

impl Script {
    /// It has no calls yet.
    ///
    /// # Panics
    /// If a quota is malformed.
    pub(crate) fn new(quotas: impl IntoQuotas) -> Script {
        let quotas = Quotas::parse(quotas).expect("well-formed quotas");
        Script {
            capacity: quotas.largest_limit(),
            buckets: 5,
            quotas,
            before: Vec::new(),
            threads: Vec::new(),
            after: Vec::new(),
            preemptions: None,
            steps_back: false,
        }
    }

    /// A ring has room for `capacity` permits (the largest limit unless said).
    pub(crate) fn capacity(mut self, capacity: u64) -> Script {
        self.capacity = capacity;
        self
    }

    /// A bucket ring has `buckets` to the longest window (5 unless said).
    pub(crate) fn buckets(mut self, buckets: u32) -> Script {
        self.buckets = buckets;
        self
    }

    /// Calls before the threads start.
    pub(crate) fn before(mut self, calls: impl IntoIterator<Item = Call>) -> Script {
        self.before.extend(calls);
        self
    }

    /// One thread more.
    pub(crate) fn thread(mut self, calls: impl IntoIterator<Item = Call>) -> Script {
        self.threads.push(calls.into_iter().collect());
        self
    }

    /// Calls after all threads have ended.
    pub(crate) fn after(mut self, calls: impl IntoIterator<Item = Call>) -> Script {
        self.after.extend(calls);
        self
    }

    /// For limiters whose calls take many steps: only schedules in which threads that could go on
    /// are interrupted at most `bound` times.
    pub(crate) fn preemptions(mut self, bound: usize) -> Script {
        self.preemptions = Some(bound);
        self
    }

    /// A key is forgotten before a reading of the clock that is earlier than when it fell idle. A
    /// store answers that more strictly than a limiter for each key would, so it is compared with
    /// itself used by one thread.
    pub(crate) fn steps_back(mut self) -> Script {
        self.steps_back = true;
        self
    }

    /// The quotas.
    pub fn quotas(&self) -> Quotas {
        self.quotas.clone()
    }

    /// The capacity of a ring.
    pub fn ring_capacity(&self) -> u64 {
        self.capacity
    }

    /// The buckets of a bucket ring.
    pub fn ring_buckets(&self) -> u32 {
        self.buckets
    }

    /// All calls, in the order in which their answers stand in an outcome.
    pub(crate) fn calls(&self) -> impl Iterator<Item = (Caller, Call)> + '_ {
        let alone = |caller: Caller| move |call: &Call| (caller, *call);
        let threads = self
            .threads
            .iter()
            .enumerate()
            .flat_map(move |(thread, calls)| calls.iter().map(alone(Caller::Thread(thread))));
        let before = self.before.iter().map(alone(Caller::Before));
        let after = self.after.iter().map(alone(Caller::After));
        before.chain(threads).chain(after)
    }

    /// The same calls under another quota.
    #[cfg(windowpane_shuttle)]
    pub(crate) fn limited_to(&self, quota: &str) -> Script {
        let quotas = Quotas::parse([quota]).expect("a well-formed quota");
        Script {
            quotas,
            ..self.clone()
        }
    }

    #[cfg(windowpane_shuttle)]
    pub(crate) fn changes(&self) -> bool {
        self.calls()
            .any(|(_, call)| matches!(call, Call::Change { .. }))
    }

    /// The number of calls that forget all keys.
    #[cfg(windowpane_shuttle)]
    pub(crate) fn clears(&self) -> u64 {
        let clears = self.calls().filter(|(_, call)| *call == Call::Clear);
        clears.count() as u64
    }

    pub(crate) fn resets(&self) -> bool {
        self.calls()
            .any(|(_, call)| matches!(call, Call::Reset | Call::ResetOf { .. }))
    }
}

/// Who makes a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caller {
    Before,
    Thread(usize),
    After,
}
