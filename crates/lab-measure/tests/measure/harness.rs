//! The harness on real contestants and real threads, for as short as can be.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use windowpane_lab_contestants::keyed::KeyedContestant;
use windowpane_lab_contestants::{self as contestants, ClockOnly, Contestant};
use windowpane_lab_ground::clock::Pace;
use windowpane_lab_ground::latency::{Latency, ResponseTime, ServiceTime};
use windowpane_lab_ground::workers::{self, Throughput};
use windowpane_lab_measure::accuracy::judge;
use windowpane_lab_measure::environment::Environment;
use windowpane_lab_measure::keyed::KeyedCell;
use windowpane_lab_measure::latency::{LOADS, Loaded, closed};
use windowpane_lab_measure::plan::{Mode, Plan};
use windowpane_lab_measure::recording::Recording;
use windowpane_lab_measure::session::{EMPTY_PAIR, Progress, Session};
use windowpane_lab_measure::state::State;
use windowpane_lab_measure::throughput::{
    Cell, MOST_LOST, Repeats, Times, iterations, measure, on_traffic,
};
use windowpane_lab_measure::{folder, launches, traffic};

const SHORT: Times = Times {
    warm_up: Duration::from_millis(1),
    measure: Duration::from_millis(4),
};

#[test]
fn what_is_called_allowed_is_allowed_and_what_is_called_denied_is_denied() {
    for contestant in contestants::all() {
        for (state, share) in [(State::Allowed, 1.0), (State::Denied, 0.0)] {
            for threads in [1, 2, 4] {
                let cell = Cell { state, threads };
                let name = contestant.info().name;
                let measured = match measure(contestant, cell, SHORT) {
                    Ok(measured) => measured,
                    // Windows of whole seconds, only.
                    Err(cannot) => {
                        assert_eq!((name, state), ("trypema", State::Allowed), "{cannot}");
                        continue;
                    }
                };
                assert!(measured.share_ok, "{name}, {cell:?}: {}", measured.allowed);
                assert!((measured.allowed - share).abs() < 1e-3, "{name}, {cell:?}");
                assert!(measured.throughput.operations() > 0);
            }
        }
    }
}

#[test]
fn criterions_iterations_are_made_by_each_thread_and_none_is_cut_off() {
    for iterations_of_each in [1, 7, 513] {
        let cell = Cell {
            state: State::Allowed,
            threads: 3,
        };
        let made = iterations(&ClockOnly, cell, Pace::REAL, iterations_of_each).unwrap();
        assert_eq!(made.operations(), 3 * iterations_of_each);
    }
}

#[test]
fn an_open_loop_counts_a_stall_for_all_who_waited() {
    let ring = contestants::all().remove(2);
    let cell = Cell {
        state: State::Allowed,
        threads: 1,
    };
    let loaded = Loaded::new(ring, cell, SHORT).unwrap();
    for load in LOADS {
        let open = loaded.open(load, SHORT);
        assert!((open.intended - loaded.capacity() * f64::from(load) / 100.0).abs() < 1.0);
        // Response time is counted from the intended start, so it is never less than lateness.
        assert!(open.times.times().max() >= open.lateness.times().max());
        assert_eq!(open.times.decisions(), open.lateness.times().len());
    }
    let service = closed(ring, cell, SHORT).unwrap();
    assert_eq!(service.times.decisions(), service.throughput.operations());
    assert_ne!(ServiceTime::LABEL, ResponseTime::LABEL);
}

struct Silent;

impl Progress for Silent {
    fn ahead(&self, _: u64) {}
    fn step(&self, _: &str) {}
    fn note(&self, _: &str) {}
}

fn session<'a>(
    everyone: &'a [&'static dyn Contestant],
    interrupted: &'a AtomicBool,
    filter: &str,
) -> Session<'a> {
    let cells = vec![Cell {
        state: State::Allowed,
        threads: 1,
    }];
    Session {
        plan: Plan {
            rounds: 2,
            latency_rounds: 2,
            throughput_times: SHORT,
            latency_times: SHORT,
            throughput: cells.clone(),
            closed: cells.clone(),
            open: cells,
            ..Plan::new(Mode::Test, 5)
        },
        everyone,
        keyed: &[],
        traffic: &[],
        live_bytes: || 0,
        filter: filter.into(),
        interrupted,
        progress: &Silent,
    }
}

/// Counts what is told to be ahead and what is done.
#[derive(Default)]
struct Counting {
    ahead: AtomicU64,
    steps: AtomicU64,
}

impl Progress for Counting {
    fn ahead(&self, steps: u64) {
        self.ahead.fetch_add(steps, Ordering::Relaxed);
    }
    fn step(&self, _: &str) {
        self.steps.fetch_add(1, Ordering::Relaxed);
    }
    fn note(&self, _: &str) {}
}

#[test]
fn many_keys_are_measured_in_fewer_rounds_and_the_steps_ahead_are_those_that_come() {
    let keyed: Vec<&'static dyn KeyedContestant> = contestants::keyed::all()
        .into_iter()
        .filter(|contestant| contestant.info().name == "flat/gcra")
        .collect();
    let one: Vec<&'static dyn Contestant> = contestants::all().into_iter().take(1).collect();
    let (interrupted, progress) = (AtomicBool::new(false), Counting::default());
    let mut session = session(&one, &interrupted, "");
    let hot = |cell: &KeyedCell| cell.workload.name == "one hot key, denied";
    session.plan.keyed.retain(hot);
    session.plan.keyed.truncate(1);
    assert_eq!(session.plan.keyed.len(), 1);
    session.plan.without_clock = false;
    session.keyed = &keyed;
    session.progress = &progress;
    let recording = session.run(environment());
    // Two rounds; in this mode keys are for the first alone, once and again.
    let rounds: Vec<u32> = recording.keyed.iter().map(|row| row.round).collect();
    assert_eq!(rounds, [1, 1]);
    let last = recording.throughput.iter().map(|row| row.round).max();
    assert_eq!(last, Some(2));
    assert_eq!(
        progress.ahead.load(Ordering::Relaxed),
        progress.steps.load(Ordering::Relaxed)
    );
}

fn environment() -> Environment {
    Environment::observe(std::path::Path::new("."))
}

#[test]
fn each_round_measures_everyone_once_in_an_order_of_its_own() {
    let everyone = contestants::all();
    let recording = session(&everyone, &AtomicBool::new(false), "").run(environment());
    let order = |round: u32| -> Vec<&str> {
        let rows = recording.throughput.iter().filter(|row| row.round == round);
        rows.map(|row| row.contestant.as_str()).collect()
    };
    // Everyone once, and again beside itself.
    let mut names = order(1);
    assert_eq!(names.len(), 2 * everyone.len());
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), everyone.len());
    assert_ne!(order(1), order(2));
    let (rounds, planned) = (
        recording.environment.rounds,
        recording.environment.rounds_planned,
    );
    assert_eq!((rounds, planned), (2, 2));
    assert!(recording.environment.partial.is_empty());
    let open = recording
        .latency
        .iter()
        .filter(|row| row.kind == ResponseTime::LABEL);
    // Each at each load; who cannot, once a round.
    assert_eq!(open.count(), 2 * ((everyone.len() - 1) * LOADS.len() + 1));
    assert!(
        recording
            .latency
            .iter()
            .any(|row| row.contestant == EMPTY_PAIR)
    );
    assert!(
        recording
            .histograms
            .values()
            .all(|merged| merged.row.round == 0)
    );
}

#[test]
fn the_seed_fixes_the_order() {
    let everyone = contestants::all();
    let order = || -> Vec<(u32, String)> {
        let recording =
            session(&everyone, &AtomicBool::new(false), "throughput").run(environment());
        recording
            .throughput
            .into_iter()
            .map(|row| (row.position, row.contestant))
            .collect()
    };
    assert_eq!(order(), order());
}

#[test]
fn a_filter_measures_what_it_names_and_says_so() {
    let everyone = contestants::all();
    let interrupted = AtomicBool::new(false);
    let session = session(&everyone, &interrupted, "throughput/allowed/governor/1");
    assert_eq!(
        session.names().collect::<Vec<_>>(),
        ["throughput/allowed/governor/1"]
    );
    let recording = session.run(environment());
    assert_eq!(recording.throughput.len(), 4);
    assert!(recording.latency.is_empty() && recording.memory.is_empty());
    assert!(recording.environment.partial.contains("governor"));
}

#[test]
fn an_interrupted_run_keeps_what_it_has_and_says_so() {
    let everyone = contestants::all();
    let recording = session(&everyone, &AtomicBool::new(true), "").run(environment());
    assert_eq!(recording.environment.partial, "interrupted");
    assert_eq!(recording.environment.rounds, 0);
    let folder = tempfile::tempdir().unwrap();
    folder::write_raw(&recording, folder.path()).unwrap();
    assert!(folder.path().join("contestants.csv").is_file());
}

#[test]
fn every_pass_over_a_traffic_decides_as_the_first_one_did() {
    let traffic = traffic::burst_across_the_boundary();
    for contestant in contestants::all() {
        let name = contestant.info().name;
        // One reads its own clock.
        if name == "trypema" {
            continue;
        }
        let judged = judge(contestant, &traffic).unwrap();
        let share = judged.allowed as f64 / traffic.requests.len() as f64;
        // A busy machine may leave no time for a second pass.
        let made_two = (0..50).any(|_| {
            let measured =
                on_traffic(contestant, &traffic, SHORT, &mut Repeats::at_most(0)).unwrap();
            assert!(
                (measured.allowed - share).abs() < 1e-9,
                "{name}: {} and {share}",
                measured.allowed
            );
            measured.throughput.operations() > traffic.requests.len() as u64
        });
        assert!(made_two, "{name} made one pass each time");
    }
}

/// A throughput whose worker has the processor for half of its time.
fn half_asleep() -> Throughput {
    let run = workers::run(
        1,
        |_| (),
        |_, ()| {
            std::thread::sleep(Duration::from_millis(2));
            (1, ())
        },
    );
    run.throughput()
}

#[test]
fn a_lost_sample_is_made_again_a_bounded_number_of_times() {
    let made = AtomicU64::new(0);
    let asleep = || {
        made.fetch_add(1, Ordering::Relaxed);
        Ok(half_asleep())
    };
    let mut repeats = Repeats::at_most(MOST_LOST + 1);
    let (_, lost) = repeats.run(1, |made| *made, asleep).unwrap();
    assert_eq!(lost, MOST_LOST);
    // Of the round one more may be made again, and then none.
    let (_, lost) = repeats.run(1, |made| *made, asleep).unwrap();
    assert_eq!(lost, 1);
    assert_eq!(made.load(Ordering::Relaxed), u64::from(MOST_LOST + 1 + 2));
    assert_eq!(repeats.run(1, |made| *made, asleep).unwrap().1, 0);
}

#[test]
fn launches_number_their_rounds_and_their_rows_are_merged() {
    let everyone = contestants::all();
    let interrupted = AtomicBool::new(false);
    let plan = session(&everyone, &interrupted, "").plan;
    let mut merged = Recording::new(environment(), everyone.iter().map(|who| who.info()));
    for launch in 1..=3 {
        let filter = "throughput/allowed/governor/1";
        let mut session = session(&everyone, &interrupted, filter);
        session.plan = plan.of_launch(launch);
        let recording = session.run(Environment::default());
        let folder = tempfile::tempdir().unwrap();
        folder::write_raw(&recording, folder.path()).unwrap();
        launches::add(&mut merged, folder.path(), 3).unwrap();
    }
    let mut ids: Vec<(u32, u32)> = merged
        .throughput
        .iter()
        .map(|r| (r.launch, r.round))
        .collect();
    ids.dedup();
    assert_eq!(ids, [(1, 1), (1, 2), (2, 3), (2, 4), (3, 5), (3, 6)]);
    let environment = &merged.environment;
    assert_eq!((environment.launches, environment.rounds), (3, 6));
    assert_eq!(environment.samples, 3 * 2 * 2);
    assert!(
        merged
            .throughput
            .iter()
            .all(|row| row.processor_share.is_some() || cfg!(not(target_os = "linux")))
    );
    assert!(launches::add(&mut merged, std::path::Path::new("nowhere"), 3).is_err());
}

#[test]
fn a_plan_in_parts_measures_everything_once() {
    let everyone = contestants::all();
    let interrupted = AtomicBool::new(false);
    let whole = session(&everyone, &interrupted, "");
    let names = |plan: Plan| -> Vec<String> {
        let mut part = session(&everyone, &interrupted, "");
        part.plan = plan;
        part.names().collect()
    };
    let mut parts = names(whole.plan.of_launch(1));
    assert!(!parts.is_empty());
    parts.extend(names(whole.plan.beside_launches()));
    let mut all: Vec<String> = whole.names().collect();
    all.sort();
    parts.sort();
    assert_eq!(parts, all);
}
