//! The limiters on a store: decisions a second, service times, and memory, on a server of its own.
//!
//! It needs a `redis-server` in the path and says so where there is none. What it measures it prints
//! and, unless filtered, records in `results/latest-redis/`.

mod contestants;
mod costs;
mod denials;
mod load;
mod memory;
mod outcomes;
mod page;
mod processor;
mod record;
#[path = "../../../redis/tests/support/server.rs"]
mod server;

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use windowpane_lab_measure::arguments::Arguments;
use windowpane_lab_measure::environment::Environment;
use windowpane_lab_measure::folder;
use windowpane_lab_measure::plan::Mode;

use self::contestants::{Contestant, NAMES};
use self::load::{Cell, Measured, State};
use self::record::{Key, Results};
use server::Server;

/// How many times as many rounds there are of the cell that the aims are about.
const FOR_THE_AIMS: u32 = 5;

/// How long, how often, and which limits memory is measured at.
struct Extent {
    warm_up: Duration,
    measure: Duration,
    rounds: u32,
    limits: &'static [u64],
}

fn extent(mode: Mode) -> Extent {
    let (warm_up, measure, rounds, limits): (_, _, _, &[u64]) = match mode {
        Mode::Test => (5, 10, 1, &[100, 129]),
        Mode::Quick => (10, 25, 3, &[100, 128, 129, 1_000]),
        Mode::Default => (20, 70, 3, &memory::LIMITS),
        Mode::Full => (50, 150, 9, &memory::LIMITS),
    };
    Extent {
        warm_up: Duration::from_millis(warm_up),
        measure: Duration::from_millis(measure),
        rounds,
        limits,
    }
}

/// What is measured: one hot key and 10,000, at 1, 16 and 64 calls in flight.
fn cells() -> Vec<Cell> {
    let mut cells = Vec::new();
    for (state, keys) in [
        (State::Allowed, 1),
        (State::Allowed, 10_000),
        (State::Denied, 1),
    ] {
        for in_flight in [1, 16, 64] {
            cells.push(Cell {
                state,
                keys,
                in_flight,
            });
        }
    }
    cells
}

/// The limit of every cell.
const LIMIT: u64 = 100;

/// The window of a cell, so that the state is what it is called. On one hot key the log then holds
/// about 40 entries, which leaves room for those that are faster; on many keys a window of a minute lets each have few.
async fn window(url: &str, cell: Cell) -> Result<Duration> {
    match (cell.state, cell.keys) {
        (State::Denied, _) => Ok(Duration::from_secs(3_600)),
        (State::Allowed, 1) => {
            let asked = Contestant::build("log", url, LIMIT, Duration::from_millis(1)).await?;
            let (keys, span) = (Arc::new(load::keys(1)), Duration::from_millis(60));
            let pace = load::run(url, &Arc::new(asked), &keys, cell.in_flight, span, span).await?;
            let micros = (40e6 / pace.per_second) as u64;
            Ok(Duration::from_micros(micros.clamp(250, 1_000_000)))
        }
        (State::Allowed, _) => Ok(Duration::from_secs(60)),
    }
}

/// The cell that the aims are about.
fn is_aimed_at(cell: Cell) -> bool {
    cell.state == State::Allowed && cell.keys == 1 && cell.in_flight == page::AIMED_IN_FLIGHT
}

/// [`one`], and if a busy machine spoilt it, again: where calls came in heaps, with a window that lets
/// more through. What is still wrong the third time is no fault of the machine.
async fn patiently(
    url: &str,
    name: &str,
    cell: Cell,
    mut window: Duration,
    extent: &Extent,
) -> Result<(Duration, Measured)> {
    let (mut left, mut left_empty) = (2, 50);
    loop {
        let measured = one(url, name, cell, window, extent).await;
        if left_empty > 0 && measured.as_ref().is_ok_and(|m| m.times.is_empty()) {
            // In a few milliseconds on a busy machine nothing may have been asked at all.
            left_empty -= 1;
            continue;
        }
        let in_heaps = measured.as_ref().is_ok_and(|measured| {
            cell.state == State::Allowed
                && cell.keys == 1
                && contestants::limits(name)
                && measured.allowed < outcomes::LEAST_ALLOWED
        });
        let spoilt = match &measured {
            Ok(_) => in_heaps,
            Err(_) => name != "trypema",
        };
        if left == 0 || !spoilt {
            let measured = measured?;
            anyhow::ensure!(!measured.times.is_empty(), "nothing was asked in time");
            return Ok((window, measured));
        }
        left -= 1;
        if in_heaps {
            // In whole microseconds, and at most a permit in each: the store's clock tells no less.
            window = Duration::from_micros((window.as_micros() as u64 / 2).max(LIMIT));
        }
    }
}

async fn one(
    url: &str,
    name: &str,
    cell: Cell,
    window: Duration,
    extent: &Extent,
) -> Result<Measured> {
    let mut connection = redis::Client::open(url)?.get_connection()?;
    let _: () = redis::cmd("FLUSHALL").query(&mut connection)?;
    // One that takes whole seconds alone gets one; what it is asked for is no less then.
    let whole = Duration::from_secs(window.as_secs().max(1));
    let (limit, window) = match (name, cell.state) {
        ("trypema", State::Allowed) => (
            (LIMIT as f64 * (1.0 / window.as_secs_f64()).max(1.0)) as u64,
            whole,
        ),
        _ => (LIMIT, window),
    };
    let contestant = Arc::new(Contestant::build(name, url, limit, window).await?);
    let keys = Arc::new(load::keys(cell.keys));
    if cell.state == State::Denied {
        // Used up, and more is asked for: exactly the quota is allowed.
        let mut allowed = 0;
        for _ in 0..LIMIT + LIMIT / 2 {
            allowed += u64::from(contestant.ask(&keys[0]).await?);
        }
        anyhow::ensure!(
            allowed == LIMIT || !contestants::limits(name) || name == "trypema",
            "{allowed} were allowed of a quota of {LIMIT}, expected that many"
        );
    }
    load::run(
        url,
        &contestant,
        &keys,
        cell.in_flight,
        extent.warm_up,
        extent.measure,
    )
    .await
}

fn matches(filter: &str, name: &str, cell: Cell) -> bool {
    Key::new(name, cell).path().contains(filter)
}

async fn measure(server: &Server, arguments: &Arguments, extent: &Extent) -> Result<Results> {
    let url = server.url();
    let mut connection = server.connection();
    let info: String = redis::cmd("INFO").arg("server").query(&mut connection)?;
    let mut results = Results::new(&info, extent.rounds, extent.measure);
    let mut windows = BTreeMap::new();
    let mut all = Vec::new();
    for cell in cells() {
        for name in NAMES {
            if matches(&arguments.filter, name, cell) {
                all.push((name, cell));
            }
        }
    }
    let mut random = rand::rngs::StdRng::seed_from_u64(arguments.seed);
    for round in 1..=extent.rounds * FOR_THE_AIMS {
        if round > extent.rounds {
            // A test needs no more.
            all.retain(|(_, cell)| arguments.mode() != Mode::Test && is_aimed_at(*cell));
        }
        all.shuffle(&mut random);
        for (name, cell) in &all {
            let key = Key::new(name, *cell);
            let pace = (cell.state.word(), cell.keys, cell.in_flight);
            let window = match windows.get(&pace) {
                Some(window) => *window,
                None => *windows.entry(pace).or_insert(window(&url, *cell).await?),
            };
            match patiently(&url, name, *cell, window, extent).await {
                Ok((window, measured)) => results.add(key, round, window, measured),
                Err(error) => results.cannot(key, &error),
            }
        }
    }
    if "redis/deny cache".contains(&arguments.filter) {
        results.denials = Some(denials::measure(&url).await?);
    }
    if "redis/scripts".contains(&arguments.filter) {
        results.costs = costs::measure(&url, extent.rounds * FOR_THE_AIMS, &mut random).await?;
    }
    if "redis/memory".contains(&arguments.filter) {
        results.memory = memory::measure(&url, extent.limits).await?;
    }
    Ok(results)
}

fn run(arguments: &Arguments) -> Result<ExitCode> {
    if arguments.list {
        for cell in cells() {
            for name in NAMES {
                println!("{}: benchmark", Key::new(name, cell).path());
            }
        }
        return Ok(ExitCode::SUCCESS);
    }
    let others = ["redis/memory", "redis/deny cache", "redis/scripts"];
    let other = others.iter().any(|path| path.contains(&arguments.filter));
    let any = |cell: &Cell| {
        NAMES
            .iter()
            .any(|name| matches(&arguments.filter, name, *cell))
    };
    if !other && !cells().iter().any(any) {
        return Ok(ExitCode::SUCCESS);
    }
    let began = Instant::now();
    // Before anything runs: how busy the machine is by itself.
    let mut environment = Environment::observe(&folder::workspace());
    // It says on stderr where there is none.
    let Some(server) = Server::start() else {
        println!(
            "redis: nothing measured, redis-server not found: install it with `apt-get install redis-server`"
        );
        return Ok(ExitCode::SUCCESS);
    };
    let mode = arguments.mode();
    // The client on one core, so that the server has another.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("no runtime")?;
    let extent = extent(mode);
    if mode == Mode::Test {
        contestants::be_patient();
    }
    let results = runtime.block_on(measure(&server, arguments, &extent))?;
    println!("{}", page::text(&results));
    if mode == Mode::Test {
        let wrong = results.wrong();
        for sentence in &wrong {
            eprintln!("wrong: {sentence}");
        }
        return Ok(match wrong.is_empty() {
            true => ExitCode::SUCCESS,
            false => ExitCode::FAILURE,
        });
    }
    if arguments.filter.is_empty() {
        let (seed, rounds) = (arguments.seed, extent.rounds);
        environment.close_target("redis", mode, seed, rounds, began.elapsed());
        let place = results.write(&environment)?;
        println!("recorded in {}", place.display());
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs the bench target.
pub fn main() -> ExitCode {
    run(&Arguments::read()).unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::from(2)
    })
}
