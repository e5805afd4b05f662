//! What a run measures: the cells, the rounds and the time they may take.

use std::time::Duration;

use super::environment::cores;
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

/// What a run measures.
#[derive(Clone, Debug)]
pub struct Plan {
    /// How much.
    pub mode: Mode,
    /// Of the order within the rounds, and of the synthetic traffic.
    pub seed: u64,
    /// Each round measures each cell of each contestant once, in an order of its own.
    pub rounds: u32,
    /// Pairs of the reference against itself before the first round, in each cell of throughput.
    pub pairs_first: u32,
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
    /// Whether memory and accuracy are measured, too.
    pub without_clock: bool,
    /// After this no further round is begun.
    pub budget: Duration,
}

const fn times(warm_up_ms: u64, measure_ms: u64) -> Times {
    Times {
        warm_up: Duration::from_millis(warm_up_ms),
        measure: Duration::from_millis(measure_ms),
    }
}

fn cells(states: &[State], threads: &[usize]) -> Vec<Cell> {
    let cell = |state| threads.iter().map(move |&threads| Cell { state, threads });
    states.iter().copied().flat_map(cell).collect()
}

impl Plan {
    /// The plan of a mode.
    pub fn new(mode: Mode, seed: u64) -> Plan {
        use State::{Allowed, Denied};
        let on_cores = |threads: &[usize]| -> Vec<usize> {
            let fits = |threads: &usize| *threads <= cores();
            threads.iter().copied().filter(fits).collect()
        };
        match mode {
            Mode::Test => Plan {
                mode,
                seed,
                rounds: 1,
                pairs_first: 0,
                throughput_times: times(1, 5),
                latency_times: times(1, 5),
                throughput: cells(&State::ALL, &[1, 2]),
                closed: cells(&[Allowed, Denied], &[1]),
                open: cells(&[Allowed], &[1]),
                without_clock: true,
                budget: Duration::from_secs(60),
            },
            Mode::Quick => Plan {
                mode,
                seed,
                rounds: 3,
                pairs_first: 2,
                throughput_times: times(8, 25),
                latency_times: times(8, 25),
                throughput: cells(&State::ALL, &[1, 2, 4]),
                closed: cells(&[Allowed], &[1, 2, 4]),
                open: cells(&[Allowed], &on_cores(&[1, 2])),
                without_clock: true,
                budget: Duration::from_secs(50),
            },
            Mode::Default => Plan {
                mode,
                seed,
                rounds: 7,
                pairs_first: 3,
                throughput_times: times(15, 60),
                latency_times: times(15, 60),
                throughput: cells(&State::ALL, &[1, 2, 4, 8]),
                closed: cells(&[Allowed, Denied], &[1, 2, 4, 8]),
                open: cells(&[Allowed, Denied], &on_cores(&[1, 2])),
                without_clock: true,
                budget: Duration::from_secs(330),
            },
            Mode::Full => Plan {
                mode,
                seed,
                rounds: 9,
                pairs_first: 5,
                throughput_times: times(20, 100),
                latency_times: times(20, 100),
                throughput: cells(&State::ALL, &[1, 2, 4, 8]),
                closed: cells(&State::ALL, &[1, 2, 4, 8]),
                open: cells(&[Allowed, Denied], &on_cores(&[1, 2, 4, 8])),
                without_clock: true,
                budget: Duration::from_secs(3_600),
            },
        }
    }

    /// The latency cells of a mode alone, for the target that shows nothing else.
    pub fn latency_alone(mode: Mode, seed: u64) -> Plan {
        let plan = Plan::new(mode, seed);
        Plan {
            rounds: plan.rounds.min(match mode {
                Mode::Test | Mode::Quick => 1,
                Mode::Default => 2,
                Mode::Full => 5,
            }),
            pairs_first: 0,
            throughput: Vec::new(),
            without_clock: false,
            ..plan
        }
    }
}

/// What a filter is compared with: `throughput/allowed/cas-ring/2`.
pub fn name(kind: &str, contestant: &str, cell: Cell) -> String {
    format!("{kind}/{}/{contestant}/{}", cell.state.word(), cell.threads)
}
