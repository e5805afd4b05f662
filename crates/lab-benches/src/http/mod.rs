//! HTTP with the layer and without: requests a second, service times, and memory under a flood of
//! new keys, by a well-known generator over the loopback interface.
//!
//! It needs `wrk` in the path and says so where there is none. What it measures it prints and,
//! unless filtered, records in `results/latest-http/`.

mod call;
mod flood;
mod generator;
mod page;
mod record;
mod service;

use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use cpu_time::ProcessTime;
use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use tokio::runtime::Runtime;
use windowpane_lab_measure::arguments::Arguments;
use windowpane_lab_measure::environment::{Environment, cores};
use windowpane_lab_measure::folder;
use windowpane_lab_measure::plan::Mode;

use self::call::Calls;
use self::flood::Flood;
use self::generator::{ABSENT, Generator, Keys};
use self::record::{Measured, Results, Turn};
use self::service::{Cell, Server};

/// How long, how often, and what.
pub(crate) struct Extent {
    pub(crate) connections: usize,
    /// Whole seconds of one measurement: the generator knows no shorter times.
    pub(crate) seconds: u64,
    /// Pairs of the service without the layer against itself, before the first round.
    pub(crate) pairs_first: u32,
    pub(crate) rounds: u32,
    pub(crate) cells: Vec<Cell>,
    pub(crate) floods: [Flood; 2],
    /// Of one call in this process.
    pub(crate) calls: Calls,
}

fn extent(mode: Mode) -> Extent {
    use Cell::{ByKeyTwoQuotas, Shadow};
    let (connections, seconds, pairs_first, rounds) = match mode {
        Mode::Test => (16, 1, 0, 1),
        Mode::Quick => (256, 1, 0, 1),
        Mode::Default => (256, 1, 1, 3),
        // Each cell for 30 s in all.
        Mode::Full => (256, 3, 3, 10),
    };
    let floods = match mode {
        Mode::Test => Flood::both(false, 1_000, 1),
        Mode::Quick => Flood::both(false, 10_000, 1),
        Mode::Default => Flood::both(false, 10_000, 2),
        Mode::Full => Flood::both(true, 100_000, 30),
    };
    let (call_rounds, calls) = match mode {
        Mode::Test => (1, 100),
        Mode::Quick => (3, 20_000),
        Mode::Default => (9, 100_000),
        Mode::Full => (30, 200_000),
    };
    let mut cells = Cell::ALL.to_vec();
    if matches!(mode, Mode::Quick | Mode::Default) {
        cells.retain(|cell| ![ByKeyTwoQuotas, Shadow].contains(cell));
    }
    Extent {
        connections,
        seconds,
        pairs_first,
        rounds,
        cells,
        floods,
        calls: Calls {
            rounds: call_rounds,
            calls,
        },
    }
}

/// The server's threads and the generator's: they share the cores. The generator needs less.
fn threads() -> (usize, usize) {
    let server = cores().div_ceil(2);
    (server, (cores() - server).max(1))
}

/// The cells that a filter asks for; with them the service without the layer, which the others are
/// compared with.
fn chosen(extent: &Extent, filter: &str) -> (Vec<Cell>, Vec<Flood>) {
    let mut cells = extent.cells.clone();
    cells.retain(|cell| cell.path().contains(filter));
    if !cells.is_empty() && !cells.contains(&Cell::Without) {
        cells.insert(0, Cell::Without);
    }
    let floods = extent.floods.iter().copied();
    let floods = floods.filter(|flood| flood.path().contains(filter));
    (cells, floods.collect())
}

fn one(server: &Server, generator: &Generator, seconds: u64) -> Result<Measured> {
    // The generator is another process: what this one takes is the server's.
    let before = ProcessTime::now();
    let child = generator.start(server.address, Keys::Pool, seconds)?;
    let told = Generator::finish(child)?;
    Ok(Measured {
        processor: before.elapsed(),
        told,
    })
}

/// Rounds, each with every cell in an order of its own; pairs of the service without the layer first.
fn rounds(
    cells: &[Cell],
    extent: &Extent,
    generator: &Generator,
    runtime: &Runtime,
    seed: u64,
) -> Result<Results> {
    let mut servers = Vec::new();
    for cell in cells {
        let server = Server::of(*cell, runtime)?;
        cell.probe(server.address)?;
        servers.push((*cell, server));
    }
    let mut results = Results::default();
    let mut random = StdRng::seed_from_u64(seed);
    for number in 1..=extent.pairs_first {
        let is_bare =
            |(cell, _): &&(Cell, Server)| matches!(cell, Cell::Without | Cell::WithoutAgain);
        let mut pair: Vec<_> = servers.iter().filter(is_bare).collect();
        pair.shuffle(&mut random);
        for (cell, server) in pair {
            results.add(
                *cell,
                Turn::Pair(number),
                one(server, generator, extent.seconds)?,
            );
        }
    }
    for number in 1..=extent.rounds {
        servers.shuffle(&mut random);
        for (cell, server) in &servers {
            results.add(
                *cell,
                Turn::Round(number),
                one(server, generator, extent.seconds)?,
            );
        }
    }
    for (cell, server) in &servers {
        // Still as it is called, whatever has happened to it.
        cell.probe(server.address)?;
    }
    Ok(results)
}

/// Everything at once and as short as can be: whether the answers are right, not how fast they come.
fn test(
    cells: &[Cell],
    floods: &[Flood],
    extent: &Extent,
    generator: &Generator,
    runtime: &Runtime,
) -> Result<()> {
    std::thread::scope(|scope| {
        let cell = |cell: Cell| {
            move || -> Result<()> {
                let server = Server::of(cell, runtime)?;
                cell.probe(server.address)?;
                let told = one(&server, generator, extent.seconds)?.told;
                let (all, status) = (told.statuses.values().sum::<u64>(), cell.status());
                let right = told.statuses.get(&status).copied().unwrap_or(0);
                ensure!(
                    right > 0 && right == all && told.broken == 0,
                    "{}: expected {status} for all, got {:?}; {} answers did not come",
                    cell.path(),
                    told.statuses,
                    told.broken
                );
                cell.probe(server.address)
            }
        };
        let flood = |flood: Flood| {
            move || -> Result<()> { flood::run(flood, generator, runtime)?.check(generator) }
        };
        let mut running: Vec<_> = cells.iter().map(|c| scope.spawn(cell(*c))).collect();
        running.extend(floods.iter().map(|f| scope.spawn(flood(*f))));
        let mut ended = Ok(());
        for one in running {
            if let Err(error) = one.join().expect("no measurement panics") {
                eprintln!("error: {error:#}");
                ended = Err(error);
            }
        }
        ended
    })
}

fn run(arguments: &Arguments) -> Result<ExitCode> {
    let mode = arguments.mode();
    let extent = extent(mode);
    if arguments.list {
        let cells = extent.cells.iter().map(|cell| cell.path());
        for path in cells.chain(extent.floods.iter().map(Flood::path)) {
            println!("{path}: benchmark");
        }
        println!("{}: benchmark", call::PATH);
        return Ok(ExitCode::SUCCESS);
    }
    let (cells, floods) = chosen(&extent, &arguments.filter);
    // It needs no generator, and nothing else runs beside it.
    let one_call = match call::PATH.contains(&arguments.filter) {
        true => call::run(extent.calls, arguments.seed)?,
        false => String::new(),
    };
    if !one_call.is_empty() {
        println!("{one_call}");
    }
    if cells.is_empty() && floods.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    let began = Instant::now();
    let (server_threads, generator_threads) = threads();
    let check = mode == Mode::Test;
    let Some(generator) = Generator::find(extent.connections, generator_threads, check)? else {
        println!("{ABSENT}");
        if check {
            // Whoever runs the benches as tests counts such lines.
            eprintln!("http: skipped: wrk not found");
        }
        return Ok(ExitCode::SUCCESS);
    };
    // Before anything runs: how busy the machine is by itself.
    let mut environment = Environment::observe(&folder::workspace());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(server_threads)
        .enable_all()
        .build()
        .context("no runtime")?;
    if check {
        test(&cells, &floods, &extent, &generator, &runtime)?;
        println!(
            "http: {} cells and {} floods answered as they should",
            cells.len(),
            floods.len()
        );
        return Ok(ExitCode::SUCCESS);
    }
    let mut results = rounds(&cells, &extent, &generator, &runtime, arguments.seed)?;
    for flood in floods {
        results
            .floods
            .push(flood::run(flood, &generator, &runtime)?);
    }
    let mut text = page::text(&results, &extent, &generator, server_threads);
    println!("{text}");
    text += &one_call;
    results.check(&generator)?;
    if arguments.filter.is_empty() {
        let (seed, rounds) = (arguments.seed, extent.rounds);
        environment.close_target("http", mode, seed, rounds, began.elapsed());
        let place = results.write(&environment, &text)?;
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
