use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::ranks::{Walsh, rank_sum_chances, signed_rank_chances};
use super::*;

fn rounds(launches: u32, each: u32, mut rate: impl FnMut(RoundId) -> f64) -> Vec<(RoundId, f64)> {
    let ids =
        (1..=launches).flat_map(|launch| (1..=each).map(move |round| RoundId { launch, round }));
    ids.map(|id| (id, rate(id))).collect()
}

/// A standard normal value.
fn normal(random: &mut StdRng) -> f64 {
    let (a, b): (f64, f64) = (random.random_range(1e-12..1.0), random.random());
    (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
}

/// Rates of 6 launches of 6 rounds, whose noise has these standard deviations.
fn noisy(random: &mut StdRng, rate: f64, of_launch: f64, of_round: f64) -> Vec<(RoundId, f64)> {
    let launches: Vec<f64> = (0..6).map(|_| of_launch * normal(random)).collect();
    rounds(6, 6, |id| {
        rate * (launches[id.launch as usize - 1] + of_round * normal(random)).exp()
    })
}

/// The largest statistic whose lower tail has at most this chance.
fn critical(chances: &[f64], tail: f64) -> usize {
    let mut sum = 0.0;
    let rare = chances.iter().take_while(|chance| {
        sum += **chance;
        sum <= tail
    });
    rare.count() - 1
}

#[test]
fn signed_rank_chances_are_those_of_wilcoxons_table() {
    // Of two values the sums 0, 1, 2 and 3 have one way each.
    assert_eq!(signed_rank_chances(2), [0.25; 4]);
    // Wilcoxon and Wilcox 1964, two-sided 5 %: n and the largest sum that is rejected.
    for (n, table) in [
        (6, 0),
        (7, 2),
        (8, 3),
        (9, 5),
        (10, 8),
        (15, 25),
        (20, 52),
        (25, 89),
    ] {
        assert_eq!(critical(&signed_rank_chances(n), 0.025), table, "n = {n}");
    }
    // Two-sided 1 %.
    for (n, table) in [(8, 0), (10, 3), (15, 15), (20, 37)] {
        assert_eq!(critical(&signed_rank_chances(n), 0.005), table, "n = {n}");
    }
}

#[test]
fn rank_sum_chances_are_those_of_mann_and_whitneys_table() {
    let of_two_and_two = [1.0, 1.0, 2.0, 1.0, 1.0].map(|ways| ways / 6.0);
    let close = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-12;
    assert!(
        rank_sum_chances(2, 2)
            .iter()
            .zip(&of_two_and_two)
            .all(close)
    );
    // Two-sided 5 %.
    for ((n, m), table) in [
        ((5, 5), 2),
        ((8, 8), 13),
        ((10, 10), 23),
        ((7, 12), 18),
        ((20, 20), 127),
    ] {
        assert_eq!(critical(&rank_sum_chances(n, m), 0.025), table, "{n}, {m}");
    }
    let sum: f64 = rank_sum_chances(36, 36).iter().sum();
    assert!((sum - 1.0).abs() < 1e-9, "{sum}");
}

#[test]
fn an_interval_drops_as_many_walsh_averages_as_the_table_says() {
    // Eight values: the sum of 3 is rejected, so four averages on each side are.
    let values = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];
    let interval = Walsh::of(values.into_iter()).interval(0.05).unwrap();
    // 1, 1.5, 2, 2.5 and from above 128, 96, 80, 72.
    assert_eq!((interval.low, interval.high), (2.5, 72.0));
    let five = Walsh::of(values.into_iter().take(5))
        .interval(0.05)
        .unwrap();
    assert_eq!((five.low, five.high), (f64::NEG_INFINITY, f64::INFINITY));
}

#[test]
fn normal_and_exact_critical_values_agree_where_they_meet() {
    let exact = Walsh::of((0..60).map(f64::from)).interval(0.001).unwrap();
    let normal = Walsh::of((0..61).map(f64::from)).interval(0.001).unwrap();
    assert!(
        (exact.half() - normal.half()).abs() < 0.5,
        "{exact:?} {normal:?}"
    );
}

#[test]
fn fewer_rounds_than_needed_are_not_compared() {
    assert_eq!(rounds_needed(1), MIN_ROUNDS);
    assert_eq!(rounds_needed(800), 15);
    let far = |n| compare(&rounds(1, n, |_| 200.0), &rounds(1, n, |_| 100.0), 1);
    assert_eq!(far(5).outcome, Outcome::NotCompared);
    assert!((far(5).ratio - 2.0).abs() < 1e-9);
    assert_eq!(far(6).outcome, Outcome::Faster);
    assert_eq!(compare(&[], &[], 1).outcome, Outcome::NotCompared);
    let (a, b) = (rounds(1, 6, |_| 200.0), rounds(1, 6, |_| 100.0));
    assert_eq!(compare(&a, &b, 800).outcome, Outcome::NotCompared);
}

#[test]
fn rounds_are_paired_by_launch_and_round_and_bad_rates_left_out() {
    let mut a = rounds(3, 5, |id| f64::from(100 * id.launch + id.round));
    let mut b = rounds(3, 5, |id| 0.5 * f64::from(100 * id.launch + id.round));
    b.reverse();
    a.push((
        RoundId {
            launch: 9,
            round: 1,
        },
        1.0,
    ));
    a[0].1 = f64::NAN;
    b[0].1 = 0.0;
    let told = compare(&a, &b, 1);
    assert_eq!((told.pairs, told.launches), (13, 3));
    assert!((told.ratio - 2.0).abs() < 1e-9 && told.outcome == Outcome::Faster);
}

#[test]
fn a_difference_that_the_aa_pairs_explain_is_not_shown() {
    let series = |rate: f64, again: f64| Series {
        one: rounds(3, 6, |_| rate),
        again: rounds(3, 6, |_| again),
    };
    let quiet = series(100.0, 100.0);
    let apart = series(120.0, 120.0).against(&quiet, 1);
    assert_eq!(apart.outcome, Outcome::Faster);
    let loud = series(108.0, 133.0).against(&quiet, 1);
    assert_eq!(loud.outcome, Outcome::CannotTell);
    assert!((loud.smallest - 133.0 / 108.0).abs() < 1e-9, "{loud:?}");
}

#[test]
fn equality_is_shown_by_the_interval_and_not_by_a_failed_test() {
    let mut random = StdRng::seed_from_u64(3);
    let mut of = |noise: f64| {
        let (a, b) = (
            noisy(&mut random, 1.0, 0.0, noise),
            noisy(&mut random, 1.0, 0.0, noise),
        );
        compare(&a, &b, 100)
    };
    assert_eq!(of(0.02).outcome, Outcome::Equal);
    let wild = of(0.3);
    assert_eq!(wild.outcome, Outcome::CannotTell);
    assert!(
        wild.smallest > 1.15 && wild.low < 1.0 && wild.high > 1.0,
        "{wild:?}"
    );
}

#[test]
fn ranges_that_do_not_touch_are_never_equal() {
    // Within 5 %, and no more than the A/A of one.
    let series = |one: f64, again: f64| Series {
        one: rounds(6, 6, |_| one),
        again: rounds(6, 6, |_| again),
    };
    let apart = series(101.0, 104.0).against(&series(100.0, 100.0), 100);
    assert_eq!(apart.outcome, Outcome::CannotTell, "{apart:?}");
    let mut random = StdRng::seed_from_u64(5);
    for _ in 0..200 {
        let spread = random.random_range(0.0..0.03);
        let (a, b) = (
            rounds(6, 6, |_| 1.0 + spread * random.random::<f64>()),
            1.031,
        );
        let told = compare(&a, &rounds(6, 6, |_| b), 100);
        assert_ne!(told.outcome, Outcome::Equal, "{told:?}");
    }
}

#[test]
fn two_runs_differ_only_if_the_interval_is_beyond_the_floor() {
    let mut random = StdRng::seed_from_u64(9);
    let mut run = |rate| noisy(&mut random, rate, 0.0, 0.01);
    let (before, after) = (run(1.0), run(1.06));
    let told = |floor| compare_runs(&after, &before, 500, floor);
    assert_eq!(told(1.02).outcome, Outcome::Faster);
    assert_eq!(told(1.0).outcome, Outcome::Faster);
    // The estimate is beyond the floor, but its interval is not.
    let near = told(1.055);
    assert!(
        near.outcome == Outcome::CannotTell && near.ratio > 1.055,
        "{near:?}"
    );
    assert!(near.smallest > 1.055 * told(1.0).smallest * 0.999);
}

/// The share of 400 draws that end so.
fn share(of: impl Fn(&mut StdRng) -> bool) -> f64 {
    let mut random = StdRng::seed_from_u64(11);
    (0..400).filter(|_| of(&mut random)).count() as f64 / 400.0
}

#[test]
fn intervals_hold_the_true_ratio_as_often_as_they_say() {
    for of_launch in [0.0, 0.02] {
        let missed = share(|random| {
            let (a, b) = (
                noisy(random, 1.3, of_launch, 0.05),
                noisy(random, 1.0, of_launch, 0.05),
            );
            let told = compare(&a, &b, 1);
            told.low > 1.3 || told.high < 1.3
        });
        assert!(missed <= 0.07, "{missed} with launches of {of_launch}");
        // Not for being endless.
        if of_launch == 0.0 {
            assert!(missed >= 0.01, "{missed}");
        }
    }
}

#[test]
fn runs_that_differ_only_by_noise_are_seldom_called_different() {
    for of_launch in [0.0, 0.03] {
        let wrong = share(|random| {
            let (a, b) = (
                noisy(random, 1.0, of_launch, 0.05),
                noisy(random, 1.0, of_launch, 0.05),
            );
            compare_runs(&a, &b, 1, 1.0).differs()
        });
        assert!(wrong <= 0.07, "{wrong} with launches of {of_launch}");
    }
}

#[test]
fn ten_percent_are_found_in_noise_of_three() {
    let found = share(|random| {
        let (a, b) = (
            noisy(random, 1.1, 0.005, 0.03),
            noisy(random, 1.0, 0.005, 0.03),
        );
        compare(&a, &b, 800).outcome == Outcome::Faster
    });
    assert!(found >= 0.95, "{found}");
}

#[test]
fn a_family_of_equal_pairs_shows_hardly_a_difference() {
    // 400 pairs whose launches differ as much as their rounds.
    let wrong = share(|random| {
        let (a, b) = (
            noisy(random, 1.0, 0.03, 0.03),
            noisy(random, 1.0, 0.03, 0.03),
        );
        compare(&a, &b, 400).differs()
    });
    assert!(wrong <= 0.01, "{wrong}");
}
