//! The ring's protocol over all its states, and the seeded bugs that are found in it.

mod page;

use windowpane_state_models::check::{Kind, explore};
use windowpane_state_models::ring::{Budget, Bug, Ring};

const fn thread(single: u8, double: u8, resets: u8) -> Budget {
    Budget {
        single,
        double,
        resets,
    }
}

/// One request of one permit.
const ASKS: Budget = thread(1, 0, 0);
const ASKS_FOR_TWO: Budget = thread(0, 1, 0);
const RESETS: Budget = thread(0, 0, 1);

fn ring(limit: u8, capacity: u8, window: u8, ticks: u8, threads: &[Budget]) -> Ring {
    Ring {
        limit,
        capacity,
        window,
        ticks,
        lap_tags: 2,
        threads: threads.to_vec(),
        bug: None,
    }
}

/// A thread sleeps in its claim while the others go round all laps and the clock stands.
fn late_write() -> Ring {
    Ring {
        lap_tags: 4,
        ..ring(1, 1, 2, 0, &[ASKS, thread(4, 0, 3), RESETS])
    }
}

/// A thread sleeps before its claim until the head could come back.
fn late_claim() -> Ring {
    ring(2, 2, 1, 1, &[ASKS, thread(2, 2, 2)])
}

fn reset_beside_three() -> Ring {
    ring(1, 1, 2, 2, &[ASKS, ASKS, thread(1, 0, 1)])
}

fn spare_slot() -> Ring {
    ring(2, 3, 2, 2, &[ASKS, ASKS_FOR_TWO, thread(1, 0, 1)])
}

fn costs_of_two() -> Ring {
    ring(2, 2, 2, 2, &[ASKS, ASKS_FOR_TWO, thread(1, 0, 1)])
}

fn three_resets() -> Ring {
    ring(1, 1, 2, 1, &[thread(1, 0, 1), thread(1, 0, 1), RESETS])
}

fn four_threads() -> Ring {
    ring(2, 2, 2, 1, &[ASKS, ASKS, ASKS_FOR_TWO, RESETS])
}

fn five_threads() -> Ring {
    ring(2, 2, 2, 0, &[ASKS, ASKS, ASKS, ASKS, RESETS])
}

#[test]
fn ring_is_right_in_every_state_and_calls_end() {
    let models = [
        ("late_write", late_write()),
        ("late_claim", late_claim()),
        ("reset_beside_three", reset_beside_three()),
        ("spare_slot", spare_slot()),
        ("costs_of_two", costs_of_two()),
        ("three_resets", three_resets()),
        ("four_threads", four_threads()),
        ("five_threads", five_threads()),
    ];
    let rows = models.map(|(name, model)| page::row("ring", name, model.threads.len(), &model));
    page::check(&rows);
}

/// The shortest way to a bug's fault in `model`.
fn found(model: Ring, bug: Bug) -> Kind {
    let model = Ring {
        bug: Some(bug),
        ..model
    };
    let fault = explore(&model, page::MOST).expect_err("the bug makes a fault");
    println!("{bug:?}: {fault}");
    fault.kind
}

#[test]
fn late_write_hung_the_ring_before_it_was_mended() {
    assert_eq!(found(late_write(), Bug::LateWriteHangs), Kind::Endless);
}

#[test]
fn waiting_for_a_sleeping_claimer_never_ends() {
    assert_eq!(
        found(reset_beside_three(), Bug::WaitsForClaimer),
        Kind::Endless
    );
}

#[test]
fn seeded_bugs_give_wrong_answers() {
    let bugs = [
        (late_claim(), Bug::ResetsUncounted),
        (reset_beside_three(), Bug::NoSecondLoad),
        (costs_of_two(), Bug::ClaimsUnpublished),
        (costs_of_two(), Bug::HelpsBlindly),
    ];
    for (model, bug) in bugs {
        let kind = found(model, bug);
        assert!(matches!(kind, Kind::Wrong(_)), "{bug:?}: {kind:?}");
    }
}
