//! The log itself, without the lock: what was accepted, and what that leaves of each quota.

use std::collections::VecDeque;

use smallvec::SmallVec;
use windowpane_core::{Cost, Denied, Nanos, PerQuota, Quota, Quotas};

/// One accepted request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// When it was recorded, in nanoseconds.
    pub at: Nanos,
    /// What it cost.
    pub cost: Cost,
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
}

impl Log {
    pub(crate) fn new(quotas: &Quotas) -> Log {
        Log {
            entries: VecDeque::new(),
            usage: SmallVec::from_elem(Usage::default(), quotas.len()),
            latest: 0,
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
            let charge = |entry: &Entry| u128::from(quota.charge(entry.cost));
            // A request at t counts (t - window, t]: what was accepted at t - window is gone.
            let counts = |entry: &Entry| t - entry.at < quota.window();
            while let Some(entry) = self.entries.get(usage.oldest).filter(|e| !counts(e)) {
                usage.used -= charge(entry);
                usage.oldest += 1;
            }
            while let Some(entry) = usage.oldest.checked_sub(1).map(|i| &self.entries[i])
                && counts(entry)
            {
                usage.used += charge(entry);
                usage.oldest -= 1;
            }
        }
    }

    /// The denial of a request of `cost` at the time sought, or `None` if every quota has room.
    /// `now` is what the caller's clock read, at most that time; the wait is told from there.
    pub(crate) fn denial(&self, quotas: &Quotas, now: Nanos, cost: Cost) -> Option<Denied> {
        let mut denial = None;
        for (index, quota) in quotas.iter().enumerate() {
            if quota.limit() == 0 {
                denial = Some(Denied::longest(denial, Denied::new(index, None)));
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
                denial = Some(Denied::longest(denial, Denied::new(index, Some(wait))));
            }
        }
        denial
    }

    /// The entry whose leaving, after all older ones', frees `excess` of `quota`.
    fn entry_that_frees(&self, quota: &Quota, usage: Usage, excess: u128) -> Entry {
        let mut freed = 0;
        let mut last = None;
        for entry in self.entries.range(usage.oldest..) {
            freed += u128::from(quota.charge(entry.cost));
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

    /// Drops what counts no more at `t`, the time sought, and makes that the latest time: no
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
        self.entries.push_back(Entry { at: t, cost });
        for (usage, quota) in self.usage.iter_mut().zip(quotas.iter()) {
            usage.used += u128::from(quota.charge(cost));
        }
    }

    /// Whether every window is empty at time `t`.
    pub(crate) fn is_idle(&self, quotas: &Quotas, t: Nanos) -> bool {
        self.entries
            .back()
            .is_none_or(|newest| t - newest.at >= quotas.longest_window())
    }
}
