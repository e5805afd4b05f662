//! Lock-freedom: one thread is suspended for good before each step of its call in turn, and the others
//! go on, each call in a bounded number of its own steps.
#![cfg(windowpane_shuttle)]

use windowpane_baselines::{FixedWindowRule, GcraRule};
use windowpane_loom_tests::shuttle::{
    Bound, blocks, denials_that_write, denials_write_nothing, errs, goes_on, scripts, to_a_limiter,
    to_a_store, waits,
};
use windowpane_loom_tests::{
    bucket_ring, cas_ring, fixed_window, flat_table, gcra, mutants, mutex_log, packed_counter,
    settling_counter,
};

/// A load and an exchange.
const ONE_WORD: Bound = Bound { attempt: 2 };

/// A ring of a few slots: all it looks at, and another's record put in place.
const RING: Bound = Bound { attempt: 24 };

/// Two rounds through the table, the claim and its exchange, and what is counted.
const TABLE: Bound = Bound { attempt: 24 };

#[test]
fn the_ring_goes_on() {
    goes_on(cas_ring(), RING, scripts::any());
    goes_on(cas_ring(), RING, scripts::with_room(scripts::any()));
}

#[test]
fn the_bucket_ring_goes_on() {
    goes_on(bucket_ring(), RING, scripts::any());
}

#[test]
fn the_counter_goes_on() {
    goes_on(packed_counter(), ONE_WORD, scripts::any());
    goes_on(settling_counter(), ONE_WORD, scripts::settling());
}

#[test]
fn the_fixed_window_goes_on() {
    goes_on(fixed_window(), ONE_WORD, scripts::any());
}

#[test]
fn gcra_goes_on() {
    goes_on(gcra(), ONE_WORD, scripts::any());
}

#[test]
fn the_flat_table_goes_on() {
    goes_on(flat_table(), TABLE, scripts::keys());
}

/// The control.
#[test]
fn the_log_blocks() {
    blocks(mutex_log(), scripts::any());
}

#[test]
fn a_ring_that_waits_for_the_claimer_is_found() {
    let mutant = cas_ring().mutant("cas_ring::waits_for_the_claimer", |script| {
        use mutants::cas_ring::waits_for_the_claimer::CasRing;
        CasRing::with_capacity(script.quotas(), script.ring_capacity()).expect("a ring")
    });
    waits(mutant, RING, scripts::any());
}

#[test]
fn a_limiter_that_decides_wrong_is_found() {
    let mutant = gcra().mutant("one_word::loads_then_stores, gcra", |script| {
        use mutants::one_word::loads_then_stores::OneWordLimiter;
        OneWordLimiter::<GcraRule>::new(script.quotas()).expect("a rate")
    });
    errs(mutant, ONE_WORD, scripts::any());
}

#[test]
fn denials_and_looks_write_nothing() {
    denials_write_nothing(cas_ring(), to_a_limiter());
    denials_write_nothing(bucket_ring(), to_a_limiter());
    denials_write_nothing(packed_counter(), to_a_limiter());
    denials_write_nothing(fixed_window(), to_a_limiter());
    denials_write_nothing(gcra(), to_a_limiter());
    denials_write_nothing(flat_table(), to_a_store());
}

#[test]
fn denials_that_write_are_found() {
    use mutants::one_word::denials_write::OneWordLimiter as Mutant;
    let window = fixed_window().mutant("one_word::denials_write", |script| {
        Mutant::<FixedWindowRule>::new(script.quotas()).expect("a window")
    });
    denials_that_write(window, to_a_limiter());
    let rate = gcra().mutant("one_word::denials_write, gcra", |script| {
        Mutant::<GcraRule>::new(script.quotas()).expect("a rate")
    });
    denials_that_write(rate, to_a_limiter());
}
