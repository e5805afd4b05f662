//! The limiters that ship under random scripts.
#![cfg(windowpane_loom)]

use windowpane_loom_tests::scripts::random::{random, random_of_keys};
use windowpane_loom_tests::{
    bucket_ring, cas_ring, fixed_window, flat_table, holds_at_random, mutex_log, packed_counter,
};

#[test]
fn the_ring_under_random_scripts() {
    holds_at_random(|seed| random(seed, 2), cas_ring());
}

#[test]
fn the_bucket_ring_under_random_scripts() {
    holds_at_random(|seed| random(seed, 1), bucket_ring());
}

#[test]
fn the_log_under_random_scripts() {
    holds_at_random(|seed| random(seed, 2), mutex_log());
}

#[test]
fn the_counter_under_random_scripts() {
    holds_at_random(|seed| random(seed, 1), packed_counter());
}

#[test]
fn the_fixed_window_under_random_scripts() {
    holds_at_random(|seed| random(seed, 1), fixed_window());
}

#[test]
fn the_flat_table_under_random_scripts() {
    holds_at_random(random_of_keys, flat_table());
}
