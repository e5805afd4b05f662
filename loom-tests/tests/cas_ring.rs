//! The ring under every schedule, and its twins. `build/table` lists both.
#![cfg(windowpane_loom)]

macro_rules! model {
    ($group:ident::$model:ident) => {
        windowpane_loom_tests::ships!(cas_ring $group::$model);
    };
}

macro_rules! twin {
    (cas_ring $twin:ident $group:ident::$model:ident) => {
        windowpane_loom_tests::found!(cas_ring cas_ring $twin $group::$model, |script| {
            use windowpane_loom_tests::twins::cas_ring::$twin::CasRing;
            CasRing::with_capacity(script.quotas(), script.ring_capacity()).expect("a ring")
        });
    };
}

include!(concat!(env!("OUT_DIR"), "/cas_ring.rs"));
