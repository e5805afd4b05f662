//! The fixed window under every schedule, and its twins. `build/table` lists both.
#![cfg(windowpane_loom)]

macro_rules! model {
    ($group:ident::$model:ident) => {
        windowpane_loom_tests::ships!(fixed_window $group::$model);
    };
}

macro_rules! twin {
    (one_word $twin:ident $group:ident::$model:ident) => {
        windowpane_loom_tests::found!(fixed_window one_word $twin $group::$model, |script| {
            use windowpane_baselines::FixedWindowRule;
            use windowpane_loom_tests::twins::one_word::$twin::OneWordLimiter;
            OneWordLimiter::<FixedWindowRule>::new(script.quotas()).expect("a window")
        });
    };
}

include!(concat!(env!("OUT_DIR"), "/fixed_window.rs"));
