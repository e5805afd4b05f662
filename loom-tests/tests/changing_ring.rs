//! The ring whose quotas change, under every schedule, and its twins. `build/table` lists both.
#![cfg(windowpane_loom)]

macro_rules! model {
    ($group:ident::$model:ident) => {
        windowpane_loom_tests::ships!(changing_ring $group::$model);
    };
}

macro_rules! twin {
    (changeable $twin:ident $group:ident::$model:ident) => {
        windowpane_loom_tests::found!(changing_ring changeable $twin $group::$model, |script| {
            use windowpane_cas_ring::CasRing;
            use windowpane_loom_tests::{Changing, twins::changeable::$twin::Changeable};
            let ring = CasRing::with_capacity(script.quotas(), script.ring_capacity());
            Changing(Changeable::new(ring.expect("a ring")))
        });
    };
}

include!(concat!(env!("OUT_DIR"), "/changing_ring.rs"));
