//! The flat table's protocol over all its states, and the seeded bugs that are found in it.

mod page;

use windowpane_state_models::check::{Kind, explore};
use windowpane_state_models::flat_table::{FlatTable, Requests, Seeded};

fn table(limit: u8, ticks: u8, is_used: bool, threads: &[Requests]) -> FlatTable {
    FlatTable {
        limit,
        window: 1,
        ticks,
        is_used,
        threads: threads.to_vec(),
        bug: None,
    }
}

fn inserted_by_four() -> FlatTable {
    table(2, 0, false, &[[1, 0], [1, 0], [1, 0], [1, 0]])
}

/// An early reading takes the second entry, a late one the first, whose key is idle by then.
fn inserted_in_two_places() -> FlatTable {
    table(2, 1, true, &[[1, 0], [1, 0], [1, 0]])
}

fn evicted_while_charged() -> FlatTable {
    table(1, 1, false, &[[1, 0], [1, 0], [0, 1]])
}

fn two_keys() -> FlatTable {
    table(1, 1, true, &[[1, 1], [1, 1]])
}

#[test]
fn flat_table_is_right_in_every_state_and_calls_end() {
    let models = [
        ("inserted_by_four", inserted_by_four()),
        ("inserted_in_two_places", inserted_in_two_places()),
        ("evicted_while_charged", evicted_while_charged()),
        ("two_keys", two_keys()),
    ];
    let rows =
        models.map(|(name, model)| page::row("flat table", name, model.threads.len(), &model));
    page::check(&rows);
}

#[test]
fn seeded_bugs_are_found() {
    let bugs = [
        (inserted_in_two_places(), Seeded::HoldsAtOnce),
        (inserted_in_two_places(), Seeded::LeavesClaims),
        (evicted_while_charged(), Seeded::KeepsWatermark),
        (evicted_while_charged(), Seeded::EvictsBlindly),
        (inserted_by_four(), Seeded::ChargesBlindly),
        (inserted_by_four(), Seeded::WaitsForClaimer),
    ];
    for (model, bug) in bugs {
        let model = FlatTable {
            bug: Some(bug),
            ..model
        };
        let fault = explore(&model, page::MOST).expect_err("the bug makes a fault");
        println!("{bug:?}: {fault}");
        let is_endless = fault.kind == Kind::Endless;
        assert_eq!(
            is_endless,
            bug == Seeded::WaitsForClaimer,
            "{bug:?}: {fault}"
        );
    }
}
