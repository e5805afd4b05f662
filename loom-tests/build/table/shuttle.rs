//! Mutants that only shuttle schedules: of what loom does not explore, and those that wait for a thread
//! that is suspended, which loom cannot show. `tests/` says what finds them.

use super::{Mutant, Shipped};

pub(crate) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "waits_for_the_claimer",
        bug: "It waits until the claimer has published its record, and does not help",
        of: Shipped::CasRing,
        file: "ring.rs",
        shipped: "None if self.help(head) =>",
        seeded: "None if {
                while head.filled() > 0 && !self.is_published(head, 1) {
                    if !self.is_current(head) {
                        return Ok(Slow::Moved);
                    }
                }
                self.help(head)
            } =>",
        found_by: &[],
    },
    Mutant {
        name: "evicts_as_seen_before",
        bug: "It removes a key that was idle when it looked, and does not look again under the lock",
        of: Shipped::Keyed,
        file: "evict.rs",
        shipped: "self.forget(hash, now, |k, entry| in_slot(k, entry) && idle(entry))",
        seeded: "self.forget(hash, now, |k, entry| in_slot(k, entry))",
        found_by: &[],
    },
    Mutant {
        name: "inserts_twice",
        bug: "It takes an unknown key for unknown still, under the lock in which it inserts it",
        of: Shipped::Keyed,
        file: "unknown.rs",
        shipped: "|k, _| k.borrow() == key,
                |entry| Some(ask.ask(&entry.limiter, time).map_err(StoreError::from)),",
        seeded: "|_, _| false,
                |entry| Some(ask.ask(&entry.limiter, time).map_err(StoreError::from)),",
        found_by: &[],
    },
    Mutant {
        name: "raises_watermark_after_unlock",
        bug: "It raises the eviction watermark after it has released the lock of the shard",
        of: Shipped::Keyed,
        file: "evict.rs",
        shipped: "let is_it = is_it(k, entry);
            if is_it {
                self.floor.fetch_max(now, Ordering::Relaxed);
            }
            is_it
        })?;",
        seeded: "is_it(k, entry)
        })?;
        self.floor.fetch_max(now, Ordering::Relaxed);",
        found_by: &[],
    },
    Mutant {
        name: "forgets_watermark_after_unlock",
        bug: "It forgets all keys, and the eviction watermark after it has released the locks",
        of: Shipped::Keyed,
        file: "evict.rs",
        shipped: "for (key, entry) in self.shards.clear(forget_watermark) {",
        seeded: "let entries = self.shards.clear(|| ());
        forget_watermark();
        for (key, entry) in entries {",
        found_by: &[],
    },
    Mutant {
        name: "clears_shard_by_shard",
        bug: "It forgets the keys of one shard after the other, and then the eviction watermark",
        of: Shipped::Keyed,
        file: "shards.rs",
        shipped: "let mut locked: Vec<_> = (0..shards.len()).map(lock).collect();
        meanwhile();
        let tables: Vec<_> = locked.iter_mut().map(|(shard, _)| take(&mut **shard)).collect();
        drop(locked);",
        seeded:
            "let tables: Vec<_> = (0..shards.len()).map(|nth| take(&mut *lock(nth).0)).collect();
        meanwhile();",
        found_by: &[],
    },
    Mutant {
        name: "leaves_without_a_word",
        bug: "Who leaves the line wakes nobody",
        of: Shipped::Queue,
        file: "waiters.rs",
        shipped: "was_head.then(|| self.wake_head()).flatten()",
        seeded: "was_head.then(|| None).flatten()",
        found_by: &[],
    },
    Mutant {
        name: "sleeps_though_woken",
        bug: "It sleeps though it was woken since it last looked",
        of: Shipped::Queue,
        file: "waiters.rs",
        shipped: "if !std::mem::take(&mut waiter.is_woken) {",
        seeded: "if true {",
        found_by: &[],
    },
];
