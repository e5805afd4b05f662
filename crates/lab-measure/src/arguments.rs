//! The flags that `cargo bench -- …` passes to every bench target.
//!
//! Criterion's own flags reach the targets that are not criterion's, too; they are accepted there
//! and mean nothing.

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use clap::Parser;

use super::definitions;
use super::plan::Mode;

/// Flags of the bench targets that measure by themselves.
#[derive(Clone, Debug, Parser)]
#[command(
    about = "The benches of windowpane",
    override_usage = "cargo bench [--bench TARGET] -- [--quick | --full | --test] [FILTER]"
)]
pub struct Arguments {
    /// Measure only what contains this, such as `allowed/cas-ring` or `throughput/denied`; nothing
    /// is recorded then.
    #[arg(default_value = "")]
    pub filter: String,
    /// At most 2 minutes for all targets.
    #[arg(long)]
    quick: bool,
    /// Every cell, for publishing.
    #[arg(long, conflicts_with = "quick")]
    full: bool,
    /// Run everything once and check what comes out.
    #[arg(long, conflicts_with_all = ["quick", "full"])]
    test: bool,
    /// The seed of the order of rounds and of the synthetic traffic.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Name what would be measured.
    #[arg(long)]
    pub list: bool,
    /// Set by the first process for those that it starts: which launch this is.
    #[arg(long, hide = true, requires = "rows")]
    pub launch: Option<u32>,
    /// Where a launch writes its rows.
    #[arg(long, hide = true, requires = "launch")]
    pub rows: Option<PathBuf>,
    #[command(flatten)]
    ignored: Ignored,
}

/// What cargo and criterion pass along.
#[derive(Clone, Debug, clap::Args)]
struct Ignored {
    #[arg(long, hide = true)]
    bench: bool,
    #[arg(long, hide = true, num_args = 1)]
    color: Option<String>,
    #[arg(short, long, hide = true)]
    verbose: bool,
    #[arg(long, hide = true)]
    quiet: bool,
    #[arg(short, long, hide = true)]
    noplot: bool,
    #[arg(short, long, hide = true, num_args = 1)]
    save_baseline: Option<String>,
    #[arg(long, hide = true)]
    discard_baseline: bool,
    #[arg(short, long, hide = true, num_args = 1)]
    baseline: Option<String>,
    #[arg(long, hide = true, num_args = 1)]
    baseline_lenient: Option<String>,
    #[arg(long, hide = true, num_args = 1)]
    load_baseline: Option<String>,
    #[arg(long, hide = true, num_args = 1)]
    format: Option<String>,
    #[arg(long, hide = true)]
    ignored: bool,
    #[arg(long, hide = true)]
    exact: bool,
    #[arg(long, hide = true, num_args = 1)]
    profile_time: Option<String>,
    #[arg(long, hide = true, num_args = 1)]
    sample_size: Option<String>,
    #[arg(long, hide = true, num_args = 1)]
    warm_up_time: Option<String>,
    #[arg(long, hide = true, num_args = 1)]
    measurement_time: Option<String>,
    #[arg(long, hide = true, num_args = 1)]
    nresamples: Option<String>,
    #[arg(long, hide = true, num_args = 1)]
    noise_threshold: Option<String>,
    #[arg(long, hide = true, num_args = 1)]
    confidence_level: Option<String>,
    #[arg(long, hide = true, num_args = 1)]
    significance_level: Option<String>,
    #[arg(long, hide = true, num_args = 1)]
    plotting_backend: Option<String>,
    #[arg(long, hide = true, num_args = 1)]
    output_format: Option<String>,
    #[arg(long, hide = true)]
    nocapture: bool,
    #[arg(long, hide = true)]
    show_output: bool,
    #[arg(long, hide = true)]
    include_ignored: bool,
}

impl Arguments {
    /// The flags of this process; it ends with a message if they make no sense.
    pub fn read() -> Arguments {
        Arguments::parse()
    }

    /// How much is to be measured. Without `--bench`, which `cargo bench` passes, a target was
    /// started by `cargo test --benches` and tests.
    pub fn mode(&self) -> Mode {
        if self.test || !self.ignored.bench {
            Mode::Test
        } else if self.quick {
            Mode::Quick
        } else if self.full {
            Mode::Full
        } else {
            Mode::Default
        }
    }
}

/// Tells a criterion target its mode. Criterion reads the process's arguments itself: it knows no
/// `--full` and no `--seed`, and its own `--quick` makes so few iterations that the workers' wake-up
/// is most of what is measured. With those the target starts itself again without them, and this
/// answers how that ended. Call it first.
///
/// # Errors
/// The exit code of the second start, with which to end; or 2 if a definition is malformed.
pub fn criterion_mode() -> Result<Mode, ExitCode> {
    if let Err(error) = definitions::all() {
        eprintln!("error: {error}");
        return Err(ExitCode::from(2));
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let (left, mode) = for_criterion(&arguments);
    if left.len() < arguments.len() {
        return Err(start_again(&left, mode));
    }
    Ok(if has("--test") || !has("--bench") {
        Mode::Test
    } else {
        match std::env::var(MODE).as_deref() {
            Ok(QUICK) => Mode::Quick,
            Ok(FULL) => Mode::Full,
            _ => Mode::Default,
        }
    })
}

/// The variable by which a criterion target tells its second start the mode.
const MODE: &str = "WINDOWPANE_BENCH_MODE";
const QUICK: &str = "quick";
const FULL: &str = "full";

/// The arguments that criterion may see, and the mode that the others ask for.
fn for_criterion(arguments: &[String]) -> (Vec<&String>, Option<&'static str>) {
    let mut left = Vec::new();
    let mut mode = None;
    let mut given = arguments.iter();
    while let Some(argument) = given.next() {
        match argument.as_str() {
            "--quick" => mode = Some(QUICK),
            "--full" => mode = Some(FULL),
            "--seed" => drop(given.next()),
            seed if seed.starts_with("--seed=") => {}
            _ => left.push(argument),
        }
    }
    (left, mode)
}

fn start_again(arguments: &[&String], mode: Option<&str>) -> ExitCode {
    let again = std::env::current_exe().and_then(|program| {
        let mut command = Command::new(program);
        if let Some(mode) = mode {
            command.env(MODE, mode);
        }
        command.args(arguments).status()
    });
    match again {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: cannot start this bench again for criterion: {error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(arguments: &[&str]) -> Result<Arguments, clap::Error> {
        Arguments::try_parse_from([&["bench"], arguments].concat())
    }

    #[test]
    fn the_mode_follows_from_the_flags() {
        let mode = |arguments: &[&str]| read(arguments).unwrap().mode();
        assert_eq!(mode(&["--bench"]), Mode::Default);
        assert_eq!(mode(&["--bench", "--quick"]), Mode::Quick);
        assert_eq!(mode(&["--full", "--bench"]), Mode::Full);
        assert_eq!(mode(&["--bench", "--test"]), Mode::Test);
        assert_eq!(mode(&[]), Mode::Test);
    }

    #[test]
    fn criterions_flags_are_accepted_and_unknown_ones_are_not() {
        let arguments = read(&[
            "--bench",
            "--save-baseline",
            "main",
            "-n",
            "allowed/governor",
        ]);
        assert_eq!(arguments.unwrap().filter, "allowed/governor");
        assert!(read(&["--bench", "--quickly"]).is_err());
    }

    #[test]
    fn criterion_sees_its_own_flags_only() {
        let arguments =
            ["--bench", "--seed", "7", "--full", "--noplot", "denied"].map(String::from);
        let (left, mode) = for_criterion(&arguments);
        assert_eq!(left, ["--bench", "--noplot", "denied"]);
        assert_eq!(mode, Some(FULL));
        let arguments = ["--bench".to_string(), "--quick".to_string()];
        assert_eq!(for_criterion(&arguments).1, Some(QUICK));
    }
}
