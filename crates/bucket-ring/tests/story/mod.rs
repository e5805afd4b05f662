//! Random stories: a ring and what happens to it. Included by the tests.

#![allow(dead_code, unreachable_pub)]

use proptest::prelude::*;
use windowpane_core::{Cost, MAX_WINDOW, Nanos, Quota, Quotas, Unit};

#[derive(Clone, Debug)]
pub struct Story {
    pub quotas: Quotas,
    pub buckets: u32,
    pub start: Nanos,
    pub calls: Vec<Call>,
}

#[derive(Clone, Debug)]
pub enum Call {
    /// Moves the clock and asks.
    Acquire {
        step: Step,
        cost: Cost,
    },
    Reset,
}

/// How the clock moves, by whole widths of a bucket and by nanoseconds.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    By {
        widths: i64,
        nanos: i64,
    },
    /// To the next edge of a bucket, and a number of nanoseconds from there.
    Edge {
        widths: i64,
        nanos: i64,
    },
}

impl Step {
    pub fn from(self, now: Nanos, width: Nanos) -> Nanos {
        let (from, widths, nanos) = match self {
            Step::By { widths, nanos } => (now, widths, nanos),
            Step::Edge { widths, nanos } => (now - now % width, widths, nanos),
        };
        let moved = i128::from(from) + i128::from(widths) * i128::from(width) + i128::from(nanos);
        moved.clamp(0, u64::MAX.into()) as u64
    }
}

fn limit() -> impl Strategy<Value = u64> {
    prop_oneof![1 => Just(0_u64), 6 => Just(1), 12 => 1..8_u64, 4 => 8..60_u64]
}

fn unit() -> impl Strategy<Value = Unit> {
    prop_oneof![3 => Just(Unit::Permits), 1 => Just(Unit::Requests)]
}

fn buckets() -> impl Strategy<Value = u32> {
    prop_oneof![3 => Just(1_u32), 10 => 1..9_u32, 4 => 9..70_u32, 2 => 70..=3_600_u32]
}

fn one_quota() -> impl Strategy<Value = (Quotas, u32)> {
    let window = prop_oneof![
        3 => Just(1_u64),
        8 => 1..40_u64,
        4 => 40..10_000_u64,
        3 => 1_000_000_000..100_000_000_000_u64,
        1 => Just(MAX_WINDOW),
    ];
    (limit(), window, unit(), buckets()).prop_map(|(limit, window, unit, buckets)| {
        let quota = Quota::from_nanos(limit, window, unit).unwrap();
        (quota.into(), buckets)
    })
}

fn several_quotas() -> impl Strategy<Value = (Quotas, u32)> {
    let width = prop_oneof![4 => Just(1_u64), 4 => 2..20_u64, 2 => Just(1_000_003_u64)];
    (
        width,
        buckets(),
        unit(),
        prop::collection::vec((limit(), any::<u32>()), 1..4),
        limit(),
    )
        .prop_map(|(width, buckets, unit, shorter, limit)| {
            let quota = |limit, widths: u32| {
                Quota::from_nanos(limit, u64::from(widths) * width, unit).unwrap()
            };
            let shorter = shorter
                .into_iter()
                .map(|(limit, pick)| quota(limit, 1 + pick % buckets));
            let quotas = shorter.chain([quota(limit, buckets)]);
            (Quotas::new(quotas).unwrap(), buckets)
        })
}

fn step(buckets: u32) -> impl Strategy<Value = Step> {
    let window = i64::from(buckets);
    let widths = prop_oneof![
        8 => Just(0_i64),
        8 => 0..3_i64,
        4 => 0..=window,
        3 => window - 1..window + 3,
        2 => -3..0_i64,
        1 => -window..=0,
        1 => window..5 * window + 2,
        1 => 1_000_000..1_000_000_000_i64,
    ];
    (widths, -2..3_i64, any::<bool>()).prop_map(|(widths, nanos, edge)| match edge {
        true => Step::Edge { widths, nanos },
        false => Step::By { widths, nanos },
    })
}

pub fn story() -> impl Strategy<Value = Story> {
    let quotas = prop_oneof![one_quota(), several_quotas()];
    let start = prop_oneof![
        3 => Just(0_u64),
        3 => 0..1_000_000_u64,
        2 => Just(1 << 60),
        1 => u64::MAX - 1_000..=u64::MAX,
    ];
    (quotas, start).prop_flat_map(|((quotas, buckets), start)| {
        let cost = prop_oneof![6 => Just(1_u64), 3 => 1..9_u64, 1 => 1..70_u64];
        let call = prop_oneof![
            30 => (step(buckets), cost).prop_map(|(step, cost)| Call::Acquire {
                step,
                cost: Cost::new(cost).unwrap(),
            }),
            1 => Just(Call::Reset),
        ];
        prop::collection::vec(call, 1..100).prop_map(move |calls| Story {
            quotas: quotas.clone(),
            buckets,
            start,
            calls,
        })
    })
}
