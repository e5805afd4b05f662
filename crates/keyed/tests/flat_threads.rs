//! The flat table under real threads.

#[path = "../../core/tests/bounded/mod.rs"]
mod bounded;

use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};

use bounded::bounded;
use windowpane_baselines::FixedWindowRule;
use windowpane_core::clock::ManualClock;
use windowpane_core::{Cost, Decision, Nanos, Quotas};
use windowpane_keyed::DefaultHasher;
use windowpane_keyed::flat::FlatTable;

const THREADS: u64 = 4;

type Table = FlatTable<FixedWindowRule, windowpane_keyed::DefaultHasher, ManualClock>;

fn table(quota: &str, entries: usize) -> Table {
    let quotas = Quotas::parse([quota]).unwrap();
    let hasher = DefaultHasher::default();
    FlatTable::builder(quotas, entries)
        .clock(ManualClock::new(0))
        .hasher(hasher)
        .build()
        .unwrap()
}

/// Runs `work` on each thread with its number, all at once.
fn on_all_threads<T: Send>(work: impl Fn(u64) -> T + Sync) -> Vec<T> {
    let barrier = Barrier::new(THREADS as usize);
    std::thread::scope(|scope| {
        let spawn = |thread| {
            let (barrier, work) = (&barrier, &work);
            scope.spawn(move || {
                barrier.wait();
                work(thread)
            })
        };
        let threads: Vec<_> = (0..THREADS).map(spawn).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    })
}

/// All threads insert the same keys at the same time, round after round: each key gets its limit,
/// not one permit more or less, and stands in the table once.
#[test]
fn keys_that_all_insert_at_once_get_their_limit_and_one_entry() {
    bounded(|| {
        const KEYS: u64 = 400;
        const LIMIT: u64 = 5;
        let table = table("5/1000s", 2_000);
        for round in 0..30 {
            let allowed: Vec<AtomicU64> = (0..KEYS).map(|_| AtomicU64::new(0)).collect();
            on_all_threads(|thread| {
                for turn in 0..2 * LIMIT {
                    for key in 0..KEYS {
                        // Neighbours insert in different orders, but close together.
                        let key = (key ^ (thread & turn & 1)) % KEYS;
                        let decision = table.decide_at(&(round, key), 5, Cost::ONE).unwrap();
                        allowed[key as usize]
                            .fetch_add(decision.is_allowed().into(), Ordering::Relaxed);
                    }
                }
            });
            let allowed: Vec<u64> = allowed.into_iter().map(AtomicU64::into_inner).collect();
            assert_eq!(allowed, vec![LIMIT; KEYS as usize]);
            assert_eq!(table.len() as u64, KEYS);
            // Two entries of one key would be two here.
            assert_eq!(table.sweep_at(Nanos::MAX / 2) as u64, KEYS);
            assert!(table.is_empty());
            // The sweep was far ahead, so what is inserted now is recorded at the window's end.
            for key in 0..KEYS {
                table.reset(&(round, key));
            }
        }
    });
}

/// Time goes on while more keys than fit are inserted, fall idle, are evicted, reset, swept and
/// inserted again: by the recorded times no window of any key ever holds more than its limit.
#[test]
fn no_window_of_any_key_holds_more_than_its_limit() {
    bounded(|| {
        const KEYS: u64 = 60;
        const WINDOWS: u64 = 2_000;
        const WINDOW: Nanos = 100;
        const LIMIT: u64 = 3;
        let table = table("3/100ns", 48);
        let clock = AtomicU64::new(0);
        // A window more: the floor may be ahead of the clock.
        let counts = || {
            (0..KEYS * (WINDOWS + 2))
                .map(|_| AtomicU64::new(0))
                .collect()
        };
        let allowed: Vec<AtomicU64> = counts();
        let full = AtomicU64::new(0);
        on_all_threads(|thread| {
            let mut random = thread + 1;
            loop {
                random = random
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                let bits = random >> 33;
                // Readings of threads are out of order by some nanoseconds, now and then by a window.
                let now = clock.fetch_add(bits % 5 / 4, Ordering::Relaxed);
                if now >= WINDOWS * WINDOW {
                    return;
                }
                let back = if bits % 97 == 0 { WINDOW } else { bits % 3 };
                let now = now.saturating_sub(back);
                // Few keys are asked for often.
                let key = (bits >> 8) % KEYS % (1 + (bits >> 16) % KEYS);
                match table.decide_at(&key, now, Cost::ONE) {
                    Ok(Decision::Allowed { at }) => {
                        let window = at / WINDOW;
                        let count = &allowed[(key * (WINDOWS + 2) + window) as usize];
                        count.fetch_add(1, Ordering::Relaxed);
                    }
                    Ok(Decision::Denied(_)) => {}
                    Err(_) => {
                        full.fetch_add(1, Ordering::Relaxed);
                    }
                }
                if bits % 511 == 0 {
                    table.sweep_at(now);
                }
            }
        });
        let most = allowed
            .iter()
            .map(|count| count.load(Ordering::Relaxed))
            .max();
        assert_eq!(most, Some(LIMIT), "the limit is reached and not passed");
        assert!(
            table.stats().evictions > 1_000,
            "{} evictions",
            table.stats().evictions
        );
        assert_eq!(table.stats().full, full.into_inner());
        // Counted to the end: what is held is what a sweep finds.
        let held = table.len();
        assert_eq!(table.sweep_at(Nanos::MAX / 2), held);
        assert!(table.is_empty());
    });
}

/// A thread that resets keys while others charge them loses no entry and no count.
#[test]
fn resets_beside_charges_leave_the_count_right() {
    bounded(|| {
        let table = table("3/1000s", 64);
        on_all_threads(|thread| {
            for turn in 0..20_000_u64 {
                let key = turn.wrapping_mul(thread + 7) % 9;
                if thread == 0 {
                    table.reset(&key);
                } else {
                    let _ = table.decide_at(&key, 5, Cost::ONE).unwrap();
                }
            }
        });
        let held = table.len();
        assert_eq!(table.sweep_at(Nanos::MAX / 2), held);
        assert!(table.is_empty());
    });
}
