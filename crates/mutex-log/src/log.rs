//! The log itself, without the lock: what was accepted, and what that leaves of each quota.

use std::collections::VecDeque;

use smallvec::SmallVec;
use windowpane_core::{Cost, Denial, Nanos, PerQuota, Quota, Quotas, Unit};

/// One accepted request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// When it was recorded, in nanoseconds.
    pub at: Nanos,
    /// The permits it consumed: its cost, or what it was settled to, which can be 0.
    pub permits: u64,
}

impl Entry {
    /// What it counts against `quota`.
    fn counts(&self, quota: &Quota) -> u128 {
        match quota.unit() {
            Unit::Requests => 1,
            _ => u128::from(self.permits),
        }
    }
}

/// How much of one quota is used, and by which entries, at the time that the log was last asked for.
#[derive(Clone, Copy, Debug, Default)]
struct Usage {
    /// The index of the oldest entry that counts.
    oldest: usize,
    /// What the entries from there on count together. Wider than a cost, so that a sum of what was
    /// recorded without asking cannot overflow.
    used: u128,
}

/// What was accepted and is still inside some window, oldest first.
#[derive(Debug)]
pub(crate) struct Log {
    entries: VecDeque<Entry>,
    usage: SmallVec<[Usage; 1]>,
    /// The latest recorded time.
    latest: Nanos,
    /// Whether there may be hollow entries: those settled to 0 permits, which only quotas of requests
    /// count. When these do no more, they lie between others, where pruning does not reach.
    may_be_hollow: bool,
    /// How many entries make it worth looking for them.
    sweep_at: usize,
}

/// The fewest entries that are worth a sweep.
const FEWEST_TO_SWEEP: usize = 32;

impl Log {
    pub(crate) fn new(quotas: &Quotas) -> Log {
        Log {
            entries: VecDeque::new(),
            usage: SmallVec::from_elem(Usage::default(), quotas.len()),
            latest: 0,
            may_be_hollow: false,
            sweep_at: FEWEST_TO_SWEEP,
        }
    }

    pub(crate) fn latest(&self) -> Nanos {
        self.latest
    }

    pub(crate) fn entries(&self) -> impl Iterator<Item = Entry> {
        self.entries.iter().copied()
    }

    /// Makes `usage` that of time `t`, which is not before the latest recorded time. It only moves
    /// what is remembered: no entry is dropped, so an earlier time can be asked for next. Each entry
    /// is passed once on the way: amortized O(1) a request while times do not go to and fro.
    pub(crate) fn seek(&mut self, quotas: &Quotas, t: Nanos) {
        for (quota, usage) in quotas.iter().zip(&mut self.usage) {
            // A request at t counts (t - window, t]: what was accepted at t - window is gone.
            let counts = |entry: &Entry| t - entry.at < quota.window();
            while let Some(entry) = self.entries.get(usage.oldest).filter(|e| !counts(e)) {
                usage.used -= entry.counts(quota);
                usage.oldest += 1;
            }
            while let Some(entry) = usage.oldest.checked_sub(1).map(|i| &self.entries[i])
                && counts(entry)
            {
                usage.used += entry.counts(quota);
                usage.oldest -= 1;
            }
        }
    }

    /// The denial of a request of `cost` at the time sought, or `None` if every quota has room.
    /// `now` is what the caller's clock read, at most that time; the wait counts from there.
    pub(crate) fn denial(&self, quotas: &Quotas, now: Nanos, cost: Cost) -> Option<Denial> {
        let mut denial = None;
        for (index, quota) in quotas.iter().enumerate() {
            if quota.limit() == 0 {
                denial = Some(Denial::longest(denial, Denial::new(index, None)));
                continue;
            }
            let usage = self.usage[index];
            let wanted = usage.used + u128::from(quota.charge(cost));
            let limit = u128::from(quota.limit());
            if wanted > limit {
                let last_to_go = self.entry_that_frees(quota, usage, wanted - limit);
                // at + window - now, in an order that cannot overflow on the way: `now` is before
                // the end of the entry's window, but it may be before the entry too.
                let wait = match now.checked_sub(last_to_go.at) {
                    Some(age) => quota.window() - age,
                    None => quota.window().saturating_add(last_to_go.at - now),
                };
                denial = Some(Denial::longest(denial, Denial::new(index, Some(wait))));
            }
        }
        denial
    }

    /// The entry whose leaving, after all older ones', frees `excess` of `quota`.
    fn entry_that_frees(&self, quota: &Quota, usage: Usage, excess: u128) -> Entry {
        let mut freed = 0;
        let mut last = None;
        for entry in self.entries.range(usage.oldest..) {
            freed += entry.counts(quota);
            last = Some(*entry);
            if freed >= excess {
                break;
            }
        }
        last.expect("the charge alone fits the limit, so an excess has entries behind it")
    }

    /// What is left of each quota at the time sought.
    pub(crate) fn remaining(&self, quotas: &Quotas) -> PerQuota {
        let left = |(quota, usage): (&Quota, &Usage)| {
            u128::from(quota.limit()).saturating_sub(usage.used) as u64
        };
        quotas.iter().zip(&self.usage).map(left).collect()
    }

    /// What is used of each quota at the time sought.
    pub(crate) fn used(&self) -> PerQuota {
        let used = |usage: &Usage| u64::try_from(usage.used).unwrap_or(u64::MAX);
        self.usage.iter().map(used).collect()
    }

    /// Drops what no longer counts at `t`, the time sought, and makes that the latest time: no
    /// earlier one will be asked for.
    pub(crate) fn prune(&mut self, t: Nanos) {
        let gone = self.usage.iter().map(|u| u.oldest).min().unwrap_or(0);
        self.entries.drain(..gone);
        for usage in &mut self.usage {
            usage.oldest -= gone;
        }
        self.latest = t;
    }

    /// Records an accepted request at time `t`, to which the log has been pruned.
    pub(crate) fn record(&mut self, quotas: &Quotas, t: Nanos, cost: Cost) {
        if self.may_be_hollow && self.entries.len() >= self.sweep_at {
            self.sweep(quotas, t);
        }
        let entry = Entry {
            at: t,
            permits: cost.get(),
        };
        self.entries.push_back(entry);
        for (usage, quota) in self.usage.iter_mut().zip(quotas.iter()) {
            usage.used += entry.counts(quota);
        }
    }

    /// Makes what was recorded under `at` for `estimate` count `actual` permits instead, if the log
    /// still has it. Of several alike it does not matter which. O(log n) and the entries of the same
    /// time; for 0 permits O(n).
    pub(crate) fn settle(&mut self, quotas: &Quotas, at: Nanos, estimate: Cost, actual: u64) {
        let Some(index) = self.find(at, estimate) else {
            return;
        };
        let before = self.entries[index];
        let after = Entry {
            permits: actual,
            ..before
        };
        for (usage, quota) in self.usage.iter_mut().zip(quotas.iter()) {
            if index >= usage.oldest {
                usage.used = usage.used + after.counts(quota) - before.counts(quota);
            }
        }
        self.entries[index] = after;
        if actual == 0 {
            self.hollow(quotas, index);
        }
    }

    /// Forgets what was recorded under `at` for `cost`, if the log still has it. O(n).
    pub(crate) fn cancel(&mut self, quotas: &Quotas, at: Nanos, cost: Cost) {
        let Some(entry) = self.find(at, cost) else {
            return;
        };
        let cancelled = self.entries[entry];
        for (usage, quota) in self.usage.iter_mut().zip(quotas.iter()) {
            if entry >= usage.oldest {
                usage.used -= cancelled.counts(quota);
            } else {
                usage.oldest -= 1;
            }
        }
        self.entries.remove(entry);
    }

    /// The index of an entry recorded under `at` for `cost`. O(log n) and the entries of that time.
    fn find(&self, at: Nanos, cost: Cost) -> Option<usize> {
        let first = self.entries.partition_point(|entry| entry.at < at);
        let mut same_time = self.entries.range(first..).take_while(|e| e.at == at);
        let position = same_time.position(|entry| entry.permits == cost.get())?;
        Some(first + position)
    }

    /// Drops the entry of 0 permits at `index`, unless a quota of requests counts it.
    fn hollow(&mut self, quotas: &Quotas, index: usize) {
        if quotas.iter().any(|quota| quota.unit() == Unit::Requests) {
            self.may_be_hollow = true;
            return;
        }
        self.entries.remove(index);
        for usage in &mut self.usage {
            usage.oldest -= usize::from(index < usage.oldest);
        }
    }

    /// Drops the entries that no quota counts at `t`, wherever they lie, and puts off the next sweep
    /// until the log has doubled: amortized O(1) a record.
    fn sweep(&mut self, quotas: &Quotas, t: Nanos) {
        self.entries.retain(|entry| counts_at(quotas, entry, t));
        self.count(quotas, t);
        self.sweep_at = (2 * self.entries.len()).max(FEWEST_TO_SWEEP);
    }

    /// Makes it the log of `quotas` instead of `before`, at `t`, which is not before the latest
    /// recorded time: what no quota counts by then stays forgotten.
    pub(crate) fn change(&mut self, before: &Quotas, quotas: &Quotas, t: Nanos) {
        self.entries.retain(|entry| counts_at(before, entry, t));
        self.latest = t;
        self.count(quotas, t);
    }

    /// Counts everything again, at `t`.
    fn count(&mut self, quotas: &Quotas, t: Nanos) {
        let nothing = Usage {
            oldest: self.entries.len(),
            used: 0,
        };
        self.usage = SmallVec::from_elem(nothing, quotas.len());
        self.seek(quotas, t);
    }

    /// Whether every window is empty at time `t`.
    pub(crate) fn is_idle(&self, quotas: &Quotas, t: Nanos) -> bool {
        let longest = quotas.longest_window();
        let recent = self.entries.iter().rev().take_while(|e| t - e.at < longest);
        !recent.into_iter().any(|e| counts_at(quotas, e, t))
    }
}

/// Whether any quota counts `entry` at time `t`.
fn counts_at(quotas: &Quotas, entry: &Entry, t: Nanos) -> bool {
    let counts = |quota: &Quota| quota.window() > t - entry.at && entry.counts(quota) > 0;
    quotas.iter().any(counts)
}
