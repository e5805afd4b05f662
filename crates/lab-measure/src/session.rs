//! A run: rounds in which every contestant is measured in every cell, in random order.

mod jobs;
mod ongoing;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rand::seq::SliceRandom;
use windowpane_lab_contestants::keyed::KeyedContestant;
use windowpane_lab_contestants::{Contestant, Origin};
use windowpane_lab_ground::latency::{ResponseTime, ServiceTime};
use windowpane_lab_ground::machine::Watch;

use super::environment::Environment;
use super::latency::{self, Loaded};
use super::plan::{Mode, Plan};
use super::recording::{At, Recording};
use super::rows::Side;
use super::state::State;
use super::throughput::{self, MOST_LOST, Repeats};
use super::traffic::Traffic;
use super::{accuracy, keyed, memory, stalled};

use self::jobs::{Job, Kind};
use self::ongoing::Ongoing;

/// The contestant of the rows that time nothing between two readings of the clock.
pub const EMPTY_PAIR: &str = "empty-pair";

/// What a session tells its user while it runs.
pub trait Progress {
    /// `steps` more steps are ahead.
    fn ahead(&self, steps: u64);
    /// One step is done; the next is `what`.
    fn step(&self, what: &str);
    /// Something to know.
    fn note(&self, text: &str);
}

/// What a session is given.
pub struct Session<'a> {
    /// What is measured.
    pub plan: Plan,
    /// Who is measured, the floor among them.
    pub everyone: &'a [&'a dyn Contestant],
    /// Who is measured over many keys.
    pub keyed: &'a [&'a dyn KeyedContestant],
    /// The requests that accuracy is measured on.
    pub traffic: &'a [Traffic],
    /// What is allocated now, by the allocator that the program counts with.
    pub live_bytes: fn() -> usize,
    /// Only what contains this is measured; empty for all. See [`name`](crate::plan::name).
    pub filter: String,
    /// Set from outside to end early and keep what there is.
    pub interrupted: &'a AtomicBool,
    /// Receives the progress.
    pub progress: &'a dyn Progress,
}

impl Session<'_> {
    /// Runs it, in this process. The rounds take the plan's budget and at most one round more.
    pub fn run(&self, environment: Environment) -> Recording {
        let began = Instant::now();
        let everyone = self.everyone.iter().map(|contestant| contestant.info());
        let mut recording = Recording::new(environment, everyone);
        recording.add_keyed_contestants(self.keyed.iter().map(|contestant| contestant.info()));
        recording.launch = self.plan.launch;
        let jobs = self.jobs();
        let of_rounds: u64 = jobs.iter().map(|job| u64::from(self.rounds_of(job))).sum();
        let warm: Vec<Job> = jobs.iter().copied().filter(|job| self.warms(job)).collect();
        self.progress.ahead(warm.len() as u64 + of_rounds);
        self.without_clock(&mut recording);
        let mut watch = Watch::begin();
        watch.wait(self.plan.looks);
        let mut ongoing = Ongoing::new(&self.plan);
        self.warm_up(&warm, &mut ongoing);
        watch.note();
        let mut watch = Watch::begin();
        let rounds_began = Instant::now();
        for round in 1..=self.plan.rounds {
            let mut order = jobs.clone();
            order.retain(|job| round <= self.rounds_of(job));
            order.shuffle(&mut ongoing.random);
            ongoing.repeats = Repeats::at_most(order.len() as u32 / 2 + MOST_LOST);
            for (position, job) in order.into_iter().enumerate() {
                let at = (self.plan.round(round), position as u32);
                self.do_job(job, at, &mut ongoing, &mut recording);
            }
            if self.is_interrupted() {
                break;
            }
            recording.environment.rounds = round;
            // A machine that is not quiet is waited for, a little; the round before is kept.
            if watch.note().is_some_and(|load| !load.is_quiet()) {
                watch.wait(self.plan.looks.min(1));
            }
            if self.is_out_of_time(rounds_began.elapsed(), round) {
                break;
            }
        }
        recording.environment.watched(&watch);
        self.stalled(&mut recording);
        self.attacked(&mut recording);
        self.close(&mut recording, began.elapsed());
        recording
    }

    fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// Whether the budget is spent. Early rounds hold more than late ones, so that none tells how
    /// long the next takes.
    fn is_out_of_time(&self, elapsed: Duration, rounds: u32) -> bool {
        let over = elapsed >= self.plan.budget;
        if over && rounds < self.plan.rounds {
            self.progress.note(&format!(
                "{rounds} of {} rounds: {} s are over",
                self.plan.rounds,
                self.plan.budget.as_secs()
            ));
        }
        over
    }

    /// Whether a job is part of the warm-up pass: not over many keys, where each sample builds its
    /// store and warms it.
    fn warms(&self, job: &Job) -> bool {
        let of_throughput = matches!(
            job.kind,
            Kind::Throughput(Side::One) | Kind::Traffic(_, Side::One)
        );
        of_throughput && self.plan.mode != Mode::Test
    }

    /// A pass whose samples are discarded: the first samples of a process run on a cold machine.
    fn warm_up(&self, jobs: &[Job], ongoing: &mut Ongoing) {
        let nobody = self.everyone.iter().take(0).map(|nobody| nobody.info());
        let mut discarded = Recording::new(Environment::default(), nobody);
        for job in jobs {
            self.do_job(*job, (0, 0), ongoing, &mut discarded);
        }
    }

    /// Memory and accuracy: they do not depend on how busy the machine is.
    fn without_clock(&self, recording: &mut Recording) {
        if !self.plan.without_clock || !self.filter.is_empty() {
            return;
        }
        let exact: Vec<Option<u64>> = self.traffic.iter().map(accuracy::exact_allowed).collect();
        for contestant in self
            .everyone
            .iter()
            .filter(|c| c.info().origin != Origin::Floor)
        {
            self.progress
                .note(&format!("memory and accuracy: {}", contestant.info().name));
            recording
                .memory
                .extend(memory::measure(*contestant, self.live_bytes));
            for (traffic, exact) in self.traffic.iter().zip(&exact) {
                if self.is_interrupted() {
                    return;
                }
                let row = accuracy::row(*contestant, traffic, *exact);
                recording.accuracy.push(row);
            }
        }
        let extent = keyed::Extent::of(self.plan.mode);
        for contestant in self.keyed {
            if self.is_interrupted() {
                return;
            }
            self.progress
                .note(&format!("memory of many keys: {}", contestant.info().name));
            let rows = keyed::measure_memory(*contestant, &extent, self.live_bytes);
            recording.keyed_memory.extend(rows);
        }
    }

    /// What others see while one thread is stopped: ten milliseconds need no rounds to be told from
    /// a decision.
    fn stalled(&self, recording: &mut Recording) {
        if !self.plan.without_clock || !self.filter.is_empty() {
            return;
        }
        let length = stalled::length(self.plan.mode);
        for contestant in self.everyone {
            for state in [State::Allowed, State::Denied] {
                if self.is_interrupted() {
                    return;
                }
                let row = stalled::row(*contestant, state, length);
                recording.stalled.push(row);
            }
        }
    }

    /// What a flood of new keys does to memory and to those who are over their limit. These are counts,
    /// which need no rounds.
    fn attacked(&self, recording: &mut Recording) {
        for (name, contestant, attack) in self.attacks() {
            for tidied in [false, true] {
                if self.is_interrupted() {
                    return;
                }
                if !tidied {
                    self.progress.note(&name);
                }
                let mode = self.plan.mode;
                let rows = keyed::attack(contestant, attack, mode, tidied, self.live_bytes);
                recording.keyed_attack.extend(rows);
            }
        }
    }

    fn do_job(
        &self,
        job: Job,
        (round, position): (u32, u32),
        ongoing: &mut Ongoing,
        recording: &mut Recording,
    ) {
        if self.is_interrupted() {
            return;
        }
        self.progress.step(&self.name(job));
        let times = ongoing.times(self.plan.throughput_times);
        if let Kind::Keyed(nth, side) = job.kind {
            let (contestant, cell) = (self.keyed[job.contestant], self.plan.keyed[nth]);
            let measured = keyed::measure(contestant, cell, times, &mut ongoing.repeats);
            recording.add_keyed((round, position), contestant.info(), side, cell, &measured);
            return;
        }
        let contestant = self.everyone[job.contestant];
        let info = self.info(job);
        let at = At {
            round,
            position,
            info,
            cell: job.cell,
        };
        match job.kind {
            Kind::Throughput(side) => {
                let measured = ongoing.throughput(contestant, job, times);
                recording.add_throughput(&at, side, &measured);
            }
            Kind::Traffic(nth, side) => {
                let traffic = &self.traffic[nth];
                let repeats = &mut ongoing.repeats;
                let measured = throughput::on_traffic(contestant, traffic, times, repeats);
                recording.add_traffic(&at, &traffic.name, side, &measured);
            }
            // Measured above: its contestant is not one of these.
            Kind::Keyed(..) => {}
            Kind::EmptyPair | Kind::Closed | Kind::Open => {
                self.latency(job.kind, contestant, &at, recording);
            }
        }
    }

    fn latency(&self, kind: Kind, contestant: &dyn Contestant, at: &At, recording: &mut Recording) {
        let (cell, times) = (at.cell, self.plan.latency_times);
        match kind {
            Kind::EmptyPair => recording.add_closed(at, &latency::timer_floor(cell, times)),
            Kind::Closed => match latency::closed(contestant, cell, times) {
                Ok(measured) => recording.add_closed(at, &measured),
                Err(cannot) => recording.add_cannot(at, &ServiceTime::empty(), cannot),
            },
            _ => match Loaded::new(contestant, cell, times) {
                Ok(loaded) => {
                    for load in latency::LOADS {
                        let measured = loaded.open(load, times);
                        recording.add_open(at, load, loaded.capacity(), &measured);
                    }
                }
                Err(cannot) => recording.add_cannot(at, &ResponseTime::empty(), cannot),
            },
        }
    }

    /// Fills in what is known at the end.
    fn close(&self, recording: &mut Recording, elapsed: Duration) {
        let environment = &mut recording.environment;
        let plan = &self.plan;
        environment.close(plan.mode, plan.seed, plan.rounds, elapsed);
        environment.partial = match (self.is_interrupted(), self.filter.is_empty()) {
            (true, _) => "interrupted".into(),
            (_, false) => format!("only what contains `{}`", self.filter),
            _ => String::new(),
        };
    }
}
