//! The bucket ring under every schedule, and its twins. `build/table` lists both.
#![cfg(windowpane_loom)]

macro_rules! model {
    ($group:ident::$model:ident) => {
        windowpane_loom_tests::ships!(bucket_ring $group::$model);
    };
}

macro_rules! twin {
    (bucket_ring $twin:ident $group:ident::$model:ident) => {
        windowpane_loom_tests::found!(bucket_ring bucket_ring $twin $group::$model, |script| {
            use windowpane_loom_tests::twins::bucket_ring::$twin::BucketRing;
            BucketRing::with_buckets(script.quotas(), script.ring_buckets()).expect("a ring")
        });
    };
}

include!(concat!(env!("OUT_DIR"), "/bucket_ring.rs"));
