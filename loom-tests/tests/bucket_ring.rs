//! The bucket ring under every schedule, and its mutants. `build/table` lists both.
#![cfg(windowpane_loom)]

macro_rules! model {
    ($group:ident::$model:ident) => {
        windowpane_loom_tests::ships!(bucket_ring $group::$model);
    };
}

macro_rules! mutant {
    (bucket_ring $mutant:ident $group:ident::$model:ident) => {
        windowpane_loom_tests::found!(bucket_ring bucket_ring $mutant $group::$model, |script| {
            use windowpane_loom_tests::mutants::bucket_ring::$mutant::BucketRing;
            BucketRing::with_buckets(script.quotas(), script.ring_buckets()).expect("a ring")
        });
    };
}

include!(concat!(env!("OUT_DIR"), "/bucket_ring.rs"));
