//! What a session carries from one measurement to the next.

use std::collections::HashMap;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use windowpane_lab_contestants::{Cannot, Contestant};
use windowpane_lab_ground::clock::Pace;

use super::jobs::Job;
use crate::plan::Plan;
use crate::throughput::{self, Cell, MOST_LOST, Measured, Repeats, Times};

pub(super) struct Ongoing {
    /// Of the order of the rounds, and of the length of samples.
    pub(super) random: StdRng,
    /// Samples that may still be made again in this round.
    pub(super) repeats: Repeats,
    /// The pace at which twice the quota was offered, by contestant.
    paces: HashMap<(usize, Cell), Pace>,
}

/// Samples are longer or shorter by at most this share, so that they keep no step with anything
/// that happens at regular intervals.
const JITTER: f64 = 0.2;

impl Ongoing {
    pub(super) fn new(plan: &Plan) -> Ongoing {
        Ongoing {
            random: StdRng::seed_from_u64(plan.seed),
            repeats: Repeats::at_most(MOST_LOST),
            paces: HashMap::new(),
        }
    }

    /// The times of the next sample.
    pub(super) fn times(&mut self, mean: Times) -> Times {
        let mut jittered =
            |time: Duration| time.mul_f64(self.random.random_range(1.0 - JITTER..=1.0 + JITTER));
        Times {
            warm_up: jittered(mean.warm_up),
            measure: jittered(mean.measure),
        }
    }

    /// Measures throughput at the pace that is known from an earlier sample.
    pub(super) fn throughput(
        &mut self,
        contestant: &dyn Contestant,
        job: Job,
        times: Times,
    ) -> Result<Measured, Cannot> {
        let key = (job.contestant, job.cell);
        let mut pace = match self.paces.get(&key) {
            Some(pace) => *pace,
            None => throughput::pace(contestant, job.cell, times.warm_up)?,
        };
        let repeats = &mut self.repeats;
        let measured = throughput::measure_at(contestant, job.cell, times, &mut pace, repeats);
        self.paces.insert(key, pace);
        measured
    }
}
