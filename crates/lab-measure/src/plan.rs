//! What a run measures: the cells, the rounds and the time they may take.

use std::time::Duration;

use super::definitions::{self, ByMode, Threads};
use super::environment::cores;
use super::keyed::{self, KeyedCell};
use super::state::State;
use super::throughput::{Cell, Times};

/// How much is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Each cell once and as short as can be: whether everything works and answers as expected.
    Test,
    /// Enough to see the order of things; with all other bench targets at most 2 minutes.
    Quick,
    /// What `cargo bench` does; with all other bench targets at most 10 minutes.
    Default,
    /// Every cell, for publishing.
    Full,
}

impl Mode {
    /// The word in the environment.
    pub const fn word(self) -> &'static str {
        match self {
            Mode::Test => "test",
            Mode::Quick => "quick",
            Mode::Default => "default",
            Mode::Full => "full",
        }
    }
}

/// Who stands against itself to show the noise.
pub const REFERENCE: &str = "cas-ring";

/// The same where there are many keys.
pub const KEYED_REFERENCE: &str = "flat/gcra";

/// What a run measures.
#[derive(Clone, Debug)]
pub struct Plan {
    /// How much.
    pub mode: Mode,
    /// Of the order within the rounds, and of the synthetic traffic.
    pub seed: u64,
    /// Processes that measure throughput one after the other, each with its own layout of memory.
    pub launches: u32,
    /// Which of them this is, from 1; 0 where this process measures everything.
    pub launch: u32,
    /// Each round measures each cell of each contestant once, in an order of its own. In each
    /// launch.
    pub rounds: u32,
    /// Rounds of latency, in one process.
    pub latency_rounds: u32,
    /// Looks of 0.3 s at a machine that is not quiet, before each launch.
    pub looks: u32,
    /// Of a throughput measurement.
    pub throughput_times: Times,
    /// Of a latency measurement.
    pub latency_times: Times,
    /// Cells of throughput.
    pub throughput: Vec<Cell>,
    /// Cells of service time.
    pub closed: Vec<Cell>,
    /// Cells of response time; none has more threads than there are cores, since a generator that
    /// is not scheduled measures itself.
    pub open: Vec<Cell>,
    /// Cells over many keys.
    pub keyed: Vec<KeyedCell>,
    /// Whether memory and accuracy are measured, too.
    pub without_clock: bool,
    /// Whether stores of many keys are attacked.
    pub attacks: bool,
    /// After this no further round is begun.
    pub budget: Duration,
    /// The same for the rounds of one launch.
    pub launch_budget: Duration,
}

/// How much a mode measures.
struct Size {
    launches: u32,
    /// Of a launch.
    rounds: u32,
    latency_rounds: u32,
    looks: u32,
    throughput: Times,
    latency: Times,
    launch_seconds: u64,
    /// Of all but the launches.
    seconds: u64,
}

impl Size {
    /// Many short rounds: a round is the unit of comparison, and a short one has less chance to be
    /// interrupted.
    const fn of(mode: Mode) -> Size {
        match mode {
            Mode::Test => Size {
                launches: 1,
                rounds: 1,
                latency_rounds: 1,
                looks: 0,
                throughput: times(1_000, 5_000),
                latency: times(1_000, 5_000),
                launch_seconds: 60,
                seconds: 60,
            },
            Mode::Quick => Size {
                launches: 3,
                rounds: 5,
                latency_rounds: 3,
                looks: 3,
                throughput: times(800, 5_000),
                latency: times(2_000, 10_000),
                launch_seconds: 18,
                seconds: 15,
            },
            Mode::Default => Size {
                launches: 6,
                rounds: 5,
                latency_rounds: 16,
                looks: 10,
                throughput: times(1_500, 10_000),
                latency: times(2_500, 10_000),
                launch_seconds: 42,
                seconds: 80,
            },
            Mode::Full => Size {
                launches: 10,
                rounds: 6,
                latency_rounds: 20,
                looks: 30,
                throughput: times(2_000, 15_000),
                latency: times(5_000, 30_000),
                launch_seconds: 360,
                seconds: 2_400,
            },
        }
    }
}

const fn times(warm_up_us: u64, measure_us: u64) -> Times {
    Times {
        warm_up: Duration::from_micros(warm_up_us),
        measure: Duration::from_micros(measure_us),
    }
}

/// The cells of a mode that the definitions ask for, of one kind of measurement.
fn cells(mode: Mode, kind: fn(&Threads) -> &ByMode) -> Vec<Cell> {
    let of_state = |state: State| {
        let threads = kind(&definitions::speed(state).threads).of(mode);
        threads.iter().map(move |&threads| Cell { state, threads })
    };
    State::ALL.into_iter().flat_map(of_state).collect()
}

impl Plan {
    /// The plan of a mode: the cells as the definitions say, and the time they may take.
    pub fn new(mode: Mode, seed: u64) -> Plan {
        let size = Size::of(mode);
        let mut open = cells(mode, |threads| &threads.response);
        open.retain(|cell| cell.threads <= cores());
        Plan {
            mode,
            seed,
            launches: size.launches,
            launch: 0,
            rounds: size.rounds,
            latency_rounds: size.latency_rounds,
            looks: size.looks,
            throughput_times: size.throughput,
            latency_times: size.latency,
            throughput: cells(mode, |threads| &threads.throughput),
            closed: cells(mode, |threads| &threads.service),
            open,
            keyed: keyed::cells(mode),
            without_clock: true,
            attacks: true,
            budget: Duration::from_secs(size.seconds),
            launch_budget: Duration::from_secs(size.launch_seconds),
        }
    }

    /// The part that each launch does: throughput on one key, on traffic and over many keys.
    pub fn of_launch(&self, launch: u32) -> Plan {
        Plan {
            launch,
            // An order of its own in each.
            seed: self.seed.wrapping_add(u64::from(launch) << 32),
            closed: Vec::new(),
            open: Vec::new(),
            without_clock: false,
            attacks: false,
            budget: self.launch_budget,
            ..self.clone()
        }
    }

    /// The part that is done once: everything else.
    pub fn beside_launches(&self) -> Plan {
        Plan {
            rounds: self.latency_rounds,
            looks: 0,
            throughput: Vec::new(),
            keyed: Vec::new(),
            ..self.clone()
        }
    }

    /// The number of a launch's round in the whole run.
    pub fn round(&self, nth: u32) -> u32 {
        self.launch.saturating_sub(1) * self.rounds + nth
    }

    /// The latency cells of a mode alone, for the target that shows nothing else.
    pub fn latency_alone(mode: Mode, seed: u64) -> Plan {
        let plan = Plan::new(mode, seed);
        Plan {
            latency_rounds: plan.latency_rounds.min(match mode {
                Mode::Test | Mode::Quick => 1,
                Mode::Default => 2,
                Mode::Full => 5,
            }),
            looks: 0,
            throughput: Vec::new(),
            keyed: Vec::new(),
            without_clock: false,
            attacks: false,
            ..plan
        }
    }
}

/// What a filter is compared with, of many keys: `keyed/insert/String/governor/1`.
pub fn keyed_name(contestant: &str, cell: KeyedCell) -> String {
    let (workload, key) = (&cell.workload.name, cell.key.word());
    format!("keyed/{workload}/{key}/{contestant}/{}", cell.threads)
}

/// What a filter is compared with: `throughput/allowed/cas-ring/2`.
pub fn name(kind: &str, contestant: &str, cell: Cell) -> String {
    format!("{kind}/{}/{contestant}/{}", cell.state.word(), cell.threads)
}
