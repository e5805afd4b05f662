//! GCRA against the rule of the baselines.

use proptest::prelude::*;
use windowpane_baselines::Gcra as Oracle;
use windowpane_core::{Cost, MAX_WINDOW, Quota, Quotas, RateLimiter, Unit};

use super::{FACTOR, Forged, Server, agreed, for_all, stretched};
use crate::algorithm::Gcra;

type Story = (u64, u64, Unit, u64, Vec<(i64, i64, u64)>);

fn story() -> impl Strategy<Value = Story> {
    let year = MAX_WINDOW / FACTOR;
    let window = prop_oneof![Just(1_u64), 1..100_u64, 1..=year, Just(year)];
    let limit = prop_oneof![1 => Just(0_u64), 8 => 1..30_u64, 1 => Just(u64::MAX)];
    let unit = prop_oneof![3 => Just(Unit::Permits), 1 => Just(Unit::Requests)];
    let start = prop_oneof![Just(0_u64), Just(1_700_000_000_000_000)];
    let calls = prop::collection::vec((-8..24_i64, -1..2_i64, 1..32_u64), 1..60);
    (limit, window, unit, start, calls).prop_map(|(l, w, u, s, c)| (l.min(w), w, u, s, c))
}

fn compare(server: &Server, (limit, window, unit, start, calls): &Story) {
    let quotas = Quotas::from(Quota::from_nanos(*limit, *window, *unit).unwrap());
    let oracle = Oracle::new(quotas.clone()).unwrap();
    let interval = window.div_ceil((*limit).max(1)) as i64;
    let gcra: Forged<Gcra> = Forged::new(server, "k", stretched(&quotas, FACTOR));
    let mut now = *start;
    for (intervals, micros, cost) in calls {
        now = now
            .saturating_add_signed(intervals * interval + micros)
            .min(1 << 52);
        let cost = Cost::new(*cost).unwrap();
        let expected = oracle.decide_detailed_at(now, cost);
        let answer = gcra.decide(now * FACTOR, cost);
        if let Some((_, answer)) = agreed(now, expected, answer) {
            gcra.check_more(now * FACTOR, &answer);
        }
    }
}

#[test]
fn gcra_decides_and_waits_as_the_baseline_does() {
    let Some(server) = Server::start() else {
        return;
    };
    for_all(story(), |story| compare(&server, story));
}
