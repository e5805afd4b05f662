//! What the bench targets `versus` and `latency` do: one run, recorded, reported and summed up; or
//! printed alone.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};
use indicatif::{ProgressBar, ProgressStyle};
use windowpane_lab_contestants::{everyone, keyed};
use windowpane_lab_measure::arguments::Arguments;
use windowpane_lab_measure::environment::Environment;
use windowpane_lab_measure::plan::{Mode, Plan};
use windowpane_lab_measure::recording::Recording;
use windowpane_lab_measure::session::{Progress, Session};
use windowpane_lab_measure::traffic::Traffic;
use windowpane_lab_measure::{definitions, expect, folder, launches, trace, traffic};

use crate::{Run, compare, console};

/// Runs the target `versus`. `live_bytes` tells what is allocated now, by the allocator that the
/// program counts with.
pub fn main(live_bytes: fn() -> usize) -> ExitCode {
    let arguments = Arguments::read();
    ended(run(&arguments, live_bytes))
}

/// Runs the target `latency`: the latency cells alone, printed and not recorded.
pub fn latency_main() -> ExitCode {
    let arguments = Arguments::read();
    let run = || {
        definitions::all()?;
        let plan = Plan::latency_alone(arguments.mode(), arguments.seed);
        run_plan("latency", plan, &arguments, Vec::new(), || 0)
    };
    ended(run())
}

fn ended(code: Result<ExitCode>) -> ExitCode {
    code.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::from(2)
    })
}

fn run(arguments: &Arguments, live_bytes: fn() -> usize) -> Result<ExitCode> {
    definitions::all()?;
    let plan = Plan::new(arguments.mode(), arguments.seed);
    let mut traffic = traffic::synthetic(arguments.seed);
    if plan.mode != Mode::Test {
        traffic.extend(trace::named(arguments.seed)?);
    }
    match (arguments.launch, &arguments.rows) {
        (Some(launch), Some(rows)) => {
            run_launch(&plan.of_launch(launch), arguments, &traffic, rows)
        }
        _ => run_plan("versus", plan, arguments, traffic, live_bytes),
    }
}

/// Does one launch of a plan, and writes its rows.
fn run_launch(
    plan: &Plan,
    arguments: &Arguments,
    traffic: &[Traffic],
    rows: &Path,
) -> Result<ExitCode> {
    let interrupted = on_interrupt()?;
    let (everyone, keyed) = (everyone(), keyed::all());
    let session = Session {
        everyone: &everyone,
        keyed: &keyed,
        traffic,
        live_bytes: || 0,
        filter: arguments.filter.clone(),
        interrupted: &interrupted,
        progress: &Bar::of_launch(plan.launch),
        plan: plan.clone(),
    };
    // Where it is made the first process knows.
    let environment = Environment {
        pinned: true,
        ..Environment::default()
    };
    folder::write_raw(&session.run(environment), rows)?;
    Ok(ExitCode::SUCCESS)
}

fn run_plan(
    target: &'static str,
    plan: Plan,
    arguments: &Arguments,
    traffic: Vec<Traffic>,
    live_bytes: fn() -> usize,
) -> Result<ExitCode> {
    let interrupted = on_interrupt()?;
    let (everyone, keyed) = (everyone(), keyed::all());
    let bar = Bar::new(target);
    let session = |plan: Plan| Session {
        everyone: &everyone,
        keyed: &keyed,
        traffic: &traffic,
        live_bytes,
        filter: arguments.filter.clone(),
        interrupted: &interrupted,
        progress: &bar,
        plan,
    };
    let whole = session(plan.clone());
    if arguments.list {
        let mut out = std::io::stdout().lock();
        let judged = traffic.iter();
        let judged = judged.map(|traffic| format!("accuracy/{}", traffic.name));
        for name in whole.names().chain(judged) {
            // Who reads no further wants no more.
            if writeln!(out, "{name}: benchmark").is_err() {
                break;
            }
        }
        return Ok(ExitCode::SUCCESS);
    }
    let tests = plan.mode == Mode::Test;
    let records = !tests && plan.without_clock && arguments.filter.is_empty();
    if records {
        folder::check_writable()?;
    }
    let environment = Environment::observe(&folder::workspace());
    let mut recording = session(plan.beside_launches()).run(environment);
    if session(plan.of_launch(1)).names().next().is_some() {
        launches::run(&mut recording, &plan, &interrupted, |text| bar.note(text))?;
    }
    if tests {
        let costs = expect::costs(&everyone);
        Ok(expect::told(&recording, &traffic, costs))
    } else if records {
        record(&recording)
    } else {
        shown(&recording)
    }
}

/// Records a run as the latest, and prints what it says.
fn record(recording: &Recording) -> Result<ExitCode> {
    let place = folder::latest();
    // A run that cannot be read, or none, is no reason not to record this one.
    let before = Run::load(&place).ok();
    folder::replace(&place, |new| {
        folder::write_raw(recording, new)?;
        if let Some(before) = &before {
            compare::write_before(before, &Run::load(new)?, new)?;
        }
        crate::render(new).map(drop)
    })?;
    console::say(&console::told(&Run::load(&place)?))?;
    Ok(ExitCode::SUCCESS)
}

/// Prints what a filtered run says, and records nothing.
fn shown(recording: &Recording) -> Result<ExitCode> {
    let scratch = tempfile::tempdir().context("cannot make a temporary folder")?;
    folder::write_raw(recording, scratch.path())?;
    let run = Run::load(scratch.path())?;
    console::print_rows(&run);

    Ok(ExitCode::SUCCESS)
}

/// The first Ctrl-C ends the run and keeps what is measured, the second ends the program.
pub fn on_interrupt() -> Result<Arc<AtomicBool>> {
    let interrupted = Arc::new(AtomicBool::new(false));
    let set = Arc::clone(&interrupted);
    ctrlc::set_handler(move || {
        if set.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        eprintln!("\nending after this measurement; what is measured is kept (Ctrl-C again: now)");
    })
    .context("cannot listen to Ctrl-C")?;
    Ok(interrupted)
}

/// A progress bar on a terminal; elsewhere a line now and then.
#[derive(Debug)]
pub struct Bar {
    bar: ProgressBar,
    /// Who speaks, in a log.
    target: &'static str,
    /// Whether it says nothing but on a terminal.
    quiet: bool,
}

impl Bar {
    /// A bar of unknown length, for a target of this name.
    pub fn new(target: &'static str) -> Bar {
        let style = ProgressStyle::with_template(
            "{prefix} {bar:30} {pos}/{len} · {eta_precise} left · {msg}",
        );
        let bar = ProgressBar::new(0);
        if let Ok(style) = style {
            bar.set_style(style);
        }
        // No steady tick: a thread that draws would run on a core that is measured.
        Bar {
            bar,
            target,
            quiet: false,
        }
    }

    /// The bar of one launch: on a terminal it is the only one, in a log the first process speaks.
    fn of_launch(launch: u32) -> Bar {
        let mut bar = Bar::new("versus");
        bar.quiet = true;
        bar.bar.set_prefix(format!("launch {launch}"));
        bar
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl Progress for Bar {
    fn ahead(&self, steps: u64) {
        self.bar.set_length(steps);
    }

    fn step(&self, what: &str) {
        self.bar.set_message(what.to_string());
        self.bar.inc(1);
        let (done, all) = (self.bar.position(), self.bar.length().unwrap_or(0));
        // Ten lines in a log that is no terminal.
        if self.bar.is_hidden() && !self.quiet && done.is_multiple_of((all / 10).max(1)) {
            let left = self.bar.eta().as_secs();
            eprintln!(
                "{}: {done} of {all} measurements, about {left} s left",
                self.target
            );
        }
    }

    fn note(&self, text: &str) {
        self.bar.suspend(|| eprintln!("{}: {text}", self.target));
    }
}
