//! The log under every schedule, and its twins. `build/table` lists both.
#![cfg(windowpane_loom)]

macro_rules! model {
    ($group:ident::$model:ident) => {
        windowpane_loom_tests::ships!(mutex_log $group::$model);
    };
}

macro_rules! twin {
    (mutex_log $twin:ident $group:ident::$model:ident) => {
        windowpane_loom_tests::found!(mutex_log mutex_log $twin $group::$model, |script| {
            <windowpane_loom_tests::twins::mutex_log::$twin::MutexLog>::new(script.quotas())
        });
    };
}

include!(concat!(env!("OUT_DIR"), "/mutex_log.rs"));
