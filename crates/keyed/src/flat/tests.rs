//! Claims of other threads, made by hand: what a call does with them.

use std::hash::BuildHasher;

use windowpane_baselines::FixedWindowRule;
use windowpane_core::clock::ManualClock;
use windowpane_core::{Cost, Decision, KeyedRateLimiter, Quotas, StoreError};

use super::FlatTable;
use super::entry::{Entry, Fingerprint, Seen};
use super::places::{BLOCK, Way};
use crate::DefaultHasher;

type Table = FlatTable<FixedWindowRule, DefaultHasher, ManualClock>;

/// A table of one block, so that all keys have all of its entries on their ways.
fn table() -> Table {
    let quotas = Quotas::parse(["2/10ns"]).unwrap();
    let hasher = DefaultHasher::with_seeds(1, 2, 3, 4);
    FlatTable::builder(quotas, BLOCK)
        .clock(ManualClock::new(5))
        .hasher(hasher)
        .build()
        .unwrap()
}

fn way_of(table: &Table, key: usize) -> Way {
    let key = Fingerprint::of_hash(table.hasher.hash_one(key));
    table.places.way_of(key)
}

/// Claims the `nth` entry of a key's way, as a thread does that then sleeps.
fn claim(table: &Table, way: &Way, nth: usize) {
    let claim = Entry::claimed(way.key, table.counts.of(way.key).claim());
    assert!(Entry::EMPTY.replace(table.places.on(way, nth), claim));
}

/// What the entries on a key's way are to it.
fn seen(table: &Table, way: &Way) -> Vec<Seen> {
    (0..BLOCK)
        .map(|nth| Entry::load(table.places.on(way, nth)).seen_by(way.key))
        .collect()
}

/// A way on which `nth` is to its key what `what` says, and all else is empty.
fn only(nth: usize, what: Seen) -> Vec<Seen> {
    let at = |place| if place == nth { what } else { Seen::Empty };
    (0..BLOCK).map(at).collect()
}

/// The key gets the entry that any thread claimed for it; but not before a full probe that began when the
/// claim was known.
#[test]
fn an_abandoned_claim_is_finished_by_the_next_insertion() {
    let table = table();
    let way = way_of(&table, 7);
    claim(&table, &way, 3);
    assert_eq!(
        table.decide(&7_usize, Cost::ONE).unwrap(),
        Decision::Allowed { at: 5 }
    );
    assert_eq!(seen(&table, &way), only(3, Seen::Held));
    assert_eq!((table.len(), table.stats().examined), (1, 2 * BLOCK as u64));
}

#[test]
fn of_several_claims_the_first_on_the_way_becomes_the_keys_and_the_others_are_dropped() {
    let table = table();
    let way = way_of(&table, 7);
    for nth in [6, 2, 5] {
        claim(&table, &way, nth);
    }
    assert!(table.decide(&7_usize, Cost::ONE).unwrap().is_allowed());
    assert_eq!(seen(&table, &way), only(2, Seen::Held));
    assert_eq!(table.len(), 1);
}

#[test]
fn a_look_leaves_claims_as_they_are() {
    let table = table();
    let way = way_of(&table, 7);
    for nth in [2, 5] {
        claim(&table, &way, nth);
    }
    let before = seen(&table, &way);
    let looked = table.peek_detailed(&7_usize, Cost::ONE).unwrap().detailed;
    assert_eq!(
        (looked.decision(), looked.remaining()),
        (Decision::Allowed { at: 5 }, 1)
    );
    assert_eq!(seen(&table, &way), before);
    assert_eq!(table.len(), 2);
}

/// No thread takes an entry that is about to be another key's; a sweep frees those whose thread never
/// came back, and counts them as no keys.
#[test]
fn a_claim_keeps_its_entry_from_other_keys_until_a_sweep() {
    let table = table();
    for key in 0..BLOCK {
        let way = way_of(&table, key);
        let free = |nth: &usize| Entry::load(table.places.on(&way, *nth)) == Entry::EMPTY;
        claim(&table, &way, (0..BLOCK).find(free).unwrap());
    }
    let full = Err(StoreError::Full { keys: BLOCK });
    assert_eq!(table.decide(&99_usize, Cost::ONE), full);
    assert_eq!((table.sweep(), table.len()), (0, 0));
    assert!(table.decide(&99_usize, Cost::ONE).unwrap().is_allowed());
}
