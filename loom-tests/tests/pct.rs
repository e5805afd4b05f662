//! Eight threads with eight calls each, under schedules by priority (PCT): every structure that
//! threads share, and mutants of each that such schedules find.
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
    fixed_window, flat_table, gcra, keyed_limiter, mutants, mutex_log, packed_counter, parts,
    settling_counter, settling_log,
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

/// A panic is no rule that is broken, and other mutants may run into one.
#[test]
#[should_panic(expected = "is not found in")]
fn a_mutant_that_only_panics_is_not_found() {
    let mutant = gcra().mutant("panics", |_| -> Gcra { panic!("seeded") });
    pct_finds(mutant, plain_calls);
}

mod mutants_of {
    use super::*;

    #[test]
    fn mutex_log_() {
        let mutant = mutex_log().mutant("mutex_log::checks_then_takes", |script| {
            <mutants::mutex_log::checks_then_takes::MutexLog>::new(script.quotas())
        });
        pct_finds(mutant, plain_calls);
    }

    #[test]
    fn cas_ring_() {
        let mutant = cas_ring().mutant("cas_ring::claims_blindly", |script| {
            use mutants::cas_ring::claims_blindly::CasRing;
            CasRing::with_capacity(script.quotas(), script.ring_capacity()).expect("a ring")
        });
        pct_finds(mutant, plain_calls);
    }

    #[test]
    fn packed_counter_() {
        let mutant = packed_counter().mutant("one_word::adds_plainly, packed-counter", |script| {
            use mutants::one_word::adds_plainly::OneWordLimiter;
            OneWordLimiter::<TwoWindowRule>::new(script.quotas()).expect("a counter")
        });
        pct_finds(mutant, plain_calls);
    }

    #[test]
    fn bucket_ring_() {
        let mutant = bucket_ring().mutant("bucket_ring::claims_blindly", |script| {
            use mutants::bucket_ring::claims_blindly::BucketRing;
            BucketRing::with_buckets(script.quotas(), script.ring_buckets()).expect("a ring")
        });
        pct_finds(mutant, plain_calls);
    }

    #[test]
    fn fixed_window_() {
        let mutant = fixed_window().mutant("one_word::loads_then_stores, fixed-window", |script| {
            use mutants::one_word::loads_then_stores::OneWordLimiter;
            OneWordLimiter::<FixedWindowRule>::new(script.quotas()).expect("a window")
        });
        pct_finds(mutant, plain_calls);
    }

    #[test]
    fn gcra_() {
        let mutant = gcra().mutant("one_word::loads_then_stores, gcra", |script| {
            use mutants::one_word::loads_then_stores::OneWordLimiter;
            OneWordLimiter::<GcraRule>::new(script.quotas()).expect("a rate")
        });
        pct_finds(mutant, plain_calls);
    }

    #[test]
    fn changing_ring_() {
        let mutant = changing_ring().mutant("changeable::decides_in_two_sections", |script| {
            use mutants::changeable::decides_in_two_sections::Changeable;
            let ring = CasRing::with_capacity(script.quotas(), script.ring_capacity());
            Changing(Changeable::new(ring.expect("a ring")))
        });
        pct_finds(mutant, calls_that_change);
    }

    #[test]
    fn settling_counter_() {
        let mutant = settling_counter().mutant("one_word::settles_blindly", |script| {
            use mutants::one_word::settles_blindly::OneWordLimiter;
            let counter = OneWordLimiter::<TwoWindowRule>::new(script.quotas());
            Settling(counter.expect("a counter"))
        });
        pct_finds(mutant, calls_that_settle);
    }

    #[test]
    fn settling_log_() {
        let mutant = settling_log().mutant("mutex_log::settles_on_top", |script| {
            use mutants::mutex_log::settles_on_top::MutexLog;
            Settling(<MutexLog>::new(script.quotas()))
        });
        pct_finds(mutant, calls_that_settle);
    }

    #[test]
    fn flat_table_() {
        let evicts = flat_table().mutant("flat_table::evicts_blindly", |script| {
            use mutants::flat_table::evicts_blindly::FlatTable;
            let (rule, entries, clock, hasher) = parts(script);
            Store(FlatTable::with_rule(rule, entries, clock, hasher))
        });
        pct_finds(evicts, calls_of_keys);
        let charges = flat_table().mutant("flat_table::charges_blindly", |script| {
            use mutants::flat_table::charges_blindly::FlatTable;
            let (rule, entries, clock, hasher) = parts(script);
            Store(FlatTable::with_rule(rule, entries, clock, hasher))
        });
        pct_finds(charges, calls_of_keys);
    }

    #[test]
    fn keyed_store() {
        let evicts = keyed_limiter().mutant("keyed::evicts_as_seen_before", |script| {
            use mutants::keyed::evicts_as_seen_before::KeyedLimiter;
            Store(small!(KeyedLimiter, script))
        });
        pct_finds(evicts, calls_of_keys);
        let inserts = keyed_limiter().mutant("keyed::inserts_twice", |script| {
            use mutants::keyed::inserts_twice::KeyedLimiter;
            Store(small!(KeyedLimiter, script))
        });
        pct_finds(inserts, calls_of_keys);
        let raises_late =
            keyed_limiter().mutant("keyed::raises_watermark_after_unlock", |script| {
                use mutants::keyed::raises_watermark_after_unlock::KeyedLimiter;
                Store(small!(KeyedLimiter, script))
            });
        pct_finds(raises_late, calls_of_swept_keys);
        let forgets_late =
            keyed_limiter().mutant("keyed::forgets_watermark_after_unlock", |script| {
                use mutants::keyed::forgets_watermark_after_unlock::KeyedLimiter;
                Store(small!(KeyedLimiter, script))
            });
        pct_finds(forgets_late, calls_of_cleared_keys);
        let clears = keyed_limiter().mutant("keyed::clears_shard_by_shard", |script| {
            use mutants::keyed::clears_shard_by_shard::KeyedLimiter;
            Store(small!(KeyedLimiter, script))
        });
        pct_finds(clears, calls_of_cleared_keys);
    }

    #[test]
    fn wait_queue() {
        use mutants::queue::{leaves_without_a_word, sleeps_though_woken};
        line_finds::<leaves_without_a_word::Queue<MutexLog, TickingClock>>(
            "queue::leaves_without_a_word",
        );
        line_finds::<sleeps_though_woken::Queue<MutexLog, TickingClock>>(
            "queue::sleeps_though_woken",
        );
    }
}
