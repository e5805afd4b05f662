//! Stores of keys: what each key's calls were answered must be what some order of them explains by a
//! limiter that has this key alone and that nobody forgets.
//!
//! A store goes through many rounds. In each, the threads ask for a few keys, at one reading of the
//! clock; between two rounds more than all windows pass. So at the beginning of a round all keys that
//! the store holds are idle, it is full of them, and each insertion has to evict one while others charge
//! theirs, insert the same key, or look.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use windowpane_baselines::{FixedWindow, FixedWindowRule};
use windowpane_cas_ring::CasRing;
use windowpane_core::clock::ManualClock;
use windowpane_core::one_word::OneWordRule;
use windowpane_core::{
    Answer as Told, Clock, Cost, Decision, Detailed, KeyedRateLimiter, Quotas, RateLimiter,
    RequestError, StoreError,
};
use windowpane_keyed::flat::FlatTable;
use windowpane_keyed::{DefaultHasher, ForKeys, KeyedLimiter};
use windowpane_lab_contestants::registry::ORACLE;
use windowpane_mutex_log::MutexLog;
use windowpane_packed_counter::{PackedCounter, TwoWindowRule};

use crate::history::{Threads, is_linearizable};
use crate::specification::{Answer, Call, Setup};
use crate::{THREADS, alone, go_on, least};

/// The keys of one round, of all, and how many a store holds: room for those of a round, once more for
/// each thread that inserts one that another inserts too.
const KEYS: u64 = 3;
const ALL_KEYS: u64 = 4 * KEYS;
const CAP: usize = KEYS as usize + THREADS;

/// Longer than two windows, so that nothing of the round before counts.
const ROUND: u64 = 1_000;

type Store = Arc<dyn KeyedRateLimiter<u64> + Send + Sync>;

fn quotas(limit: u64) -> Quotas {
    Quotas::parse([format!("{limit}/200ns").as_str()]).expect("a quota")
}

fn ask(store: &Store, now: u64, key: u64, call: Call) -> Answer {
    let told = |answer: Result<Told, StoreError>| match answer {
        Ok(answer) => Some(Ok(answer.detailed)),
        Err(StoreError::Request(error)) => Some(Err(error)),
        Err(error) => panic!("key {key} at {now}: {error}, and yet idle keys were there to evict"),
    };
    match call {
        Call::Acquire { cost, .. } => told(store.decide_detailed(&key, cost)),
        Call::Peek { cost, .. } => told(store.peek_detailed(&key, cost)),
        Call::Reset => {
            store.reset(&key);
            None
        }
    }
}

/// The calls of each thread in one round.
fn round(seed: u64, now: u64) -> Vec<Vec<(u64, Call)>> {
    let mut random = SmallRng::seed_from_u64(seed);
    let first = random.random_range(0..ALL_KEYS);
    let one = |random: &mut SmallRng| {
        let key = (first + random.random_range(0..KEYS)) % ALL_KEYS;
        let cost = Cost::new(random.random_range(1..=2)).expect("at least 1");
        let call = match random.random_range(0..20) {
            0..=15 => Call::Acquire { now, cost },
            16..=18 => Call::Peek { now, cost },
            _ => Call::Reset,
        };
        (key, call)
    };
    let calls = |random: &mut SmallRng| -> Vec<_> {
        let count = random.random_range(4..=10);
        (0..count).map(|_| one(random)).collect()
    };
    (0..THREADS).map(|_| calls(&mut random)).collect()
}

/// Rounds of a store until there were enough whose calls overlap: the first that no order explains, how
/// many there were, and how many of them overlapped.
fn first_unexplained(
    judge: &'static str,
    limit: u64,
    build: impl Fn(Arc<ManualClock>) -> Store,
) -> (Option<String>, u64, u64) {
    let threads = Threads::<(u64, Call)>::start(THREADS);
    let setup = Setup::of_a_key(judge, quotas(limit));
    let clock = Arc::new(ManualClock::new(0));
    let store = build(clock.clone());
    // Full of idle keys.
    for key in 0..ALL_KEYS {
        let _ = store.decide(&key, Cost::ONE);
    }
    let (mut made, mut overlapping) = (0, 0);
    let start = Instant::now();
    while go_on(made, overlapping, start.elapsed()) {
        let now = ROUND * (made + 1);
        clock.set(now);
        let store = store.clone();
        let calls = round(made, now);
        let history = threads.make(&calls, move |(key, call)| ask(&store, now, key, call));
        overlapping += u64::from(history.overlaps());
        made += 1;
        for (key, history) in history.by_key() {
            if !is_linearizable(&setup, &history) {
                let told = format!("round {made}, key {key}, limit {limit}:\n{history}");
                return (Some(told), made, overlapping);
            }
        }
    }
    (None, made, overlapping)
}

fn holds(name: &str, judge: &'static str, limit: u64, build: impl Fn(Arc<ManualClock>) -> Store) {
    let (unexplained, made, overlapping) = first_unexplained(judge, limit, build);
    println!("{name}: {made} histories, {overlapping} of them with calls that overlap");
    if let Some(history) = unexplained {
        panic!("{name}: no order explains {history}");
    }
    assert!(
        overlapping >= least(),
        "{name}: only {overlapping} of {made} histories have calls that overlap: is the machine too \
         busy, or of one processor?"
    );
}

fn keyed<L: ForKeys + RateLimiter + 'static>(limit: u64, clock: Arc<ManualClock>) -> Store {
    let store = KeyedLimiter::<u64, L>::builder(quotas(limit))
        .max_keys(CAP)
        .clock(clock);
    Arc::new(store.build().expect("a store"))
}

fn flat<R: OneWordRule + 'static>(limit: u64, clock: Arc<ManualClock>) -> Store {
    let hasher = DefaultHasher::default();
    let table = FlatTable::<R>::builder(quotas(limit), CAP)
        .clock(clock)
        .hasher(hasher);
    Arc::new(table.build().expect("a table"))
}

#[test]
fn every_store_is_linearizable_key_by_key() {
    let _alone = alone();
    holds("keyed store of rings", ORACLE, 2, |clock| {
        keyed::<CasRing>(2, clock)
    });
    holds("keyed store of windows", "fixed-window", 4, |clock| {
        keyed::<FixedWindow>(4, clock)
    });
    holds("keyed store of counters", "packed-counter", 2, |clock| {
        keyed::<PackedCounter>(2, clock)
    });
    holds("flat table of windows", "fixed-window", 2, |clock| {
        flat::<FixedWindowRule>(2, clock)
    });
    holds("flat table of counters", "packed-counter", 4, |clock| {
        flat::<TwoWindowRule>(4, clock)
    });
}

/// Evictions are part of it: a store that never evicted would show nothing of them.
#[test]
fn each_round_evicts() {
    let clock = Arc::new(ManualClock::new(0));
    let store = KeyedLimiter::<u64, CasRing>::builder(quotas(2))
        .max_keys(CAP)
        .clock(clock.clone())
        .build()
        .expect("a store");
    for made in 0..50 {
        clock.set(ROUND * (made + 1));
        for (key, call) in round(made, clock.now()).into_iter().flatten() {
            if let Call::Acquire { cost, .. } = call {
                let _ = store.decide(&key, cost);
            }
        }
    }
    assert!(
        store.stats().evictions > 50,
        "{} evictions",
        store.stats().evictions
    );
}

/// A store with the bug that the checker must find: it looks for a key under one lock, and inserts it
/// under another, whatever has been inserted in between.
struct LookThenInsert {
    quotas: Quotas,
    clock: Arc<ManualClock>,
    limiters: Mutex<HashMap<u64, Arc<MutexLog>>>,
}

impl LookThenInsert {
    fn limiter(&self, key: u64) -> Arc<MutexLog> {
        let now = self.clock.now();
        let found = self.limiters.lock().unwrap().get(&key).cloned();
        if let Some(limiter) = found.filter(|limiter| !limiter.is_idle_at(now)) {
            return limiter;
        }
        std::thread::yield_now();
        let limiter = Arc::new(MutexLog::new(self.quotas.clone()));
        self.limiters.lock().unwrap().insert(key, limiter.clone());
        limiter
    }

    fn told(&self, answer: Result<Detailed, RequestError>) -> Result<Told, StoreError> {
        Ok(Told::new(answer?, self.quotas.clone()))
    }
}

impl KeyedRateLimiter<u64> for LookThenInsert {
    fn quotas(&self, _key: &u64) -> Quotas {
        self.quotas.clone()
    }

    fn decide(&self, key: &u64, cost: Cost) -> Result<Decision, StoreError> {
        Ok(self.decide_detailed(key, cost)?.detailed.decision())
    }

    fn decide_detailed(&self, key: &u64, cost: Cost) -> Result<Told, StoreError> {
        self.told(
            self.limiter(*key)
                .decide_detailed_at(self.clock.now(), cost),
        )
    }

    fn peek_detailed(&self, key: &u64, cost: Cost) -> Result<Told, StoreError> {
        self.told(self.limiter(*key).peek_at(self.clock.now(), cost))
    }

    fn reset(&self, key: &u64) {
        self.limiters.lock().unwrap().remove(key);
    }
}

#[test]
fn a_store_that_looks_then_inserts_is_found_out() {
    let _alone = alone();
    let (unexplained, made, _) = first_unexplained(ORACLE, 2, |clock| {
        Arc::new(LookThenInsert {
            quotas: quotas(2),
            clock,
            limiters: Mutex::default(),
        })
    });
    let history = unexplained.unwrap_or_else(|| panic!("not found out in {made} histories"));
    println!("found out in {history}");
}
