//! The ring whose quotas change, under every schedule, and its mutants. `build/table` lists both.
#![cfg(windowpane_loom)]

macro_rules! model {
    ($group:ident::$model:ident) => {
        windowpane_loom_tests::ships!(changing_ring $group::$model);
    };
}

macro_rules! mutant {
    (changeable $mutant:ident $group:ident::$model:ident) => {
        windowpane_loom_tests::found!(changing_ring changeable $mutant $group::$model, |script| {
            use windowpane_cas_ring::CasRing;
            use windowpane_loom_tests::{Changing, mutants::changeable::$mutant::Changeable};
            let ring = CasRing::with_capacity(script.quotas(), script.ring_capacity());
            Changing(Changeable::new(ring.expect("a ring")))
        });
    };
}

include!(concat!(env!("OUT_DIR"), "/changing_ring.rs"));
