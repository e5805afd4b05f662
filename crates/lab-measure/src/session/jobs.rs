//! What a session measures: its jobs, their names and their order.

use windowpane_lab_contestants::keyed::KeyedContestant;
use windowpane_lab_contestants::{Info, Origin};

use super::{EMPTY_PAIR, Session};
use crate::definitions::{self, Attack};
use crate::plan::{keyed_name, name};
use crate::rows::Side;
use crate::state::State;
use crate::throughput::Cell;

#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Throughput(Side),
    Closed,
    Open,
    /// Throughput on the traffic of this index.
    Traffic(usize, Side),
    EmptyPair,
    /// Throughput over many keys, in the cell of this index; the contestant is one of those.
    Keyed(usize, Side),
}

impl Kind {
    /// Whether it is the second of an A/A pair.
    pub(super) const fn is_again(self) -> bool {
        matches!(
            self,
            Kind::Throughput(Side::Again)
                | Kind::Keyed(_, Side::Again)
                | Kind::Traffic(_, Side::Again)
        )
    }

    /// The second of an A/A pair, of what has one.
    const fn again(self) -> Option<Kind> {
        match self {
            Kind::Throughput(Side::One) => Some(Kind::Throughput(Side::Again)),
            Kind::Keyed(cell, Side::One) => Some(Kind::Keyed(cell, Side::Again)),
            Kind::Traffic(nth, Side::One) => Some(Kind::Traffic(nth, Side::Again)),
            _ => None,
        }
    }

    /// The first word of a measurement's name.
    const fn word(self) -> &'static str {
        match self {
            Kind::Throughput(_) => "throughput",
            Kind::Closed | Kind::EmptyPair => "service",
            Kind::Open => "response",
            Kind::Traffic(..) => "traffic",
            Kind::Keyed(..) => "keyed",
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    pub(super) kind: Kind,
    pub(super) contestant: usize,
    pub(super) cell: Cell,
}

impl Session<'_> {
    /// In how many of a launch's first rounds a job is done: over many keys in fewer.
    pub(super) fn rounds_of(&self, job: &Job) -> u32 {
        let most = match job.kind {
            Kind::Keyed(cell, _) => self.plan.keyed[cell].workload.rounds.of(self.plan.mode),
            _ => u32::MAX,
        };
        most.min(self.plan.rounds)
    }

    /// What would be measured, by the names that the filter is compared with.
    pub fn names(&self) -> impl Iterator<Item = String> {
        let timed = self.jobs().into_iter().filter_map(|job| match job.kind {
            kind if kind.is_again() => None,
            _ => Some(self.name(job)),
        });
        timed.chain(self.attacks().map(|(name, ..)| name))
    }

    /// Each attack on each store, by its name.
    pub(super) fn attacks(
        &self,
    ) -> impl Iterator<Item = (String, &dyn KeyedContestant, &'static Attack)> {
        let attacks = definitions::attacks().filter(|_| self.plan.attacks);
        let on_everyone = attacks.flat_map(|attack| {
            self.keyed.iter().map(move |contestant| {
                let name = format!("keyed/{}/{}", attack.name, contestant.info().name);
                (name, *contestant, attack)
            })
        });
        on_everyone.filter(|(name, ..)| name.contains(&self.filter))
    }

    pub(super) fn name(&self, job: Job) -> String {
        if let Kind::Keyed(cell, _) = job.kind {
            let who = self.keyed[job.contestant].info().name;
            return keyed_name(who, self.plan.keyed[cell]);
        }
        let who = self.info(job).name;
        match job.kind {
            Kind::Traffic(nth, _) => format!("traffic/{}/{who}", self.traffic[nth].name),
            _ => name(job.kind.word(), who, job.cell),
        }
    }

    pub(super) fn info(&self, job: Job) -> Info {
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

    /// What each round measures.
    pub(super) fn jobs(&self) -> Vec<Job> {
        let plan = &self.plan;
        let mut jobs = self.in_cells(Kind::Throughput(Side::One), &plan.throughput);
        jobs.extend(self.in_cells(Kind::Closed, &plan.closed));
        jobs.extend(self.in_cells(Kind::Open, &plan.open));
        jobs.extend(self.empty_pairs());
        if !plan.throughput.is_empty() {
            jobs.extend(self.on_traffic());
        }
        jobs.extend(self.over_keys());
        // Everyone against itself: what differs there is noise.
        let again = jobs.iter().filter_map(|job| {
            let kind = job.kind.again()?;
            Some(Job { kind, ..*job })
        });
        let again: Vec<Job> = again.collect();
        jobs.extend(again);
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
                kind: Kind::Traffic(nth, Side::One),
                contestant,
                cell: Cell {
                    state: State::Mixed,
                    threads: 1,
                },
            })
        });
        jobs.collect()
    }

    /// Everyone who limits many keys in each of those cells.
    fn over_keys(&self) -> Vec<Job> {
        let cells = self.plan.keyed.iter().enumerate();
        let jobs = cells.flat_map(|(nth, cell)| {
            (0..self.keyed.len()).map(move |contestant| Job {
                kind: Kind::Keyed(nth, Side::One),
                contestant,
                cell: Cell {
                    state: State::Mixed,
                    threads: cell.threads,
                },
            })
        });
        jobs.collect()
    }
}
