//! Throughput as single curves by thread count, in criterion's way.
//!
//! Criterion receives the time from the first worker's start to the last worker's end, by
//! the workers' own clocks; spawning, pinning and warming are outside of it.

use std::process::ExitCode;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput};
use windowpane_lab_contestants::Contestant;
use windowpane_lab_contestants::everyone;
use windowpane_lab_measure::arguments::criterion_mode;
use windowpane_lab_measure::definitions;
use windowpane_lab_measure::plan::Mode;
use windowpane_lab_measure::state::State;
use windowpane_lab_measure::throughput::{Cell, iterations, pace, prepare};

/// Samples, and milliseconds of warming and measuring.
fn extent(mode: Mode) -> (usize, u64, u64) {
    match mode {
        Mode::Test => (10, 1, 1),
        Mode::Quick => (10, 40, 60),
        Mode::Default => (10, 80, 200),
        Mode::Full => (20, 200, 1_000),
    }
}

fn bench(criterion: &mut Criterion, mode: Mode) {
    let (samples, warm_up, measure) = extent(mode);
    for state in State::ALL {
        // As the definition of the state says, so that the curves and the comparison are alike.
        let threads = definitions::speed(state).threads.throughput.of(mode);
        let mut group = criterion.benchmark_group(format!("throughput/{}", state.word()));
        group
            .sampling_mode(SamplingMode::Flat)
            .sample_size(samples)
            .warm_up_time(Duration::from_millis(warm_up))
            .measurement_time(Duration::from_millis(measure));
        for contestant in everyone() {
            let name = contestant.info().name;
            let one = Cell { state, threads: 1 };
            if let Err(cannot) = pace(contestant, one, Duration::ZERO)
                .and_then(|pace| prepare(contestant, state, pace))
            {
                println!("throughput/{}/{name}: {cannot}", state.word());
                continue;
            }
            for &threads in threads {
                let cell = Cell { state, threads };
                group.throughput(Throughput::Elements(threads as u64));
                let id = BenchmarkId::new(name, threads);
                group.bench_with_input(id, &cell, |bencher, &cell| {
                    run(bencher, contestant, cell);
                });
            }
        }
        group.finish();
    }
}

/// Decisions of each thread that stand for one of criterion's iterations, so that even its first
/// samples last long beside the workers' start.
const DECISIONS: u32 = 256;

/// Criterion receives the time of one decision of each thread.
fn run(bencher: &mut criterion::Bencher, contestant: &dyn Contestant, cell: Cell) {
    let pace = match pace(contestant, cell, Duration::from_millis(10)) {
        Ok(pace) => pace,
        Err(cannot) => panic!("{}: {cannot}", contestant.info().name),
    };
    bencher.iter_custom(|count| {
        let decisions = count * u64::from(DECISIONS);
        match iterations(contestant, cell, pace, decisions) {
            Ok(throughput) => throughput.elapsed() / DECISIONS,
            Err(cannot) => panic!("{}: {cannot}", contestant.info().name),
        }
    });
}

/// Runs the bench target.
pub fn main() -> ExitCode {
    let mode = match criterion_mode() {
        Ok(mode) => mode,
        Err(code) => return code,
    };
    let mut criterion = Criterion::default().without_plots().configure_from_args();
    bench(&mut criterion, mode);
    criterion.final_summary();
    ExitCode::SUCCESS
}
