//! The packed counter under every schedule, and the mutants of its rule and of its keeper.
//! `build/table` lists both.
#![cfg(windowpane_loom)]

macro_rules! model {
    ($group:ident::$model:ident) => {
        windowpane_loom_tests::ships!(packed_counter $group::$model);
    };
}

macro_rules! mutant {
    (one_word $mutant:ident $group:ident::$model:ident) => {
        windowpane_loom_tests::found!(packed_counter one_word $mutant $group::$model, |script| {
            use windowpane_loom_tests::mutants::one_word::$mutant::OneWordLimiter;
            use windowpane_packed_counter::TwoWindowRule;
            OneWordLimiter::<TwoWindowRule>::new(script.quotas()).expect("a counter")
        });
    };
    (packed_counter $mutant:ident $group:ident::$model:ident) => {
        windowpane_loom_tests::found!(packed_counter packed_counter $mutant $group::$model, |script| {
            use windowpane_core::OneWordLimiter;
            use windowpane_loom_tests::mutants::packed_counter::$mutant::TwoWindowRule;
            OneWordLimiter::<TwoWindowRule>::new(script.quotas()).expect("a counter")
        });
    };
}

include!(concat!(env!("OUT_DIR"), "/packed_counter.rs"));
