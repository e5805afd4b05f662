//! The flat table under a flood of keys, and how full it gets.

use windowpane_baselines::FixedWindowRule;
use windowpane_core::clock::ManualClock;
use windowpane_core::{Cost, Quotas, StoreError};
use windowpane_keyed::DefaultHasher;
use windowpane_keyed::flat::FlatTable;

type Table = FlatTable<FixedWindowRule, windowpane_keyed::DefaultHasher, ManualClock>;

fn table(quota: &str, entries: usize) -> Table {
    let quotas = Quotas::parse([quota]).unwrap();
    let hasher = DefaultHasher::with_seeds(5, 6, 7, 8);
    FlatTable::builder(quotas, entries)
        .clock(ManualClock::new(0))
        .hasher(hasher)
        .build()
        .unwrap()
}

/// Clients over their limit stay over it, whatever an attacker sends, and each call's work is
/// bounded.
#[test]
fn a_flood_frees_nobody() {
    const CLIENTS: u64 = 1_000;
    let table = table("3/1000ns", 4_096);
    for client in 0..CLIENTS {
        assert!(
            table
                .decide_at(&client, 5, Cost::of::<3>())
                .unwrap()
                .is_allowed()
        );
    }
    let mut refused = 0;
    for junk in 0..300_000_u64 {
        let now = 5 + junk / 1_000;
        match table.decide_at(&(CLIENTS + junk), now, Cost::ONE) {
            Ok(decision) => assert!(decision.is_allowed(), "a new key has all of its quota"),
            Err(StoreError::Full { keys }) => {
                assert!(keys <= table.entries());
                refused += 1;
            }
            Err(error) => panic!("{error}"),
        }
        let client = junk % CLIENTS;
        let decision = table.decide_at(&client, now, Cost::ONE).unwrap();
        assert!(
            !decision.is_allowed(),
            "client {client} got through at {now}"
        );
    }
    assert_eq!((table.stats().full, table.stats().evictions), (refused, 0));
    assert!(table.len() <= table.entries() && table.len() > table.entries() * 9 / 10);
    let on_the_way = table.entries_of_a_key() as u64;
    assert!(
        table.stats().most_examined <= 2 * on_the_way,
        "{}",
        table.stats().most_examined
    );

    // In the next window all are idle: the flood's keys make room for each other and for clients.
    for junk in 0..100_000_u64 {
        let decision = table
            .decide_at(&(1_000_000 + junk), 1_000 + junk, Cost::ONE)
            .unwrap();
        assert!(decision.is_allowed());
    }
    assert!(
        table.stats().evictions > 90_000,
        "{}",
        table.stats().evictions
    );
    assert!(
        table.stats().most_examined <= 2 * on_the_way,
        "{}",
        table.stats().most_examined
    );
    assert!(table.stats().examined >= table.stats().most_examined);
}

/// Twice as many entries as keys leave room for all of them; a table that is nearly full refuses
/// few, and says so.
#[test]
fn a_table_half_full_refuses_nobody() {
    let table = table("1/1000s", 1 << 16);
    let fill = |from: usize, to: usize| {
        let refused = (from..to).filter(|key| table.decide_at(key, 5, Cost::ONE).is_err());
        refused.count()
    };
    let entries = table.entries();
    assert_eq!(fill(0, entries / 2), 0);
    assert_eq!(table.len(), entries / 2);
    let refused = fill(entries / 2, entries * 9 / 10);
    assert!(refused < entries / 50, "{refused} of {entries}");
    assert_eq!(table.stats().full as usize, refused);
    assert_eq!(table.len(), entries * 9 / 10 - refused);
    // Most are found in the first line of their way, where nothing is counted.
    let before = table.stats().examined;
    let looked =
        (0..entries / 2).filter(|key| !table.decide_at(key, 5, Cost::ONE).unwrap().is_allowed());
    assert_eq!(looked.count(), entries / 2);
    let beyond = table.stats().examined - before;
    assert!(
        beyond < entries as u64 / 2,
        "{beyond} entries examined beyond first lines"
    );
}

#[test]
fn a_table_has_as_many_entries_as_asked_for_in_whole_blocks() {
    for (asked, given) in [
        (0, 8),
        (1, 8),
        (8, 8),
        (9, 16),
        (1_000, 1_000),
        (1_001, 1_008),
    ] {
        assert_eq!(table("1/1s", asked).entries(), given);
    }
}
