//! The log under every schedule, and its mutants. `build/table` lists both.
#![cfg(windowpane_loom)]

macro_rules! model {
    ($group:ident::$model:ident) => {
        windowpane_loom_tests::ships!(mutex_log $group::$model);
    };
}

macro_rules! mutant {
    (mutex_log $mutant:ident $group:ident::$model:ident) => {
        windowpane_loom_tests::found!(mutex_log mutex_log $mutant $group::$model, |script| {
            <windowpane_loom_tests::mutants::mutex_log::$mutant::MutexLog>::new(script.quotas())
        });
    };
}

include!(concat!(env!("OUT_DIR"), "/mutex_log.rs"));
