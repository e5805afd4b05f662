//! The ring under every schedule, and its mutants. `build/table` lists both.
#![cfg(windowpane_loom)]

macro_rules! model {
    ($group:ident::$model:ident) => {
        windowpane_loom_tests::ships!(cas_ring $group::$model);
    };
}

macro_rules! mutant {
    (cas_ring $mutant:ident $group:ident::$model:ident) => {
        windowpane_loom_tests::found!(cas_ring cas_ring $mutant $group::$model, |script| {
            use windowpane_loom_tests::mutants::cas_ring::$mutant::CasRing;
            CasRing::with_capacity(script.quotas(), script.ring_capacity()).expect("a ring")
        });
    };
}

include!(concat!(env!("OUT_DIR"), "/cas_ring.rs"));
