//! The fixed window under every schedule, and its mutants. `build/table` lists both.
#![cfg(windowpane_loom)]

macro_rules! model {
    ($group:ident::$model:ident) => {
        windowpane_loom_tests::ships!(fixed_window $group::$model);
    };
}

macro_rules! mutant {
    (one_word $mutant:ident $group:ident::$model:ident) => {
        windowpane_loom_tests::found!(fixed_window one_word $mutant $group::$model, |script| {
            use windowpane_baselines::FixedWindowRule;
            use windowpane_loom_tests::mutants::one_word::$mutant::OneWordLimiter;
            OneWordLimiter::<FixedWindowRule>::new(script.quotas()).expect("a window")
        });
    };
}

include!(concat!(env!("OUT_DIR"), "/fixed_window.rs"));
