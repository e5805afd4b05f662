//! Mutants of what settles, and of what makes quotas changeable.

use super::Limiter::{ChangingRing, SettlingCounter, SettlingLog};
use super::{Mutant, Shipped};

pub(crate) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "settles_blindly",
        bug: "It stores the settled word whatever has come in between",
        of: Shipped::OneWord,
        file: "one_word.rs",
        shipped: "match self.word.compare_exchange(word, settled, Ordering::Relaxed, Ordering::Relaxed) {",
        seeded: "self.word.store(settled, Ordering::Relaxed);
            match Ok::<u64, u64>(word) {",
        found_by: &[
            (SettlingCounter, "changes::given_back_beside_a_take"),
            (SettlingCounter, "changes::charged_more_beside_a_take"),
            (SettlingCounter, "changes::two_settle_beside_a_take"),
        ],
    },
    Mutant {
        name: "settling_only_tries",
        bug: "It gives up when its exchange is lost",
        of: Shipped::OneWord,
        file: "one_word.rs",
        shipped: "Err(found) => word = found,",
        seeded: "Err(_) => return,",
        found_by: &[
            (SettlingCounter, "changes::charged_more_beside_a_take"),
            (SettlingCounter, "changes::two_settle_beside_a_take"),
        ],
    },
    Mutant {
        name: "settles_on_top",
        bug: "It counts what was really used beside the estimate",
        of: Shipped::MutexLog,
        file: "log.rs",
        shipped: "usage.used = usage.used + after.counts(quota) - before.counts(quota);",
        seeded: "usage.used += after.counts(quota);",
        found_by: &[
            (SettlingLog, "changes::given_back_beside_a_take"),
            (SettlingLog, "changes::charged_more_beside_a_take"),
        ],
    },
    Mutant {
        name: "decides_in_two_sections",
        bug: "It looks under one lock and takes under the next, and answers what it saw",
        of: Shipped::Changeable,
        file: "change.rs",
        shipped: "self.with(|limiter| limiter.decide_at(now, cost))",
        seeded: "let seen = self.with(|limiter| limiter.peek_at(now, cost))?.decision();
        if seen.is_allowed() {
            let _ = self.with(|limiter| limiter.decide_at(now, cost))?;
        }
        Ok(seen)",
        found_by: &[
            (ChangingRing, "changes::raised_beside_takes"),
            (ChangingRing, "changes::lowered_beside_takes"),
        ],
    },
    Mutant {
        name: "changes_a_second_time",
        bug: "It releases the lock and sets the quotas once more, for a window of one nanosecond in between",
        of: Shipped::Changeable,
        file: "change.rs",
        shipped: "guard.change_at(clock(), quotas)",
        seeded: "let now = clock();
        let between = windowpane_core::Quota::from_nanos(1, 1, Default::default())?;
        guard.change_at(now, &between.into())?;
        drop(guard);
        let mut guard = self.limiter.write().unwrap_or_else(PoisonError::into_inner);
        guard.change_at(now, quotas)",
        found_by: &[
            (ChangingRing, "changes::longer_window_beside_takes"),
            (ChangingRing, "changes::reset_beside_a_change"),
        ],
    },
];
