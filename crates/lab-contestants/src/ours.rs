//! The limiters of this workspace, taken from the registry.

use std::hint::black_box;

use windowpane_core::{AcquireError, Cost, Decision, Quota, Quotas, RateLimiter};
use windowpane_lab_ground::clock::{LabClock, SimulatedClock};
use windowpane_mutex_log::{MutexLog, ParkingLotMutex};

use super::{Cannot, ContestClock, Contestant, Decide, Info, Instance, Origin, SHARED_CLOCK, Told};
use crate::registry::{self, ALGORITHMS, Algorithm, BuildOnClock, BuildOptions};

/// One limiter of ours.
pub struct Ours {
    name: &'static str,
    about: &'static str,
    algorithm: &'static Algorithm,
    /// The algorithm's own, or that of a variant of it.
    on_clock: BuildOnClock,
}

/// A built limiter beside a clock, its type known.
struct OnClock<L, C> {
    limiter: L,
    clock: C,
}

impl<L: RateLimiter, C: ContestClock> Decide for OnClock<L, C> {
    #[inline]
    fn decide(&self) -> bool {
        black_box(self.limiter.acquire_with(&self.clock, Cost::ONE))
            .is_ok_and(|decision| decision.is_allowed())
    }

    fn decide_cost(&self, cost: Cost) -> Result<Told, Cannot> {
        match self.limiter.acquire_with(&self.clock, cost) {
            Ok(Decision::Allowed { .. }) => Ok(Told::ALLOWED),
            Ok(Decision::Denied(denied)) => Ok(Told::denied(denied.retry_after_nanos())),
            Err(AcquireError::NeverFits { .. }) => Ok(Told::denied(None)),
            Err(error) => Err(Cannot(error.to_string())),
        }
    }
}

/// A limiter of ours on a clock of the laboratory: loops over it are compiled for `L`.
pub fn on_clock<L: RateLimiter + 'static>(limiter: L, clock: LabClock) -> Box<dyn Instance> {
    match clock {
        LabClock::Bench(clock) => Box::new(OnClock { limiter, clock }),
        LabClock::Stalling(clock) => Box::new(OnClock { limiter, clock }),
        LabClock::Simulated => Box::new(OnClock {
            limiter,
            clock: SimulatedClock,
        }),
    }
}

impl Contestant for Ours {
    fn info(&self) -> Info {
        Info {
            name: self.name,
            origin: Origin::Ours,
            exact: self.algorithm.exact,
            rule: self.algorithm.rule,
            about: self.about,
            clock: SHARED_CLOCK,
            cannot: self.algorithm.cannot,
            memory: self.algorithm.memory,
            memory_at_most: self.algorithm.memory_at_most,
        }
    }

    fn build(&self, quota: Quota, clock: LabClock) -> Result<Box<dyn Instance>, Cannot> {
        self.build_for(&quota.into(), clock)
    }

    fn build_for(&self, quotas: &Quotas, clock: LabClock) -> Result<Box<dyn Instance>, Cannot> {
        let options = BuildOptions::starting_at(clock.now());
        (self.on_clock)(quotas, options, clock).map_err(|error| Cannot(error.to_string()))
    }
}

/// The registry's limiters in its order, and the oracle a second time, with the other mutex.
pub(super) fn all() -> Vec<Box<dyn Contestant>> {
    let mut all: Vec<Box<dyn Contestant>> = Vec::new();
    for algorithm in ALGORITHMS {
        all.push(Box::new(Ours {
            name: algorithm.name,
            about: algorithm.about,
            algorithm,
            on_clock: algorithm.on_clock,
        }));
        if algorithm.name == registry::ORACLE {
            all.push(Box::new(Ours {
                name: "mutex-log-parking-lot",
                about: "the same log behind parking_lot's mutex",
                algorithm,
                on_clock: |quotas, _, clock| {
                    let log = MutexLog::<ParkingLotMutex>::new(quotas.clone());
                    Ok(on_clock(log, clock))
                },
            }));
        }
    }
    all
}
