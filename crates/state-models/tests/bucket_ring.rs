//! The bucket ring's protocol over all its states, and the seeded bugs that are found in it.

mod page;

use windowpane_state_models::bucket_ring::{BucketRing, Calls, Fault};
use windowpane_state_models::check::{Kind, explore};

const fn thread(single: u8, whole: u8, resets: u8) -> Calls {
    Calls {
        single,
        whole,
        resets,
    }
}

const ASKS: Calls = thread(1, 0, 0);
const ASKS_FOR_ALL: Calls = thread(0, 1, 0);
const RESETS: Calls = thread(0, 0, 1);

fn ring(buckets: u8, width: u8, ticks: u8, threads: &[Calls]) -> BucketRing {
    BucketRing {
        limit: 2,
        buckets,
        width,
        ticks,
        counts: 3,
        threads: threads.to_vec(),
        bug: None,
    }
}

/// A thread sleeps before its claim. Resets let the count and the slots come round, while the clock
/// stands.
fn count_comes_round() -> BucketRing {
    ring(1, 1, 0, &[ASKS, thread(1, 3, 3)])
}

fn reset_beside_rolls() -> BucketRing {
    ring(1, 1, 2, &[ASKS, ASKS, thread(1, 0, 1)])
}

fn two_buckets() -> BucketRing {
    ring(2, 1, 3, &[ASKS, ASKS_FOR_ALL, ASKS])
}

fn wide_buckets() -> BucketRing {
    ring(1, 2, 3, &[ASKS, ASKS_FOR_ALL, thread(1, 0, 1)])
}

fn round_the_slots() -> BucketRing {
    ring(1, 1, 5, &[ASKS, thread(4, 0, 0)])
}

fn four_threads() -> BucketRing {
    ring(1, 1, 1, &[ASKS, ASKS, ASKS_FOR_ALL, RESETS])
}

fn five_threads() -> BucketRing {
    ring(1, 1, 1, &[ASKS, ASKS, ASKS, ASKS, RESETS])
}

#[test]
fn bucket_ring_is_right_in_every_state_and_calls_end() {
    let models = [
        ("count_comes_round", count_comes_round()),
        ("reset_beside_rolls", reset_beside_rolls()),
        ("two_buckets", two_buckets()),
        ("wide_buckets", wide_buckets()),
        ("round_the_slots", round_the_slots()),
        ("four_threads", four_threads()),
        ("five_threads", five_threads()),
    ];
    let rows =
        models.map(|(name, model)| page::row("bucket ring", name, model.threads.len(), &model));
    page::check(&rows);
}

/// The shortest way to a bug's fault in `model`.
fn found(model: BucketRing, bug: Fault) -> Kind {
    let model = BucketRing {
        bug: Some(bug),
        ..model
    };
    let fault = explore(&model, page::MOST).expect_err("the bug makes a fault");
    println!("{bug:?}: {fault}");
    fault.kind
}

#[test]
fn waiting_for_a_sleeping_publisher_never_ends() {
    let kind = found(reset_beside_rolls(), Fault::WaitsForPublisher);
    assert_eq!(kind, Kind::Endless);
}

#[test]
fn seeded_bugs_give_wrong_answers() {
    let bugs = [
        (count_comes_round(), Fault::ResetsUncounted),
        (reset_beside_rolls(), Fault::NoSecondLoad),
        (two_buckets(), Fault::RollsUnpublished),
        (round_the_slots(), Fault::PublishesBlindly),
        (round_the_slots(), Fault::TakesEarlyRecords),
    ];
    for (model, bug) in bugs {
        let kind = found(model, bug);
        assert!(matches!(kind, Kind::Wrong(_)), "{bug:?}: {kind:?}");
    }
}
