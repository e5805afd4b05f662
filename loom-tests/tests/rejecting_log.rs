//! The log that rejects times that step back, under every schedule, and its mutants. `build/table`
//! lists both.
#![cfg(windowpane_loom)]

macro_rules! model {
    ($group:ident::$model:ident) => {
        windowpane_loom_tests::ships!(rejecting_log $group::$model);
    };
}

macro_rules! mutant {
    (mutex_log $mutant:ident $group:ident::$model:ident) => {
        windowpane_loom_tests::found!(rejecting_log mutex_log $mutant $group::$model, |script| {
            use windowpane_loom_tests::mutants::mutex_log::$mutant::{MutexLog, OnRegression};
            <MutexLog>::with_regression(script.quotas(), OnRegression::Reject)
        });
    };
}

include!(concat!(env!("OUT_DIR"), "/rejecting_log.rs"));
