//! `lab suggest`: the least limit that denies at most a share of a log.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{ArgAction, value_parser};
use windowpane_core::{Quota, parse_nanos};
use windowpane_lab::replay::ReplayError;
use windowpane_lab::suggest::{self, Options, Targets};
use windowpane_lab_contestants::registry::BuildOptions;
use windowpane_lab_ground::output::Output;

use super::replay::inputs::{InputArgs, share};
use super::replay::said::{self, tell};
use super::replay::{BAD, TOO_MANY_BAD, ending, shared};

const EXAMPLES: &str = "
Examples:
  The least limit a minute that denies at most 1 of 1,000 clients of an access log:
    cargo lab suggest --window 60s access.log

  A page with the picture, and the clients that come near the limit:
    cargo lab suggest --window 60s --target-clients 0.1% --report suggest.html --keys-at-risk risk.csv logs/

  A limit an hour beside one a second, by the share of requests:
    cargo lab suggest --window 1h --quota 10/1s --target-requests 0.5% access.log

Exit status: 0 if a limit was found for every window, 1 if none was for one, 2 with one line on the
standard error if nothing could be said, 3 if more lines were skipped than --max-bad allows.";

/// Suggests a limit: the least that denies at most a share of the clients or requests of a log
///
/// The log is read once and decided in the order of time, whatever order it has. For each limiter
/// the least limit is printed with what it denies, and what other limits would deny.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The windows, each of which gets a limit of its own, such as 60s
    #[arg(long = "window", value_name = "WINDOW", required = true, value_delimiter = ',', value_parser = window)]
    windows: Vec<u64>,

    /// Deny at most this share of the clients [default: 0.1%, without --target-requests]
    #[arg(long, value_name = "SHARE", value_parser = share)]
    target_clients: Option<f64>,

    /// Deny at most this share of the requests
    #[arg(long, value_name = "SHARE", value_parser = share)]
    target_requests: Option<f64>,

    /// A quota that holds beside
    #[arg(long = "quota", value_name = "LIMIT/WINDOW", action = ArgAction::Append)]
    given: Vec<Quota>,

    /// The limiters by name, or `all` that can hold the quotas
    #[arg(
        long = "algorithm",
        value_name = "NAME[,NAME...]|all",
        default_value = "all",
        value_delimiter = ','
    )]
    algorithms: Vec<String>,

    #[command(flatten)]
    input: InputArgs,

    /// Sub-windows of a bucket-ring, 1 to 3600
    #[arg(long, value_name = "K", default_value_t = BuildOptions::default().buckets, value_parser = value_parser!(u32).range(1..=3_600))]
    buckets: u32,

    /// Write the clients whose busiest window holds at least 80 % of the limit
    #[arg(long, value_name = "OUT.csv|-")]
    keys_at_risk: Option<PathBuf>,

    /// Write the suggestion as JSON; `-` for the standard output, and no table then
    #[arg(long, value_name = "OUT.json|-")]
    json: Option<PathBuf>,

    /// Write a page of HTML with the picture; `-` for the standard output, and no table then
    #[arg(long, value_name = "OUT.html|-")]
    report: Option<PathBuf>,
}

fn window(text: &str) -> Result<u64, String> {
    parse_nanos(text).map_err(|error| error.to_string())
}

pub(crate) fn run(args: Args) -> ExitCode {
    ending::leave_nothing_unfinished();
    match run_all(&args) {
        Ok(status) => ExitCode::from(status),
        Err(error) if error.is_closed_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            tell(&format!("error: {error}"));
            ExitCode::from(BAD)
        }
    }
}

/// Returns the exit status.
fn run_all(args: &Args) -> Result<u8, ReplayError> {
    let outputs = [
        ("--keys-at-risk", &args.keys_at_risk),
        ("--json", &args.json),
        ("--report", &args.report),
    ];
    let outputs: Vec<(&'static str, &Path)> = outputs
        .into_iter()
        .filter_map(|(option, path)| Some((option, path.as_deref()?)))
        .collect();
    shared::check_outputs(&args.input, outputs.iter().copied())?;
    let options = args.options()?;
    let create = |path: &Option<PathBuf>| path.as_deref().map(Output::create).transpose();
    let (risk, mut json) = (create(&args.keys_at_risk)?, create(&args.json)?);
    let mut page = create(&args.report)?;

    let (inputs, _) = args.input.open()?;
    let mut traffic = suggest::read(inputs, args.input.skip_bad, &args.input.options()?)?;
    let suggestion = suggest::suggest(&mut traffic, &options)?;

    said::tell_notes();
    if traffic.input.steps_back.is_some() {
        tell("note: time steps back; the requests are decided in the order of time");
    }
    said::length(&traffic.input);
    said::networks(&traffic.input);
    let too_many_bad = said::bad_lines(&traffic.input, args.input.max_bad);
    let risk = risk
        .map(|output| suggest::write_keys_at_risk(&traffic, &suggestion, &options.given, output))
        .transpose()?;
    if let Some(json) = &mut json {
        serde_json::to_writer_pretty(&mut *json, &suggestion)
            .map_err(io::Error::from)
            .and_then(|()| writeln!(json))
            .map_err(|error| ReplayError::output(json.name(), error))?;
    }
    if let Some(page) = &mut page {
        suggest::page(&suggestion, &shared::command())
            .map_err(io::Error::other)
            .and_then(|text| page.write_all(text.as_bytes()))
            .map_err(|error| ReplayError::output(page.name(), error))?;
    }
    Output::finish([risk, json, page].into_iter().flatten())?;
    if !outputs.iter().any(|(_, path)| path.as_os_str() == "-") {
        let printed = write!(io::stdout(), "{}", suggest::render(&suggestion));
        printed.map_err(|error| ReplayError::output("the standard output", error))?;
    }
    let has_limit =
        |window: &suggest::WindowSummary| window.algorithms.iter().any(|of| of.limit.is_some());
    Ok(match suggestion.windows.iter().all(has_limit) {
        _ if too_many_bad => TOO_MANY_BAD,
        true => 0,
        false => 1,
    })
}

impl Args {
    fn options(&self) -> Result<Options, ReplayError> {
        let (algorithms, _) = shared::algorithms(&self.algorithms)?;
        let clients = match self.target_requests {
            None => self.target_clients.or(Some(0.001)),
            Some(_) => self.target_clients,
        };
        Ok(Options {
            windows: self.windows.clone(),
            given: self.given.clone(),
            algorithms,
            buckets: self.buckets,
            targets: Targets {
                clients,
                requests: self.target_requests,
            },
        })
    }
}
