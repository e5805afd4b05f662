//! Mutants of the packed counter's rule.

use super::Limiter::PackedCounter;
use super::{Mutant, Shipped};

pub(crate) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "roll_drops_the_count",
        bug: "A new window forgets the one before",
        of: Shipped::PackedCounter,
        file: "rule.rs",
        shipped: "if windows == 1 { counts.current } else { 0 }",
        seeded: "0",
        found_by: &[
            (PackedCounter, "any::looks_beside_takes"),
            (PackedCounter, "windows::roll_raced"),
        ],
    },
    Mutant {
        name: "roll_keeps_too_long",
        bug: "After idle windows the last count still weighs",
        of: Shipped::PackedCounter,
        file: "rule.rs",
        shipped: "if windows == 1 { counts.current } else { 0 }",
        seeded: "counts.current",
        found_by: &[(PackedCounter, "windows::idle_jump")],
    },
    Mutant {
        name: "early_times_are_late",
        bug: "A time before the recorded window is recorded as it is",
        of: Shipped::PackedCounter,
        file: "rule.rs",
        shipped: "let at = now.max(start); let since = at - start;",
        seeded: "let at = now; let since = at.saturating_sub(start);",
        found_by: &[
            (PackedCounter, "any::readings_out_of_order"),
            (PackedCounter, "windows::roll_beside_a_late_taker"),
        ],
    },
    Mutant {
        name: "carries_into_the_index",
        bug: "A count that is full carries into its neighbour",
        of: Shipped::PackedCounter,
        file: "layout.rs",
        shipped: "count_bits, offset_bits, offset_shift: window_bits - offset_bits,",
        seeded: "count_bits: count_bits - 1, offset_bits, offset_shift: window_bits - offset_bits,",
        found_by: &[(PackedCounter, "any::unequal_costs")],
    },
];
