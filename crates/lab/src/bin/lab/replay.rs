//! `lab replay`: recorded requests through the limiters.

pub(crate) mod ending;
pub(crate) mod inputs;
mod memory;
mod progress;
pub(crate) mod said;
pub(crate) mod shared;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{ArgAction, ValueEnum, value_parser};
use windowpane_core::Quotas;
use windowpane_lab::replay::{
    Decisions, Disagreements, Observer, Options, ReplayError, Report, RetryModel, Skipped, Summary,
    render, replay_inputs, write_clients,
};
use windowpane_lab_contestants::Info;
use windowpane_lab_contestants::registry::{Algorithm, BuildOptions, ORACLE, algorithms};
use windowpane_lab_ground::output::Output;
use windowpane_lab_input::{InputError, Order};
use windowpane_mutex_log::OnRegression;

use self::inputs::InputArgs;
use self::memory::Forecast;
use self::progress::Bar;
use self::said::tell;

/// What a bad command line or a bad input ends with, as clap's own errors do.
pub(crate) const BAD: u8 = 2;
/// The status if more lines are skipped than `--max-bad` allows.
pub(crate) const TOO_MANY_BAD: u8 = 3;

fn after_help() -> String {
    let mut help = String::from("Limiters:\n");
    for algorithm in algorithms() {
        let Info { name, about, .. } = algorithm.info;
        help += &format!("  {name:<15} {about}\n");
    }
    help + EXAMPLES
}

const EXAMPLES: &str = "
Examples:
  An access log through all limiters at 60 requests a minute for each client address:
    cargo lab replay --quota 60/60s --algorithm all access.log

  Two quotas at once, every decision as CSV on the standard output:
    cargo lab replay --quota 100/60s --quota 10/1s --algorithm mutex-log,cas-ring --decisions - requests.csv

  Tokens of a language model as costs, and where an estimate differs from the exact answer:
    cargo lab replay --quota 500000/60s --algorithm packed-counter --time-column TIMESTAMP \\
        --cost-column ContextTokens+GeneratedTokens --disagreements differ.csv trace.csv

  A page for a design review: who would be denied and when:
    cargo lab replay --quota 60/60s --algorithm all --report replay.html access.log

  From a pipe, the summary as JSON:
    zcat access.log.gz | cargo lab replay --quota 60/60s --algorithm cas-ring --json - -

  Rotated logs of two servers, merged and sorted by time:
    cargo lab replay --quota 60/60s --algorithm all --sort logs/server-1 logs/server-2

Exit status: 0 if all was replayed, 2 with one line on the standard error if not, 3 if it was but
more lines were skipped than --max-bad allows.";

/// Runs recorded requests through the limiters and compares them with the oracle
///
/// The input is CSV with a header or an access log, read as a stream: memory is what the keys take.
/// Without `--decisions -` or `--json -` a table is printed: what each limiter decided, where it
/// was wrong by the oracle (the exact log), what it cost, and who was denied most.
#[derive(clap::Args)]
#[command(after_help = after_help())]
pub(crate) struct Args {
    /// At most LIMIT permits in any WINDOW (ns us ms s m h d), such as 100/60s; 60req/60s counts
    /// requests whatever they cost. Given more than once, all must hold
    #[arg(long = "quota", value_name = "LIMIT/WINDOW", required = true, action = ArgAction::Append, allow_hyphen_values = true)]
    quotas: Vec<String>,

    /// The limiters by name, or `all` that can hold the quotas
    #[arg(long = "algorithm", value_name = "NAME[,NAME...]|all", required = true, value_delimiter = ',', action = ArgAction::Append)]
    algorithms: Vec<String>,

    #[command(flatten)]
    input: InputArgs,

    /// A time before the latest one of its key counts as that one, or is an error (mutex-log only)
    #[arg(long, value_name = "WHAT", default_value = "clamp")]
    on_regression: Regression,

    /// Sub-windows of a bucket-ring, 1 to 3600
    #[arg(long, value_name = "K", default_value_t = BuildOptions::default().buckets, value_parser = value_parser!(u32).range(1..=3_600))]
    buckets: u32,

    /// Write every decision as CSV; `-` for the standard output, and no table then
    #[arg(long, value_name = "OUT.csv|-")]
    decisions: Option<PathBuf>,

    /// Write the lines on which a limiter and the oracle differ, with both answers
    #[arg(long, value_name = "OUT.csv")]
    disagreements: Option<PathBuf>,

    /// Write the summary as JSON; `-` for the standard output, and no table then
    #[arg(long, value_name = "OUT.json|-")]
    json: Option<PathBuf>,

    /// Write a page of HTML: who would be denied and when, and where the limiters differ; `-` for the
    /// standard output, and no table then
    #[arg(long, value_name = "OUT.html|-")]
    report: Option<PathBuf>,

    /// A model of what clients do that were denied: nothing, send the request again when
    /// retry_after has passed, or each second; at most 10 times
    #[arg(long, value_name = "MODEL", default_value = "none")]
    retries: Retries,

    /// Write every client that was denied, with its first, last and longest block
    #[arg(long, value_name = "OUT.csv|-")]
    clients: Option<PathBuf>,

    /// Do not run the oracle beside the limiters: faster, and less memory
    #[arg(long, conflicts_with = "disagreements")]
    no_compare: bool,
}

/// What clients do that were denied.
#[derive(Clone, Copy, ValueEnum)]
enum Retries {
    /// Nothing but what the input holds.
    None,
    /// They send the request again when `retry_after` has passed.
    Honour,
    /// They send the request again each second.
    Hammer,
}

/// What a time before the latest one means.
#[derive(Clone, Copy, ValueEnum)]
enum Regression {
    /// It counts as the latest.
    Clamp,
    /// It is an error.
    Reject,
}

pub(crate) fn run(args: Args) -> ExitCode {
    ending::leave_nothing_unfinished();
    match run_all(&args) {
        Ok(false) => ExitCode::SUCCESS,
        Ok(true) => ExitCode::from(TOO_MANY_BAD),
        Err(error) if error.is_closed_pipe() => ExitCode::SUCCESS,
        Err(error @ ReplayError::Input(InputError::BadLine { .. })) => {
            // As compilers say it, for editors to find the place.
            tell(&error.to_string());
            ExitCode::from(BAD)
        }
        Err(error) => {
            tell(&format!("error: {error}"));
            ExitCode::from(BAD)
        }
    }
}

/// Returns whether too many lines were bad.
fn run_all(args: &Args) -> Result<bool, ReplayError> {
    let options = args.options()?;
    shared::check_outputs(&args.input, args.outputs())?;
    let (inputs, length) = args.input.open()?;
    let names: Vec<String> = inputs.iter().map(|input| input.name.clone()).collect();
    let mut decisions = args
        .decisions
        .as_deref()
        .map(|path| Decisions::new(Output::create(path)?, &names))
        .transpose()?;
    let mut disagreements = args
        .disagreements
        .as_deref()
        .map(|path| Disagreements::new(Output::create(path)?, &names))
        .transpose()?;
    let mut json = args.json.as_deref().map(Output::create).transpose()?;
    let mut page = args.report.as_deref().map(Output::create).transpose()?;
    let clients = args.clients.as_deref().map(Output::create).transpose()?;
    let mut report = args.report.as_ref().map(|_| Report::new());

    let mut observers: Vec<&mut dyn Observer> = Vec::new();
    observers.extend(decisions.as_mut().map(|rows| rows as &mut dyn Observer));
    observers.extend(disagreements.as_mut().map(|rows| rows as &mut dyn Observer));
    observers.extend(report.as_mut().map(|report| report as &mut dyn Observer));
    let mut bar = Bar::new(length, args.writes_to_stdout());
    let mut forecast = Forecast::new(length, crate::live_bytes);
    let summary = replay_inputs(inputs, &options, &mut observers, &mut |progress| {
        bar.show(progress);
        if let Some(warning) = forecast.see(progress) {
            tell(&warning);
        }
    })?;
    drop(bar);

    for skipped in &summary.skipped {
        tell(&format!("left out {}: {}", skipped.name, skipped.reason));
    }
    said::tell_notes();
    said::steps_back(&summary.input, matches!(options.order, Order::Reordered(_)));
    said::length(&summary.input);
    said::networks(&summary.input);
    let too_many_bad = said::bad_lines(&summary.input, args.input.max_bad);
    if let Some(json) = &mut json {
        write_json(json, &summary).map_err(|error| ReplayError::output(json.name(), error))?;
    }
    if let (Some(page), Some(report)) = (&mut page, &mut report) {
        let told = report.page(&summary, &shared::command());
        told.map_err(io::Error::other)
            .and_then(|told| page.write_all(told.as_bytes()))
            .map_err(|error| ReplayError::output(page.name(), error))?;
    }
    let clients = clients
        .map(|output| write_clients(&summary.denied_clients, output))
        .transpose()?;
    let outputs = [
        clients,
        decisions.map(Decisions::into_output).transpose()?,
        disagreements.map(Disagreements::into_output).transpose()?,
        json,
        page,
    ];
    Output::finish(outputs.into_iter().flatten())?;
    if !args.writes_to_stdout() {
        let printed = write!(io::stdout(), "{}", render(&summary));
        printed.map_err(|error| ReplayError::output("the standard output", error))?;
    }
    Ok(too_many_bad)
}

fn write_json(output: &mut Output, summary: &Summary) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *output, summary)?;
    writeln!(output)
}

impl Args {
    fn options(&self) -> Result<Options, ReplayError> {
        let quotas = Quotas::parse(self.quotas.as_slice())
            .map_err(|error| ReplayError::Usage(error.to_string()))?;
        let on_regression = match self.on_regression {
            Regression::Clamp => OnRegression::Clamp,
            Regression::Reject => OnRegression::Reject,
        };
        let build = BuildOptions {
            buckets: self.buckets,
            on_regression,
            ..BuildOptions::default()
        };
        let (algorithms, skipped) = self.algorithms(&quotas, build)?;
        if let Some(other) = algorithms
            .iter()
            .find(|algorithm| algorithm.info.name != ORACLE)
            && on_regression == OnRegression::Reject
        {
            return Err(ReplayError::Usage(format!(
                "--on-regression reject: only {ORACLE} rejects times that step back, {} does not; \
                 expected --algorithm {ORACLE}",
                other.info.name
            )));
        }
        Ok(Options {
            quotas,
            algorithms,
            skipped,
            on_regression,
            buckets: self.buckets,
            input: self.input.options()?,
            order: self.input.order(),
            skip_bad: self.input.skip_bad,
            compare: !self.no_compare,
            detailed: self.decisions.is_some() || self.disagreements.is_some(),
            retries: match self.retries {
                Retries::None => RetryModel::None,
                Retries::Honour => RetryModel::Honour,
                Retries::Hammer => RetryModel::Hammer,
            },
            clients: self.clients.is_some(),
            meter: Some(crate::live_bytes),
        })
    }

    /// The algorithms asked for, each once, and what `all` leaves out.
    fn algorithms(
        &self,
        quotas: &Quotas,
        build: BuildOptions,
    ) -> Result<(Vec<&'static Algorithm>, Vec<Skipped>), ReplayError> {
        let (asked, all) = shared::algorithms(&self.algorithms)?;
        let (mut algorithms, mut skipped) = (Vec::<&Algorithm>::new(), Vec::new());
        for algorithm in asked {
            match (algorithm.build)(quotas, build) {
                Ok(_) => algorithms.push(algorithm),
                Err(error) if all => skipped.push(Skipped {
                    name: algorithm.info.name,
                    reason: error.to_string(),
                }),
                Err(source) => {
                    return Err(ReplayError::Build {
                        algorithm: algorithm.info.name,
                        source,
                    });
                }
            }
        }
        Ok((algorithms, skipped))
    }

    fn outputs(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        let outputs = [
            ("--decisions", &self.decisions),
            ("--disagreements", &self.disagreements),
            ("--json", &self.json),
            ("--report", &self.report),
            ("--clients", &self.clients),
        ];
        outputs
            .into_iter()
            .filter_map(|(option, path)| Some((option, path.as_deref()?)))
    }

    fn writes_to_stdout(&self) -> bool {
        self.outputs().any(|(_, path)| path.as_os_str() == "-")
    }
}
