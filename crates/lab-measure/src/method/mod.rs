//! Whether the method of comparison finds differences that are known, and none where there is none:
//! `cargo xtask method`.
//!
//! | module | content |
//! |---|---|
//! | `slowed` | contestants that are slower by a known factor |
//! | `known` | those, measured by a session as a run measures |
//! | `simulation` | runs drawn from the noise of recorded samples |
//! | `counted` | how often each outcome came, and what is required |

mod counted;
mod known;
mod simulation;
mod slowed;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;

use super::definitions;
use super::folder;
use super::plan::{Mode, Plan};
use counted::Counted;

/// Checks the method of comparison: known differences through the real measuring loop, and
/// simulation from recorded samples.
#[derive(Clone, Debug, Parser)]
#[command(bin_name = "cargo xtask method")]
struct Arguments {
    /// Draw from the recorded samples alone, and measure nothing.
    #[arg(long)]
    simulation_only: bool,
    /// Check that everything runs, and not what comes out: few draws, short samples.
    #[arg(long)]
    smoke: bool,
    /// Runs of each cell and difference that are drawn.
    #[arg(long, default_value_t = 500)]
    draws: u32,
    /// Files of recorded throughput; `results/*/throughput.csv` and that of the known differences
    /// unless given.
    #[arg(value_name = "THROUGHPUT.csv")]
    recorded: Vec<PathBuf>,
    /// Set by the first process for those that it starts.
    #[arg(long, hide = true, requires = "rows")]
    launch: Option<u32>,
    #[arg(long, hide = true, requires = "launch")]
    rows: Option<PathBuf>,
}

/// Runs the command and says whether the method keeps what it promises.
pub fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Differences as factors of a decision's time, as they are asked for.
const FACTORS: [f64; 5] = [1.0, 1.03, 1.05, 1.1, 1.5];

fn run(arguments: &Arguments) -> Result<bool> {
    definitions::all()?;
    let mode = match arguments.smoke {
        true => Mode::Test,
        false => Mode::Default,
    };
    let plan = Plan::new(mode, 1);
    if let (Some(launch), Some(rows)) = (arguments.launch, &arguments.rows) {
        known::launch(&plan.of_launch(launch), rows)?;
        return Ok(true);
    }
    let mut kept = true;
    let mut say = |title: &str, counted: &Counted| {
        println!("{title}\n{counted}");
        for miss in counted.misses() {
            kept = false;
            println!("NOT KEPT: {miss}");
        }
        println!();
    };
    let recorded = match arguments.recorded.is_empty() {
        true => published()?,
        false => arguments.recorded.clone(),
    };
    let draws = match arguments.smoke {
        true => 4,
        false => arguments.draws,
    };
    let size = Plan::new(Mode::Default, 1);
    if !arguments.simulation_only {
        let rows = known::measure(&plan)?;
        say("Known differences, measured:", &known::outcomes(&rows));
        let noise = simulation::Recorded::of(&rows);
        say(
            "Drawn from the samples of the known differences:",
            &simulation::outcomes(&noise, &size, draws),
        );
    }
    for file in recorded {
        let noise = simulation::Recorded::read(&file)?;
        say(
            &format!("Drawn from {}:", file.display()),
            &simulation::outcomes(&noise, &size, draws),
        );
    }
    if arguments.smoke {
        println!("a smoke test: what is not kept does not count");
    }
    Ok(kept || arguments.smoke)
}

/// The recorded throughput of all published runs.
fn published() -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder::results())? {
        let file = entry?.path().join("throughput.csv");
        if file.is_file() {
            files.push(file);
        }
    }
    files.sort();
    Ok(files)
}

/// The comparisons that share their chance of error: every pair of `contestants` in each of `cells`.
const fn family(contestants: usize, cells: usize) -> usize {
    contestants * contestants.saturating_sub(1) / 2 * cells
}
