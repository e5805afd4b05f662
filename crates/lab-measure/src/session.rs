//! A run: rounds in which every contestant is measured in every cell, in random order.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use windowpane_lab_contestants::keyed::KeyedContestant;
use windowpane_lab_contestants::{Contestant, Info, Origin};
use windowpane_lab_ground::latency::{ResponseTime, ServiceTime};
use windowpane_lab_ground::spread::noise;

use super::definitions::{self, Attack};
use super::environment::Environment;
use super::latency::{self, Loaded};
use super::plan::{KEYED_REFERENCE, Plan, REFERENCE, keyed_name, name};
use super::recording::{At, Recording};
use super::rows::Side;
use super::state::State;
use super::throughput::{self, Cell};
use super::traffic::Traffic;
use super::{accuracy, keyed, memory, stalled};

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
    /// Only what contains this is measured; empty for all. See [`name`].
    pub filter: String,
    /// Set from outside to end early and keep what there is.
    pub interrupted: &'a AtomicBool,
    /// Who is told how far it is.
    pub progress: &'a dyn Progress,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Throughput(Side),
    Closed,
    Open,
    /// Throughput on the traffic of this index.
    Traffic(usize),
    EmptyPair,
    /// Throughput over many keys, in the cell of this index; the contestant is one of those.
    Keyed(usize, Side),
}

impl Kind {
    /// The first word of a measurement's name.
    const fn word(self) -> &'static str {
        match self {
            Kind::Throughput(_) => "throughput",
            Kind::Closed | Kind::EmptyPair => "service",
            Kind::Open => "response",
            Kind::Traffic(_) => "traffic",
            Kind::Keyed(..) => "keyed",
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Job {
    kind: Kind,
    contestant: usize,
    cell: Cell,
}

impl Session<'_> {
    /// Runs it. It takes the plan's budget and at most one round more.
    pub fn run(&self, environment: Environment) -> Recording {
        let began = Instant::now();
        let everyone = self.everyone.iter().map(|contestant| contestant.info());
        let mut recording = Recording::new(environment, everyone);
        recording.add_keyed_contestants(self.keyed.iter().map(|contestant| contestant.info()));
        let jobs = self.jobs();
        let first = self.pairs_first(&jobs);
        let of_rounds: u64 = jobs.iter().map(|job| u64::from(self.rounds_of(job))).sum();
        self.progress.ahead(first.len() as u64 + of_rounds);
        self.without_clock(&mut recording);
        for (position, job) in first.into_iter().enumerate() {
            self.do_job(job, 0, position as u32, &mut recording);
        }
        self.tell_noise(&recording);
        let mut random = StdRng::seed_from_u64(self.plan.seed);
        for round in 1..=self.plan.rounds {
            let mut order = jobs.clone();
            order.retain(|job| round <= self.rounds_of(job));
            order.shuffle(&mut random);
            for (position, job) in order.into_iter().enumerate() {
                self.do_job(job, round, position as u32, &mut recording);
            }
            if self.is_interrupted() {
                break;
            }
            recording.environment.rounds = round;
            if self.is_out_of_time(began.elapsed(), round) {
                break;
            }
        }
        self.stalled(&mut recording);
        self.attacked(&mut recording);
        self.close(&mut recording, began.elapsed());
        recording
    }

    /// In how many of the first rounds a job is done: over many keys in fewer.
    fn rounds_of(&self, job: &Job) -> u32 {
        let most = match job.kind {
            Kind::Keyed(cell, _) => self.plan.keyed[cell].workload.rounds.of(self.plan.mode),
            _ => u32::MAX,
        };
        most.min(self.plan.rounds)
    }

    /// What would be measured, by the names that the filter is compared with.
    pub fn names(&self) -> impl Iterator<Item = String> {
        let timed = self.jobs().into_iter().filter_map(|job| match job.kind {
            Kind::Throughput(Side::Again) | Kind::Keyed(_, Side::Again) => None,
            _ => Some(self.name(job)),
        });
        timed.chain(self.attacks().map(|(name, ..)| name))
    }

    /// Each attack on each store, by its name.
    fn attacks(&self) -> impl Iterator<Item = (String, &dyn KeyedContestant, &'static Attack)> {
        let attacks = definitions::attacks().filter(|_| self.plan.attacks);
        let on_everyone = attacks.flat_map(|attack| {
            self.keyed.iter().map(move |contestant| {
                let name = format!("keyed/{}/{}", attack.name, contestant.info().name);
                (name, *contestant, attack)
            })
        });
        on_everyone.filter(|(name, ..)| name.contains(&self.filter))
    }

    fn name(&self, job: Job) -> String {
        if let Kind::Keyed(cell, _) = job.kind {
            let who = self.keyed[job.contestant].info().name;
            return keyed_name(who, self.plan.keyed[cell]);
        }
        let who = self.info(job).name;
        match job.kind {
            Kind::Traffic(nth) => format!("traffic/{}/{who}", self.traffic[nth].name),
            _ => name(job.kind.word(), who, job.cell),
        }
    }

    fn info(&self, job: Job) -> Info {
        let info = self.everyone[job.contestant].info();
        match job.kind {
            Kind::EmptyPair => Info {
                name: EMPTY_PAIR,
                origin: Origin::Floor,
                ..info
            },
            _ => info,
        }
    }

    fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// Whether another round would overrun the budget.
    fn is_out_of_time(&self, elapsed: Duration, rounds: u32) -> bool {
        let another = elapsed + elapsed / rounds > self.plan.budget;
        if another && rounds < self.plan.rounds {
            self.progress.note(&format!(
                "{rounds} of {} rounds: another would take longer than {} s in all",
                self.plan.rounds,
                self.plan.budget.as_secs()
            ));
        }
        another
    }

    /// What each round measures.
    fn jobs(&self) -> Vec<Job> {
        let plan = &self.plan;
        let mut jobs = self.in_cells(Kind::Throughput(Side::One), &plan.throughput);
        let again = jobs.iter().copied().filter(|job| self.is_reference(job));
        let again: Vec<Job> = again
            .map(|job| Job {
                kind: Kind::Throughput(Side::Again),
                ..job
            })
            .collect();
        jobs.extend(again);
        jobs.extend(self.in_cells(Kind::Closed, &plan.closed));
        jobs.extend(self.in_cells(Kind::Open, &plan.open));
        jobs.extend(self.empty_pairs());
        if !plan.throughput.is_empty() {
            jobs.extend(self.on_traffic());
        }
        jobs.extend(self.over_keys());
        jobs.retain(|job| self.name(*job).contains(&self.filter));
        jobs
    }

    /// Everyone in each of the cells.
    fn in_cells(&self, kind: Kind, cells: &[Cell]) -> Vec<Job> {
        let everyone = 0..self.everyone.len();
        let jobs = cells.iter().flat_map(|&cell| {
            everyone.clone().map(move |contestant| Job {
                kind,
                contestant,
                cell,
            })
        });
        jobs.collect()
    }

    /// The timer's floor for each number of threads of the closed loops.
    fn empty_pairs(&self) -> Vec<Job> {
        let mut jobs: Vec<Job> = Vec::new();
        for &cell in &self.plan.closed {
            if jobs.iter().all(|job| job.cell.threads != cell.threads) {
                jobs.push(Job {
                    kind: Kind::EmptyPair,
                    contestant: 0,
                    cell,
                });
            }
        }
        jobs
    }

    /// Everyone but the floor on each traffic that speed is measured on.
    fn on_traffic(&self) -> Vec<Job> {
        let limiters =
            |contestant: &usize| self.everyone[*contestant].info().origin != Origin::Floor;
        let traffic = self
            .traffic
            .iter()
            .enumerate()
            .filter(|(_, traffic)| traffic.speed);
        let jobs = traffic.flat_map(|(nth, _)| {
            let contestants = (0..self.everyone.len()).filter(limiters);
            contestants.map(move |contestant| Job {
                kind: Kind::Traffic(nth),
                contestant,
                cell: Cell {
                    state: State::Mixed,
                    threads: 1,
                },
            })
        });
        jobs.collect()
    }

    /// Everyone who limits many keys in each of those cells, and the reference again.
    fn over_keys(&self) -> Vec<Job> {
        let mut jobs = Vec::new();
        for nth in 0..self.plan.keyed.len() {
            for (contestant, who) in self.keyed.iter().enumerate() {
                let job = |side| Job {
                    kind: Kind::Keyed(nth, side),
                    contestant,
                    cell: Cell {
                        state: State::Mixed,
                        threads: self.plan.keyed[nth].threads,
                    },
                };
                jobs.push(job(Side::One));
                if who.info().name == KEYED_REFERENCE {
                    jobs.push(job(Side::Again));
                }
            }
        }
        jobs
    }

    fn is_reference(&self, job: &Job) -> bool {
        matches!(job.kind, Kind::Throughput(_))
            && self.everyone[job.contestant].info().name == REFERENCE
    }

    /// The reference against itself, before anyone is compared: in each cell once and again.
    fn pairs_first(&self, jobs: &[Job]) -> Vec<Job> {
        let is_one = |job: &&Job| matches!(job.kind, Kind::Throughput(Side::One));
        let pairs = jobs
            .iter()
            .filter(|job| self.is_reference(job))
            .filter(is_one);
        let pairs: Vec<Job> = pairs
            .flat_map(|&job| {
                let kind = Kind::Throughput(Side::Again);
                [job, Job { kind, ..job }]
            })
            .collect();
        std::iter::repeat_n(pairs, self.plan.pairs_first as usize)
            .flatten()
            .collect()
    }

    /// What those pairs show, for those who watch.
    fn tell_noise(&self, recording: &Recording) {
        let pairs: Vec<(f64, f64)> = recording
            .throughput
            .chunks_exact(2)
            .filter(|pair| pair.iter().all(|row| row.share_ok))
            .map(|pair| (pair[0].per_second, pair[1].per_second))
            .collect();
        if let Some(noise) = noise(&pairs) {
            self.progress.note(&format!(
                "{REFERENCE} against itself: nine of ten pairs differ by at most {:.0} %",
                noise * 100.0
            ));
        }
    }

    /// Memory and accuracy: they do not depend on how busy the machine is.
    fn without_clock(&self, recording: &mut Recording) {
        if !self.plan.without_clock || !self.filter.is_empty() {
            return;
        }
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
            for traffic in self.traffic {
                if self.is_interrupted() {
                    return;
                }
                recording.accuracy.push(accuracy::row(*contestant, traffic));
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

    /// What a flood of new keys does to memory and to those who are over their limit. It is told by
    /// counts, which need no rounds.
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

    fn do_job(&self, job: Job, round: u32, position: u32, recording: &mut Recording) {
        if self.is_interrupted() {
            return;
        }
        self.progress.step(&self.name(job));
        if let Kind::Keyed(nth, side) = job.kind {
            let (contestant, cell) = (self.keyed[job.contestant], self.plan.keyed[nth]);
            let times = keyed::times(self.plan.throughput_times);
            let measured = keyed::measure(contestant, cell, times);
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
        let times = self.plan.latency_times;
        match job.kind {
            Kind::Throughput(side) => {
                let times = self.plan.throughput_times;
                let measured = throughput::measure(contestant, job.cell, times);
                recording.add_throughput(&at, side, &measured);
            }
            Kind::Traffic(nth) => {
                let traffic = &self.traffic[nth];
                let times = self.plan.throughput_times;
                let measured = throughput::on_traffic(contestant, traffic, times);
                recording.add_traffic(&at, &traffic.name, &measured);
            }
            // Measured above: its contestant is not one of these.
            Kind::Keyed(..) => {}
            Kind::EmptyPair => recording.add_closed(&at, &latency::timer_floor(job.cell, times)),
            Kind::Closed => match latency::closed(contestant, job.cell, times) {
                Ok(measured) => recording.add_closed(&at, &measured),
                Err(cannot) => recording.add_cannot(&at, &ServiceTime::empty(), cannot),
            },
            Kind::Open => match Loaded::new(contestant, job.cell, times) {
                Ok(loaded) => {
                    for load in latency::LOADS {
                        let measured = loaded.open(load, times);
                        recording.add_open(&at, load, loaded.capacity(), &measured);
                    }
                }
                Err(cannot) => recording.add_cannot(&at, &ResponseTime::empty(), cannot),
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
