//! One call after another of every limiter, for `cargo xtask instructions`, which runs this under
//! valgrind and counts the instructions of each case's calls.
//!
//! All cases run in one process: [`windowpane_measured`] alone is counted, and its name is what the
//! command looks for. By itself this program measures nothing; it prints its cases, in their order.

use std::hint::black_box;

use windowpane_baselines::GcraRule;
use windowpane_cas_ring::CasRing;
use windowpane_core::{BuildError, Cost, Decision, Nanos, Quotas, RateLimiter};
use windowpane_keyed::{FlatTable, KeyedLimiter, SharedRule};
use windowpane_lab_contestants::registry::{BuildOptions, algorithms};
use windowpane_packed_counter::TwoWindowRule;

/// How often each case calls; the command divides by it, so it is printed.
const CALLS: u32 = 10_000;

const LIMIT: u64 = 1_000;
const WINDOW: Nanos = 60_000_000_000;

/// Between calls that are allowed: half of what the quota allows, so that the approximate ones
/// allow it, too; twenty windows, so that their rolls have their share.
const PACE: Nanos = 2 * WINDOW / LIMIT;

/// Where every limiter starts: nowhere near zero, on no window's edge.
const START: Nanos = 10 * WINDOW + 12_345;

fn main() -> Result<(), BuildError> {
    println!("calls: {CALLS}");
    println!("processor: {}", processor());
    let quotas = Quotas::parse([format!("{LIMIT}/60s").as_str()])?;
    for algorithm in algorithms() {
        let build = || (algorithm.build)(&quotas, BuildOptions::starting_at(START));
        limiter(algorithm.info.name, build)?;
    }
    keyed::<CasRing>("keyed store of cas-ring", &quotas)?;
    keyed::<SharedRule<GcraRule>>("keyed store of gcra", &quotas)?;
    keyed::<SharedRule<TwoWindowRule>>("keyed store of packed-counter", &quotas)?;
    let table = || FlatTable::<GcraRule>::new(quotas.clone(), 1_000);
    deciding("flat table of gcra", table, |table, at| {
        table.decide_at(&KEY, at, Cost::ONE).ok()
    })?;
    let table = || FlatTable::<TwoWindowRule>::new(quotas.clone(), 1_000);
    deciding("flat table of packed-counter", table, |table, at| {
        table.decide_at(&KEY, at, Cost::ONE).ok()
    })
}

/// Whose requests the keyed stores count: one known key.
const KEY: u64 = 7;

fn keyed<L: windowpane_keyed::ForKeys>(name: &str, quotas: &Quotas) -> Result<(), BuildError> {
    let store = || KeyedLimiter::<u64, L>::new(quotas.clone());
    deciding(name, store, |store, at| {
        store.decide_at(&KEY, at, Cost::ONE).ok()
    })
}

/// The four calls of a limiter of one key.
fn limiter(
    name: &str,
    build: impl Fn() -> Result<Box<dyn RateLimiter>, BuildError>,
) -> Result<(), BuildError> {
    deciding(name, &build, |limiter, at| {
        limiter.decide_at(at, Cost::ONE).ok()
    })?;

    let mut at = START;
    let detailed = build()?;
    case(name, "allowed, detailed", || {
        let answer = detailed.decide_detailed_at(at, Cost::ONE);
        assert!(black_box(&answer).is_ok());
        at += PACE;
    });

    let looked_at = build()?;
    while looked_at
        .decide_at(START, Cost::ONE)
        .is_ok_and(|decision| decision.is_allowed())
    {}
    case(name, "denied, peek", || {
        let answer = looked_at.peek_at(START + 1, Cost::ONE);
        assert!(black_box(&answer).is_ok());
    });
    Ok(())
}

/// *Allowed* and *denied* of whatever decides: steady at the quota's pace, and full. What it answers
/// must be what the case's name says.
fn deciding<L>(
    name: &str,
    build: impl Fn() -> Result<L, BuildError>,
    acquire: impl Fn(&L, Nanos) -> Option<Decision>,
) -> Result<(), BuildError> {
    // Before the first counted call the ring has gone round, and the log prunes with each.
    let steady = build()?;
    let mut at = START;
    let mut allowed_next = || {
        let decision = acquire(&steady, at);
        at += PACE;
        black_box(decision)
    };
    for _ in 0..2 * LIMIT {
        allowed_next();
    }
    case(name, "allowed", || {
        let decision = allowed_next();
        assert!(decision.is_some_and(|decision| decision.is_allowed()));
    });

    let full = build()?;
    while acquire(&full, START).is_some_and(|decision| decision.is_allowed()) {}
    case(name, "denied", || {
        let decision = black_box(acquire(&full, START + 1));
        assert!(decision.is_some_and(|decision| !decision.is_allowed()));
    });
    Ok(())
}

fn case(limiter: &str, call: &str, mut calls: impl FnMut()) {
    println!("case: {limiter}, {call}");
    windowpane_measured(&mut calls);
}

/// What is counted: the calls and the loop around them, a few instructions each. Its name is kept
/// as it stands, since valgrind looks for it.
#[inline(never)]
// Nothing else in this program is called that.
#[unsafe(no_mangle)]
fn windowpane_measured(call: &mut dyn FnMut()) {
    for _ in 0..CALLS {
        call();
    }
}

/// What of the processor, as valgrind shows it, decides which way the 128-bit atomics go.
fn processor() -> String {
    #[cfg(target_arch = "x86_64")]
    {
        let has = |yes, name| if yes { name } else { "" };
        let sixteen = has(is_x86_feature_detected!("cmpxchg16b"), " cmpxchg16b");
        let avx = has(is_x86_feature_detected!("avx"), " avx");
        format!("x86_64{sixteen}{avx}")
    }
    #[cfg(not(target_arch = "x86_64"))]
    std::env::consts::ARCH.into()
}
