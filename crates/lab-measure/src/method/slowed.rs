//! Contestants that are slower by a known factor.

use std::sync::atomic::{AtomicU64, Ordering};

use windowpane_core::clock::TscClock;
use windowpane_core::{Clock, Cost, Nanos, Quota};
use windowpane_lab_contestants::table::TABLE;
use windowpane_lab_contestants::{Cannot, Contestant, Info, Instance, Told};
use windowpane_lab_ground::clock::LabClock;
use windowpane_lab_ground::latency::{ClosedLoop, OpenLoop};

/// What is slowed: one that only reads to deny, one behind a mutex, one of others.
pub(super) const BASES: [&str; 3] = ["cas-ring", "mutex-log", "governor"];

/// How a contestant is slowed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Slowed {
    /// By this factor of each batch's time.
    By(f64),
    /// A third of the instances by a factor of two, the others not.
    TwoSpeeds,
}

/// Each way, and its name. What stands twice is the same once more: between those there is no
/// difference to find.
pub(super) const WAYS: [(&str, Slowed); 8] = [
    ("as it is", Slowed::By(1.0)),
    ("as it is, too", Slowed::By(1.0)),
    ("3 % slower", Slowed::By(1.03)),
    ("5 % slower", Slowed::By(1.05)),
    ("10 % slower", Slowed::By(1.1)),
    ("50 % slower", Slowed::By(1.5)),
    ("of two speeds", Slowed::TwoSpeeds),
    ("of two speeds, too", Slowed::TwoSpeeds),
];

/// A contestant that takes a known factor of its time.
pub(super) struct SlowedContestant {
    base: &'static dyn Contestant,
    name: &'static str,
    slowed: Slowed,
    built: AtomicU64,
}

/// The name of a base that is slowed in a way.
pub(super) fn name(base: &str, way: &str) -> String {
    format!("{base}, {way}")
}

/// Every base in every way. They live as long as the program.
pub(super) fn contestants() -> Vec<&'static dyn Contestant> {
    let all = BASES.into_iter().filter_map(|base| TABLE.entry(base));
    let all = all.flat_map(|entry| WAYS.map(|(way, slowed)| (entry.one_key, way, slowed)));
    let made = all.map(|(base, way, slowed)| {
        let made: &'static SlowedContestant = Box::leak(Box::new(SlowedContestant {
            base,
            name: name(base.info().name, way).leak(),
            slowed,
            built: AtomicU64::new(0),
        }));
        made as &'static dyn Contestant
    });
    made.collect()
}

impl Contestant for SlowedContestant {
    fn info(&self) -> Info {
        Info {
            name: self.name,
            ..self.base.info()
        }
    }

    fn build(&self, quota: Quota, clock: LabClock) -> Result<Box<dyn Instance>, Cannot> {
        // A multiplication scrambles the count, so that slow instances do not come at intervals.
        let nth = self.built.fetch_add(1, Ordering::Relaxed);
        let scrambled = nth.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let factor = match self.slowed {
            Slowed::By(factor) => factor,
            Slowed::TwoSpeeds if scrambled.is_multiple_of(3) => 2.0,
            Slowed::TwoSpeeds => 1.0,
        };
        Ok(Box::new(SlowedInstance {
            inner: self.base.build(quota, clock)?,
            clock: TscClock::new(),
            factor,
        }))
    }
}

/// An instance that waits after each batch.
struct SlowedInstance {
    inner: Box<dyn Instance>,
    clock: TscClock,
    factor: f64,
}

impl Instance for SlowedInstance {
    fn batch(&self, decisions: u32) -> u32 {
        let start = self.clock.now();
        let allowed = self.inner.batch(decisions);
        let took = self.clock.now() - start;
        let until = start + (took as f64 * self.factor) as Nanos;
        // One reading at the least, whatever the factor: the readings are everyone's.
        while self.clock.now() < until {
            std::hint::spin_loop();
        }
        allowed
    }

    fn run_closed(&self, run: &mut ClosedLoop) {
        self.inner.run_closed(run);
    }

    fn run_open(&self, run: &mut OpenLoop) {
        self.inner.run_open(run);
    }

    fn replay(&self, times: &[Nanos], later: Nanos) -> u64 {
        self.inner.replay(times, later)
    }

    fn decide_cost(&self, cost: Cost) -> Result<Told, Cannot> {
        self.inner.decide_cost(cost)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn a_batch_takes_the_factor_of_its_time() {
        struct Slow;
        impl windowpane_lab_contestants::Decide for Slow {
            fn decide(&self) -> bool {
                let until = Instant::now() + std::time::Duration::from_micros(100);
                while Instant::now() < until {}
                true
            }
        }
        let slowed = |factor| SlowedInstance {
            inner: Box::new(Slow),
            clock: TscClock::new(),
            factor,
        };
        // The fastest of some: what is preempted takes longer.
        let fastest = |factor| {
            let batch = || {
                let began = Instant::now();
                assert_eq!(slowed(factor).batch(10), 10);
                began.elapsed()
            };
            (0..20).map(|_| batch()).min().unwrap().as_secs_f64()
        };
        let ratio = fastest(1.5) / fastest(1.0);
        assert!((1.4..=1.6).contains(&ratio), "{ratio}");
    }

    #[test]
    fn each_base_stands_in_each_way_under_its_own_name() {
        let mut names: Vec<&str> = contestants().iter().map(|who| who.info().name).collect();
        assert_eq!(names.len(), BASES.len() * WAYS.len());
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), BASES.len() * WAYS.len());
        assert!(names.contains(&"cas-ring, 10 % slower"));
    }
}
