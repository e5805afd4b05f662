//! The packed counter under every schedule, and the twins of its rule and of its keeper.
//! `build/table` lists both.
#![cfg(windowpane_loom)]

macro_rules! model {
    ($group:ident::$model:ident) => {
        windowpane_loom_tests::ships!(packed_counter $group::$model);
    };
}

macro_rules! twin {
    (one_word $twin:ident $group:ident::$model:ident) => {
        windowpane_loom_tests::found!(packed_counter one_word $twin $group::$model, |script| {
            use windowpane_loom_tests::twins::one_word::$twin::OneWordLimiter;
            use windowpane_packed_counter::TwoWindowRule;
            OneWordLimiter::<TwoWindowRule>::new(script.quotas()).expect("a counter")
        });
    };
    (packed_counter $twin:ident $group:ident::$model:ident) => {
        windowpane_loom_tests::found!(packed_counter packed_counter $twin $group::$model, |script| {
            use windowpane_core::OneWordLimiter;
            use windowpane_loom_tests::twins::packed_counter::$twin::TwoWindowRule;
            OneWordLimiter::<TwoWindowRule>::new(script.quotas()).expect("a counter")
        });
    };
}

include!(concat!(env!("OUT_DIR"), "/packed_counter.rs"));
