//! The log whose charges are settled, under every schedule, and its mutants. `build/table` lists both.
#![cfg(windowpane_loom)]

macro_rules! model {
    ($group:ident::$model:ident) => {
        windowpane_loom_tests::ships!(settling_log $group::$model);
    };
}

macro_rules! mutant {
    (mutex_log $mutant:ident $group:ident::$model:ident) => {
        windowpane_loom_tests::found!(settling_log mutex_log $mutant $group::$model, |script| {
            use windowpane_loom_tests::{Settling, mutants::mutex_log::$mutant::MutexLog};
            Settling(<MutexLog>::new(script.quotas()))
        });
    };
}

include!(concat!(env!("OUT_DIR"), "/settling_log.rs"));
