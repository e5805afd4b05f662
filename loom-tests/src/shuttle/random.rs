//! Random calls of eight threads, eight each.

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use windowpane_core::Cost;

use crate::script::{
    Call, Script, acquire, acquire_of, change, clear, detailed, peek, peek_of, reset, settle, sweep,
};

/// Makes a script from a seed.
pub type Calls = fn(u64) -> Script;

const THREADS: u64 = 8;
const CALLS: u64 = 8;

/// What one call is, at about this time.
type OneCall = fn(&mut SmallRng, u64) -> Call;

fn calls(seed: u64, quotas: &[&str], call: OneCall) -> Script {
    let mut random = SmallRng::seed_from_u64(seed);
    let mut script = Script::new(quotas).buckets(4);
    for _ in 0..THREADS {
        let mut clock = 100 + random.random_range(0..10);
        let calls: Vec<Call> = (0..CALLS)
            .map(|_| {
                clock += random.random_range(0..12);
                call(&mut random, clock)
            })
            .collect();
        script = script.thread(calls);
    }
    script
}

fn cost(random: &mut SmallRng) -> u64 {
    match random.random_range(0..4) {
        0 => 2,
        _ => 1,
    }
}

fn plain_call(random: &mut SmallRng, now: u64) -> Call {
    let cost = cost(random);
    match random.random_range(0..20) {
        0..=13 => acquire(now).costing(cost),
        14..=16 => detailed(now).costing(cost),
        _ => peek(now).costing(cost),
    }
}

fn quota(seed: u64) -> &'static str {
    ["3/20ns", "5/40ns", "2/12ns", "8/60ns"][(seed % 4) as usize]
}

/// Requests and looks; now and then a reset, every fourth time.
pub fn plain_calls(seed: u64) -> Script {
    match seed % 8 {
        7 => calls(seed, &[quota(seed)], |random, now| {
            match random.random_range(0..12) {
                0 => reset(),
                _ => plain_call(random, now),
            }
        }),
        _ => calls(seed, &[quota(seed)], plain_call),
    }
}

/// Requests, looks and settlements of charges that may have been made.
pub fn calls_that_settle(seed: u64) -> Script {
    calls(seed, &["8/60ns"], |random, now| {
        match random.random_range(0..3) {
            0 => settle(
                now - random.random_range(0..20),
                1,
                random.random_range(0..3),
            ),
            _ => plain_call(random, now),
        }
    })
}

/// The loosest quota that [`calls_that_change`] put in force at any time.
pub(super) const LOOSEST: &str = "5/12ns";

/// Requests and looks while the quota changes. Every second time only two calls a thread: what the
/// checker of orders gets through where most calls change something.
pub fn calls_that_change(seed: u64) -> Script {
    let mut script = calls(seed, &["3/20ns"], |random, now| {
        match random.random_range(0..6) {
            0 => change(
                now,
                random.random_range(2..=5),
                [12, 20, 40][random.random_range(0..3)],
            ),
            _ => plain_call(random, now),
        }
    });
    if seed % 2 == 1 {
        for calls in &mut script.threads {
            calls.truncate(2);
        }
    }
    script.capacity(6)
}

/// Requests for six keys, or for three, in a store that holds five or in a table of two entries;
/// looks, sweeps. Times go on, so keys fall idle.
pub fn calls_of_keys(seed: u64) -> Script {
    let one_of: OneCall = match seed % 2 {
        0 => |random, now| call_of_key(random, now, 6),
        _ => |random, now| call_of_key(random, now, 3),
    };
    calls(seed, &["2/16ns"], one_of).capacity(5)
}

fn call_of_key(random: &mut SmallRng, now: u64, keys: u64) -> Call {
    // From 1 on: the plain hash of 0 would stand for the same key as that of 1.
    let key = random.random_range(1..=keys);
    match random.random_range(0..16) {
        0 => sweep(now),
        1..=2 => peek_of(key, now),
        _ => acquire_of(key, now).costing(cost(random)),
    }
}

/// Requests for two keys, beside sweeps whose readings are a window ahead: a key is evicted by a late
/// reading, and its next request has an earlier one.
pub fn calls_of_swept_keys(seed: u64) -> Script {
    let call: OneCall = |random, now| match random.random_range(0..4) {
        0 => sweep(now + 16),
        _ => acquire_of(random.random_range(1..=2), now),
    };
    calls(seed, &["2/16ns"], call).capacity(5)
}

/// Requests for one key in one window and sweeps at later readings by two threads; a third forgets all
/// keys. So few threads are interrupted more often inside that call.
pub fn calls_of_cleared_keys(seed: u64) -> Script {
    let call: OneCall = |random, now| match random.random_range(0..4) {
        0 => sweep(now + 16),
        // All of one window.
        _ => acquire_of(1, 96 + now % 16),
    };
    let mut script = calls(seed, &["1/16ns"], call).capacity(5);
    script.threads.truncate(2);
    script.thread([clear()])
}

/// What a thread that waits asks for.
pub(super) fn waiting(seed: u64) -> Vec<Vec<Cost>> {
    let mut random = SmallRng::seed_from_u64(seed);
    let one = |random: &mut SmallRng| Cost::new(cost(random)).expect("a cost above 0");
    (0..THREADS)
        .map(|_| (0..CALLS).map(|_| one(&mut random)).collect())
        .collect()
}
