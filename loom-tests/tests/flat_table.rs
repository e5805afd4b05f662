//! The flat table of keys under every schedule, and its mutants. `build/table` lists both.
#![cfg(windowpane_loom)]

macro_rules! model {
    ($group:ident::$model:ident) => {
        windowpane_loom_tests::ships!(flat_table $group::$model);
    };
}

macro_rules! mutant {
    (flat_table $mutant:ident $group:ident::$model:ident) => {
        windowpane_loom_tests::found!(flat_table flat_table $mutant $group::$model, |script| {
            use windowpane_loom_tests::{Store, parts, mutants::flat_table::$mutant::FlatTable};
            let (rule, entries, clock, hasher) = parts(script);
            Store(FlatTable::with_rule(rule, entries, clock, hasher))
        });
    };
}

include!(concat!(env!("OUT_DIR"), "/flat_table.rs"));
