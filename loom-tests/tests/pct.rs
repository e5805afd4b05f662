//! Eight threads with eight calls each, under schedules by priority (PCT): every structure that
//! threads share, and twins of each that such schedules find.
#![cfg(windowpane_shuttle)]

use windowpane_baselines::{FixedWindow, FixedWindowRule, Gcra, GcraRule};
use windowpane_cas_ring::CasRing;
use windowpane_core::clock::ManualClock;
use windowpane_core::wait::Queue;
use windowpane_loom_tests::shuttle::{
    calls_of_cleared_keys, calls_of_keys, calls_of_swept_keys, calls_that_change,
    calls_that_settle, line_finds, line_holds, pct_finds, pct_holds, plain_calls,
};
use windowpane_loom_tests::{
    Changing, PlainHashes, Settling, Store, TickingClock, bucket_ring, cas_ring, changing_ring,
    fixed_window, flat_table, gcra, keyed_limiter, mutex_log, packed_counter, parts,
    settling_counter, settling_log, twins,
};
use windowpane_mutex_log::MutexLog;
use windowpane_packed_counter::TwoWindowRule;

/// A store as `keyed_limiter` has it.
macro_rules! small {
    ($store:ident, $script:ident) => {
        $store::<u64, FixedWindow>::builder($script.quotas())
            .max_keys($script.ring_capacity() as usize)
            .hasher(PlainHashes)
            .clock(ManualClock::new(0))
            .build()
            .expect("a store")
    };
}

mod ships {
    use super::*;

    macro_rules! holds {
        ($($name:ident: $subject:ident under $calls:ident,)*) => {
            $(#[test]
            fn $name() {
                pct_holds($subject(), $calls);
            })*
        };
    }

    holds! {
        mutex_log_: mutex_log under plain_calls,
        cas_ring_: cas_ring under plain_calls,
        packed_counter_: packed_counter under plain_calls,
        bucket_ring_: bucket_ring under plain_calls,
        fixed_window_: fixed_window under plain_calls,
        gcra_: gcra under plain_calls,
        changing_ring_: changing_ring under calls_that_change,
        settling_counter_: settling_counter under calls_that_settle,
        settling_log_: settling_log under calls_that_settle,
        flat_table_: flat_table under calls_of_keys,
        keyed_store: keyed_limiter under calls_of_keys,
        keyed_store_cleared: keyed_limiter under calls_of_cleared_keys,
        keyed_store_swept: keyed_limiter under calls_of_swept_keys,
        flat_table_swept: flat_table under calls_of_swept_keys,
    }

    #[test]
    fn wait_queue() {
        line_holds::<Queue<MutexLog, TickingClock>>();
    }
}

/// A panic is no rule that is broken, and other twins may run into one.
#[test]
#[should_panic(expected = "is not found in")]
fn a_twin_that_only_panics_is_not_found() {
    let twin = gcra().twin("panics", |_| -> Gcra { panic!("seeded") });
    pct_finds(twin, plain_calls);
}

mod twins_of {
    use super::*;

    #[test]
    fn mutex_log_() {
        let twin = mutex_log().twin("mutex_log::checks_then_takes", |script| {
            <twins::mutex_log::checks_then_takes::MutexLog>::new(script.quotas())
        });
        pct_finds(twin, plain_calls);
    }

    #[test]
    fn cas_ring_() {
        let twin = cas_ring().twin("cas_ring::claims_blindly", |script| {
            use twins::cas_ring::claims_blindly::CasRing;
            CasRing::with_capacity(script.quotas(), script.ring_capacity()).expect("a ring")
        });
        pct_finds(twin, plain_calls);
    }

    #[test]
    fn packed_counter_() {
        let twin = packed_counter().twin("one_word::adds_plainly, packed-counter", |script| {
            use twins::one_word::adds_plainly::OneWordLimiter;
            OneWordLimiter::<TwoWindowRule>::new(script.quotas()).expect("a counter")
        });
        pct_finds(twin, plain_calls);
    }

    #[test]
    fn bucket_ring_() {
        let twin = bucket_ring().twin("bucket_ring::claims_blindly", |script| {
            use twins::bucket_ring::claims_blindly::BucketRing;
            BucketRing::with_buckets(script.quotas(), script.ring_buckets()).expect("a ring")
        });
        pct_finds(twin, plain_calls);
    }

    #[test]
    fn fixed_window_() {
        let twin = fixed_window().twin("one_word::loads_then_stores, fixed-window", |script| {
            use twins::one_word::loads_then_stores::OneWordLimiter;
            OneWordLimiter::<FixedWindowRule>::new(script.quotas()).expect("a window")
        });
        pct_finds(twin, plain_calls);
    }

    #[test]
    fn gcra_() {
        let twin = gcra().twin("one_word::loads_then_stores, gcra", |script| {
            use twins::one_word::loads_then_stores::OneWordLimiter;
            OneWordLimiter::<GcraRule>::new(script.quotas()).expect("a rate")
        });
        pct_finds(twin, plain_calls);
    }

    #[test]
    fn changing_ring_() {
        let twin = changing_ring().twin("changeable::decides_in_two_sections", |script| {
            use twins::changeable::decides_in_two_sections::Changeable;
            let ring = CasRing::with_capacity(script.quotas(), script.ring_capacity());
            Changing(Changeable::new(ring.expect("a ring")))
        });
        pct_finds(twin, calls_that_change);
    }

    #[test]
    fn settling_counter_() {
        let twin = settling_counter().twin("one_word::settles_blindly", |script| {
            use twins::one_word::settles_blindly::OneWordLimiter;
            let counter = OneWordLimiter::<TwoWindowRule>::new(script.quotas());
            Settling(counter.expect("a counter"))
        });
        pct_finds(twin, calls_that_settle);
    }

    #[test]
    fn settling_log_() {
        let twin = settling_log().twin("mutex_log::settles_on_top", |script| {
            use twins::mutex_log::settles_on_top::MutexLog;
            Settling(<MutexLog>::new(script.quotas()))
        });
        pct_finds(twin, calls_that_settle);
    }

    #[test]
    fn flat_table_() {
        let evicts = flat_table().twin("flat_table::evicts_blindly", |script| {
            use twins::flat_table::evicts_blindly::FlatTable;
            let (rule, entries, clock, hasher) = parts(script);
            Store(FlatTable::with_rule(rule, entries, clock, hasher))
        });
        pct_finds(evicts, calls_of_keys);
        let charges = flat_table().twin("flat_table::charges_blindly", |script| {
            use twins::flat_table::charges_blindly::FlatTable;
            let (rule, entries, clock, hasher) = parts(script);
            Store(FlatTable::with_rule(rule, entries, clock, hasher))
        });
        pct_finds(charges, calls_of_keys);
    }

    #[test]
    fn keyed_store() {
        let evicts = keyed_limiter().twin("keyed::evicts_as_seen_before", |script| {
            use twins::keyed::evicts_as_seen_before::KeyedLimiter;
            Store(small!(KeyedLimiter, script))
        });
        pct_finds(evicts, calls_of_keys);
        let inserts = keyed_limiter().twin("keyed::inserts_twice", |script| {
            use twins::keyed::inserts_twice::KeyedLimiter;
            Store(small!(KeyedLimiter, script))
        });
        pct_finds(inserts, calls_of_keys);
        let raises_late = keyed_limiter().twin("keyed::raises_watermark_after_unlock", |script| {
            use twins::keyed::raises_watermark_after_unlock::KeyedLimiter;
            Store(small!(KeyedLimiter, script))
        });
        pct_finds(raises_late, calls_of_swept_keys);
        let forgets_late =
            keyed_limiter().twin("keyed::forgets_watermark_after_unlock", |script| {
                use twins::keyed::forgets_watermark_after_unlock::KeyedLimiter;
                Store(small!(KeyedLimiter, script))
            });
        pct_finds(forgets_late, calls_of_cleared_keys);
        let clears = keyed_limiter().twin("keyed::clears_shard_by_shard", |script| {
            use twins::keyed::clears_shard_by_shard::KeyedLimiter;
            Store(small!(KeyedLimiter, script))
        });
        pct_finds(clears, calls_of_cleared_keys);
    }

    #[test]
    fn wait_queue() {
        use twins::queue::{leaves_without_a_word, sleeps_though_woken};
        line_finds::<leaves_without_a_word::Queue<MutexLog, TickingClock>>(
            "queue::leaves_without_a_word",
        );
        line_finds::<sleeps_though_woken::Queue<MutexLog, TickingClock>>(
            "queue::sleeps_though_woken",
        );
    }
}
