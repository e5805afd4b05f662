//! The corpus and some thousands of changed inputs, always the same: no panic, and bounded memory.

use std::alloc::System;
use std::panic::catch_unwind;
use std::sync::{Mutex, PoisonError};

use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use windowpane_fuzz::change::Inputs;
use windowpane_fuzz::corpus;
use windowpane_fuzz::targets::{TARGETS, Target, find};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// One at a time, since allocations are counted for the whole process.
static ALONE: Mutex<()> = Mutex::new(());

const SEED: u64 = 11;

/// Runs one input and says what is wrong with it, if anything is.
fn judge(target: &Target, input: &[u8]) -> Result<(), String> {
    let region = Region::new(ALLOCATOR);
    catch_unwind(|| (target.run)(input)).map_err(|_| "it panicked".to_owned())?;
    let change = region.change();
    let grown = change.bytes_reallocated.max(0).unsigned_abs();
    let allocated = change.bytes_allocated + grown;
    let most = target.bytes + target.bytes_a_byte * input.len();
    match allocated <= most {
        true => Ok(()),
        false => Err(format!(
            "{allocated} bytes were allocated, and at most {most} should be"
        )),
    }
}

fn must_hold(target: &Target, what: &str, input: &[u8]) {
    if let Err(why) = judge(target, input) {
        let (name, text) = (target.name, input.escape_ascii());
        panic!("{name}, {what}: {why}. The input: b\"{text}\"");
    }
}

fn short(name: &str, changed: u32) {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let target = find(name).unwrap();
    let inputs = corpus(target).unwrap();
    assert!(!inputs.is_empty(), "{name} has no corpus");
    // What is made once and kept is not the first input's.
    (target.run)(b"");
    for (file, input) in &inputs {
        must_hold(target, file, input);
    }
    let inputs = inputs.into_iter().map(|(_, input)| input).collect();
    let mut inputs = Inputs::new(target, inputs, SEED);
    for number in 0..changed {
        let input = inputs.next_input();
        must_hold(target, &format!("input {number} of seed {SEED}"), &input);
    }
}

macro_rules! short {
    ($($name:ident: $changed:expr),* $(,)?) => {
        $(#[test]
        fn $name() {
            short(stringify!($name), $changed);
        })*

        #[test]
        fn every_target_has_a_short_run() {
            let names = [$(stringify!($name)),*];
            assert_eq!(TARGETS.iter().map(|target| target.name).collect::<Vec<_>>(), names);
        }
    };
}

short! {
    access_log: 3_000,
    csv: 3_000,
    json_lines: 3_000,
    w3c: 3_000,
    alb: 3_000,
    haproxy: 3_000,
    compressed: 1_000,
    time: 30_000,
    quota: 30_000,
    forwarded: 10_000,
    header_key: 10_000,
    definition: 5_000,
    quota_file: 10_000,
    reply: 30_000,
}

#[test]
fn a_panic_and_a_greedy_reader_are_seen() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let with = |run| Target {
        name: "broken",
        run,
        words: &[],
        bytes: 1_000,
        bytes_a_byte: 10,
    };
    let panics = with(|input| assert!(!input.contains(&7), "seeded"));
    assert_eq!(judge(&panics, &[1, 2, 3]), Ok(()));
    assert!(judge(&panics, &[1, 7]).unwrap_err().contains("panicked"));
    // And the changes find it from an input that does not have it.
    let mut inputs = Inputs::new(&panics, vec![vec![0; 8]], SEED);
    assert!((0..20_000).any(|_| judge(&panics, &inputs.next_input()).is_err()));

    let greedy = with(|input| drop(std::hint::black_box(vec![0_u8; 100 * input.len()])));
    assert_eq!(judge(&greedy, &[0; 10]), Ok(()));
    assert!(
        judge(&greedy, &[0; 100])
            .unwrap_err()
            .contains("at most 2000")
    );
    // What grows bit by bit counts, too.
    let grows = with(|input| {
        let mut grown = Vec::new();
        for _ in 0..1_000 * input.len() {
            grown.push(std::hint::black_box(0_u8));
        }
    });
    assert!(judge(&grows, &[0; 10]).is_err());
}
