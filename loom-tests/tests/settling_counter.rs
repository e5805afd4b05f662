//! The packed counter whose charges are settled, under every schedule, and its mutants. `build/table` lists both.
#![cfg(windowpane_loom)]

macro_rules! model {
    ($group:ident::$model:ident) => {
        windowpane_loom_tests::ships!(settling_counter $group::$model);
    };
}

macro_rules! mutant {
    (one_word $mutant:ident $group:ident::$model:ident) => {
        windowpane_loom_tests::found!(settling_counter one_word $mutant $group::$model, |script| {
            use windowpane_loom_tests::{Settling, mutants::one_word::$mutant::OneWordLimiter};
            use windowpane_packed_counter::TwoWindowRule;
            let counter = OneWordLimiter::<TwoWindowRule>::new(script.quotas());
            Settling(counter.expect("a counter"))
        });
    };
}

include!(concat!(env!("OUT_DIR"), "/settling_counter.rs"));
