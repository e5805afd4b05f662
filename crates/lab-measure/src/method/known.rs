//! Known differences, measured as a run measures: the same session, rounds and launches.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use anyhow::Result;
use windowpane_lab_contestants::{Contestant, everyone};
use windowpane_lab_ground::modes::modes;

use super::counted::Counted;
use super::simulation::{apart, series};
use super::slowed::{self, BASES, Slowed, WAYS};
use super::{FACTORS, family};
use crate::environment::Environment;
use crate::folder;
use crate::launches;
use crate::plan::{Mode, Plan};
use crate::recording::Recording;
use crate::rows::ThroughputRow;
use crate::session::{Progress, Session};

/// Prints progress on the standard error.
struct Noting;

impl Progress for Noting {
    fn ahead(&self, _: u64) {}
    fn step(&self, _: &str) {}
    fn note(&self, text: &str) {
        eprintln!("method: {text}");
    }
}

fn session<'a>(
    plan: Plan,
    contestants: &'a [&'static dyn Contestant],
    interrupted: &'a AtomicBool,
) -> Session<'a> {
    Session {
        plan: Plan {
            keyed: Vec::new(),
            ..plan
        },
        everyone: contestants,
        keyed: &[],
        traffic: &[],
        live_bytes: || 0,
        filter: String::new(),
        interrupted,
        progress: &Noting,
    }
}

/// Does one launch, and writes its rows.
pub(super) fn launch(plan: &Plan, rows: &Path) -> Result<()> {
    let contestants = slowed::contestants();
    let interrupted = AtomicBool::new(false);
    // More contestants than a run has, and the same rounds: they may take longer.
    let plan = Plan {
        budget: 4 * plan.budget,
        ..plan.clone()
    };
    let recording = session(plan, &contestants, &interrupted).run(Environment::default());
    folder::write_raw(&recording, rows)
}

/// The rows of all launches.
pub(super) fn measure(plan: &Plan) -> Result<Vec<ThroughputRow>> {
    let environment = Environment::observe(&folder::workspace());
    let infos = slowed::contestants().into_iter().map(|who| who.info());
    let mut recording = Recording::new(environment, infos);
    let interrupted = AtomicBool::new(false);
    launches::run(&mut recording, plan, &interrupted, |text| Noting.note(text))?;
    let environment = &recording.environment;
    if !environment.not_quiet.is_empty() {
        println!("{}", environment.not_quiet);
    }
    println!(
        "{} launches, {} rounds, {:.0} s; {} samples, {} discarded and made again, {} kept though disturbed\n",
        environment.launches,
        environment.rounds,
        environment.seconds,
        environment.samples,
        environment.samples_lost,
        environment.samples_disturbed
    );
    Ok(recording.throughput)
}

/// What a run's comparison says of the known differences.
pub(super) fn outcomes(rows: &[ThroughputRow]) -> Counted {
    let mut counted = Counted::default();
    let cells = Plan::new(Mode::Default, 1).throughput;
    let family = family(everyone().len(), cells.len());
    for cell in cells {
        let of = |base: &str, way: &str| {
            series(
                rows,
                &slowed::name(base, way),
                cell.state.word(),
                cell.threads,
            )
        };
        for base in BASES {
            let as_it_is = of(base, WAYS[0].0);
            for (way, slowed) in &WAYS[1..] {
                let other = of(base, way);
                match *slowed {
                    Slowed::By(factor) if FACTORS.contains(&factor) => {
                        let told = other.against(&as_it_is, family);
                        counted.at(cell.threads, factor).add(&told, factor);
                        if apart(&other, &as_it_is) {
                            counted.apart.add_different(&told);
                        }
                    }
                    Slowed::By(_) => {}
                    Slowed::TwoSpeeds => {
                        let rates: Vec<f64> = other.all().iter().map(|(_, rate)| *rate).collect();
                        counted.two_speeds.0 += 1;
                        counted.two_speeds.1 += u32::from(modes(&rates).is_some());
                    }
                }
            }
            let [two, too] = [6, 7].map(|way: usize| of(base, WAYS[way].0));
            let told = too.against(&two, family);
            counted.at(cell.threads, 1.0).add(&told, 1.0);
        }
    }
    counted
}
