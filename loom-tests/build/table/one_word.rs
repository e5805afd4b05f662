//! Mutants of the keeper of one word, under the rules of the fixed window and of the packed counter.

use super::Limiter::{FixedWindow, PackedCounter};
use super::{Mutant, Shipped};

/// The exchange that takes, as it ships.
const EXCHANGE: &str = "match self.word.compare_exchange_weak(
    word,
    next,
    Ordering::Relaxed,
    Ordering::Relaxed,
) {
    Ok(_) =>";

pub(crate) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "loads_then_stores",
        bug: "It stores the charged word whatever has come in between",
        of: Shipped::OneWord,
        file: "one_word.rs",
        shipped: EXCHANGE,
        seeded: "self.word.store(next, Ordering::Relaxed);
            match Ok::<u64, u64>(word) {
                Ok(_) =>",
        found_by: &[
            (FixedWindow, "any::last_permit"),
            (FixedWindow, "any::three_for_two"),
            (FixedWindow, "any::twice_each"),
            (FixedWindow, "any::costly_requests"),
            (FixedWindow, "any::unequal_costs"),
            (FixedWindow, "windows::idle_jump"),
            (PackedCounter, "any::last_permit"),
            (PackedCounter, "any::twice_each"),
            (PackedCounter, "any::unequal_costs"),
            (PackedCounter, "any::denial_beside_allowance"),
            (PackedCounter, "windows::roll_raced"),
        ],
    },
    Mutant {
        name: "adds_plainly",
        bug: "It adds the charge, and the roll to a new window, to whatever the word has become",
        of: Shipped::OneWord,
        file: "one_word.rs",
        shipped: EXCHANGE,
        seeded: "match Ok::<u64, u64>(self.word.fetch_add(next.wrapping_sub(word), Ordering::Relaxed)) {
                Ok(_) =>",
        found_by: &[
            (PackedCounter, "any::three_for_two"),
            (PackedCounter, "any::costly_requests"),
            (PackedCounter, "any::readings_out_of_order"),
            (PackedCounter, "windows::roll_raced"),
            (FixedWindow, "windows::roll_beside_a_late_taker"),
        ],
    },
    Mutant {
        name: "does_not_decide_anew",
        bug: "After a lost exchange it charges what it finds without asking the rule again",
        of: Shipped::OneWord,
        file: "one_word.rs",
        shipped: "Err(_) => {",
        seeded: "Err(found) => {
            let charged = found.wrapping_add(next.wrapping_sub(word));
            if self.word.compare_exchange(found, charged, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
                return Ok((Decision::Allowed { at }, charged));
            }",
        found_by: &[
            (PackedCounter, "windows::costs_across_a_roll"),
            (PackedCounter, "windows::idle_jump"),
        ],
    },
    Mutant {
        name: "denials_write",
        bug: "A denial writes the word it was made on back",
        of: Shipped::OneWord,
        file: "one_word.rs",
        shipped: "Verdict::Denied { retry_after } => {
            return Ok((",
        seeded: "Verdict::Denied { retry_after } => {
            let found = self.word.load(Ordering::Relaxed);
            let _ = self.word.compare_exchange(found, word, Ordering::Relaxed, Ordering::Relaxed);
            return Ok((",
        found_by: &[
            (FixedWindow, "windows::costs_across_a_roll"),
            (FixedWindow, "windows::denial_across_a_roll"),
            (PackedCounter, "windows::denial_across_a_roll"),
        ],
    },
    Mutant {
        name: "reset_only_tries",
        bug: "A reset gives up when its exchange is lost",
        of: Shipped::OneWord,
        file: "one_word.rs",
        shipped: "while let Err(found) =",
        seeded: "if let Err(found) =",
        found_by: &[
            (FixedWindow, "any::reset_beside_takes"),
            (PackedCounter, "any::reset_beside_takes"),
        ],
    },
];
