//! The verdict: sentences that a run's rows say by themselves.

mod wrong;

use windowpane_lab_ground::figures::{bytes, list, mib, millions, thousands, time, times};
use windowpane_lab_ground::latency::{Latency, ServiceTime};
use windowpane_lab_ground::spread::{ROUNDS_THAT_TELL, Spread};
use windowpane_lab_measure::rows::KeyedAttackRow;
use windowpane_lab_measure::state::State;

use super::markdown::attack::{courses, who};
use super::markdown::text::words;
use super::run::Run;

pub(super) use super::markdown::text::code;

/// The limit at which memory is compared.
const LIMIT: u64 = 1_000;

/// Above this share of all cores, in percent, others were at work when the run began.
const BUSY: f64 = 10.0;

/// One paragraph of the verdict, in Markdown.
#[derive(Clone, Debug, Default)]
pub(super) struct Finding {
    /// All of it, or what it begins with.
    head: String,
    /// What follows, without full stops.
    parts: Vec<String>,
    /// What stands between the parts in a paragraph.
    between: &'static str,
}

impl Finding {
    fn of(text: String) -> Finding {
        Finding {
            head: text,
            ..Finding::default()
        }
    }

    /// As a paragraph.
    fn as_paragraph(&self) -> String {
        match self.parts.is_empty() {
            true => self.head.clone(),
            false => format!("{} {}.", self.head, self.parts.join(self.between)),
        }
    }

    /// As an item of a list, its parts as items below it.
    pub(super) fn as_items(&self) -> String {
        let mut text = format!("- {}\n", self.head);
        for part in &self.parts {
            text += &format!("  - {part}.\n");
        }
        text
    }
}

/// The verdict, one paragraph an item, in Markdown.
pub fn verdict(run: &Run) -> Vec<String> {
    findings(run).iter().map(Finding::as_paragraph).collect()
}

/// What the verdict says, the place first.
pub(super) fn findings(run: &Run) -> Vec<Finding> {
    let mut findings = vec![Finding::of(machine(run)), Finding::of(exact(run))];
    for state in [State::Allowed, State::Denied] {
        findings.push(fastest(run, state));
    }
    findings.extend([Finding::of(memory(run)), wrong::wrong(run)]);
    findings.extend(attacked(run).map(Finding::of));
    findings.extend(preempted(run).map(Finding::of));
    findings.push(losses(run));
    findings
}

fn machine(run: &Run) -> String {
    let environment = &run.environment;
    let mut doubt = match environment.partial.is_empty() {
        true => String::new(),
        false => format!(" **This run is partial: {}.**", words(&environment.partial)),
    };
    if environment.busy_percent > BUSY {
        doubt += &format!(
            " **Others kept the machine {} % busy when it began: repeat it on a quiet one.**",
            environment.busy_percent
        );
    }
    if !environment.pinned {
        doubt += " **Not every worker could be pinned to its core.**";
    }
    format!(
        "**Where:** {}, {} cores, {}; {} rounds of {} on {}.{doubt}",
        words(&environment.cpu),
        environment.cores,
        match environment.hypervisor.as_str() {
            "none" => "no hypervisor".into(),
            "unknown" => "hypervisor unknown".into(),
            name => format!("a virtual machine ({})", words(name)),
        },
        environment.rounds,
        words(&environment.mode),
        words(&environment.began),
    )
}

fn exact(run: &Run) -> String {
    let named = |exact: bool| {
        let names = run.limiters().filter(|who| who.exact == exact);
        list(&names.map(|who| code(&who.contestant)).collect::<Vec<_>>())
    };
    // What was compared: how many kinds of traffic, and their requests. On several servers with a
    // share of the limit each, exact ones deny wrongly as well.
    let compared = |name: &str| {
        let rows = run.accuracy.iter().filter(|row| {
            row.contestant == name && row.cannot.is_empty() && row.is_of_one_server()
        });
        rows.fold((0, 0), |(kinds, requests), row| {
            (kinds + 1, requests + row.requests)
        })
    };
    let is_wrong = |name: &str| {
        run.accuracy.iter().any(|row| {
            row.contestant == name
                && row.is_of_one_server()
                && row.false_allows + row.false_denies > 0
        })
    };
    let liars: Vec<String> = run
        .limiters()
        .filter(|who| who.exact && is_wrong(&who.contestant))
        .map(|who| code(&who.contestant))
        .collect();
    let all = run.limiters().filter(|who| who.exact);
    let all = all.map(|who| (compared(&who.contestant), code(&who.contestant)));
    let mut all: Vec<((usize, u64), String)> = all.collect();
    all.sort_by_key(|(compared, _)| std::cmp::Reverse(*compared));
    let groups: Vec<String> = all
        .chunk_by(|a, b| a.0 == b.0)
        .enumerate()
        .map(|(index, group)| {
            let (kinds, requests) = group[0].0;
            let on = format!(
                "on {} requests of {kinds} kinds of traffic",
                thousands(requests)
            );
            let names: Vec<String> = group.iter().map(|(_, name)| name.clone()).collect();
            match index {
                0 => on,
                // Those that cannot express every traffic.
                _ => format!("{} {on}", list(&names)),
            }
        })
        .collect();
    let checked = match liars.is_empty() {
        true => format!(
            "none of them decided otherwise than the oracle {}",
            groups.join("; ")
        ),
        false => format!("**but {} decided otherwise than the oracle**", list(&liars)),
    };
    format!(
        "**Exact:** {}; {checked}. Approximate: {}.",
        named(true),
        named(false)
    )
}

fn fastest(run: &Run, state: State) -> Finding {
    let mut parts = Vec::new();
    for threads in run
        .threads()
        .into_iter()
        .filter(|t| !run.is_oversubscribed(*t))
    {
        let all = run.fastest(state, threads, |_| true);
        let exact = run.fastest(state, threads, |name| run.is_exact(name));
        let Some((first, _)) = all.first() else {
            continue;
        };
        let mut part = format!("{} {}", on_threads(threads), told(&all, threads));
        if !run.is_exact(first) && !exact.is_empty() {
            part += &format!("; of the exact ones {}", told(&exact, threads));
        }
        parts.push(part);
    }
    if parts.is_empty() {
        // A run that is interrupted early has no rounds.
        parts.push("not measured".into());
    }
    Finding {
        head: format!("**Fastest where all is {}:**", state.word()),
        parts,
        between: ". ",
    }
}

/// The fastest with its figure, and those that are not shown to be slower.
fn told(fastest: &[(String, Spread)], threads: usize) -> String {
    let Some(((name, rate), level)) = fastest.split_first() else {
        return "nobody".into();
    };
    let mut text = format!("{} ({})", code(name), rate_in_words(*rate, threads));
    if !level.is_empty() {
        let names: Vec<String> = level.iter().map(|(name, _)| code(name)).collect();
        text += &format!(", no difference shown to {}", list(&names));
    }
    text
}

/// Time a decision with one thread; decisions a second with more, where there is no such time.
fn rate_in_words(rate: Spread, threads: usize) -> String {
    match threads {
        1 => format!("{} a decision", time(1e9 / rate.median)),
        _ => format!("{} million decisions a second", millions(rate.median)),
    }
}

fn memory(run: &Run) -> String {
    let mut figures: Vec<(u64, String)> = run
        .limiters()
        .filter_map(|who| {
            Some((
                run.bytes(&who.contestant, LIMIT, "full")?,
                code(&who.contestant),
            ))
        })
        .collect();
    figures.sort();
    let told: Vec<String> = figures
        .into_iter()
        .map(|(figure, name)| format!("{name} {}", bytes(figure)))
        .collect();
    format!(
        "**Memory of one key at a limit of {}, full:** {}.",
        thousands(LIMIT),
        told.join(", ")
    )
}

/// What a flood of new keys did to each store's memory, the smallest first.
fn attacked(run: &Run) -> Option<String> {
    let first = run.keyed_attack.first()?;
    let courses = courses(run);
    let mut ends: Vec<&KeyedAttackRow> = courses
        .iter()
        .filter_map(|course| course.last().copied())
        // It could be built.
        .filter(|last| last.asked > 0)
        .collect();
    ends.sort_by_key(|last| (last.bytes, who(last)));
    let told = |last: &KeyedAttackRow| {
        let until = match last.asked {
            all if all == first.attackers => String::new(),
            some => format!(" when stopped after {}", thousands(some)),
        };
        let fresh = match last.fresh {
            0 => String::new(),
            fresh => format!(" (clients with a fresh allowance: {})", thousands(fresh)),
        };
        format!("{} MiB{until}{fresh}", mib(last.bytes))
    };
    let groups: Vec<String> = ends
        .chunk_by(|a, b| told(a) == told(b))
        .map(|group| {
            let names: Vec<String> = group.iter().map(|last| code(&who(last))).collect();
            format!("{} {}", list(&names), told(group[0]))
        })
        .collect();
    let unless = match ends.iter().all(|last| last.fresh == 0) {
        true => "",
        false => " unless said",
    };
    (!groups.is_empty()).then(|| {
        format!(
            "**Memory after {} attacking keys**, at a cap of {} where a store has one: {}. \
             No client over its limit got a fresh allowance{unless}.",
            thousands(first.attackers),
            thousands(first.cap),
            groups.join("; ")
        )
    })
}

/// What a preempted thread costs the others, where there are more threads than cores.
fn preempted(run: &Run) -> Option<String> {
    let cells = run.latency_cells::<ServiceTime>();
    let (state, threads, _) = cells
        .into_iter()
        .filter(|(state, threads, _)| *state == State::Allowed && run.is_oversubscribed(*threads))
        .max_by_key(|(_, threads, _)| *threads)?;
    let mut tails: Vec<(u64, u64, String)> = run
        .limiters()
        .filter_map(|who| {
            let row = run.latency_of::<ServiceTime>(&who.contestant, state, threads, None)?;
            Some((row.p99_9, row.max, code(&who.contestant)))
        })
        .collect();
    tails.sort();
    let ((low, low_max, best), (high, high_max, worst)) = (tails.first()?, tails.last()?);
    Some(format!(
        "**{threads} threads on {} cores, {}, {}:** p99.9 from {} ({best}, max {}) to {} ({worst}, max {}): \
         what one thread without a core costs the others; the largest are mostly a thread's own time without one.",
        run.environment.cores,
        state.word(),
        ServiceTime::LABEL,
        time(*low as f64),
        time(*low_max as f64),
        time(*high as f64),
        time(*high_max as f64),
    ))
}

fn losses(run: &Run) -> Finding {
    let mut told = Vec::new();
    for state in State::ALL {
        for threads in run.threads() {
            let losses = run.losses(state, threads);
            let Some(rival) = losses.first().map(|loss| loss.rival.clone()) else {
                continue;
            };
            let ours: Vec<String> = losses
                .iter()
                .map(|loss| format!("{} ({})", code(&loss.ours), times(loss.ratio)))
                .collect();
            told.push(format!(
                "{}, {}: {} beats {}",
                state.word(),
                on_threads(threads),
                code(&rival),
                list(&ours)
            ));
        }
    }
    if told.is_empty() {
        let rounds = run
            .throughput
            .iter()
            .map(|row| row.round)
            .max()
            .unwrap_or(0);
        let none = match rounds as usize {
            0 => "not measured.".into(),
            // A difference is told from so many on: that none is says nothing then.
            few if few < ROUNDS_THAT_TELL => {
                format!("not told: of {few} rounds; a difference needs {ROUNDS_THAT_TELL}.")
            }
            _ => "no rival is shown to be faster anywhere.".to_string(),
        };
        return Finding::of(format!("**Where ours lose:** {none}"));
    }
    Finding {
        head: "**Where ours lose** (the fastest rival of each cell):".into(),
        parts: told,
        between: "; ",
    }
}

/// `1 thread`, `2 threads`.
pub fn on_threads(threads: usize) -> String {
    match threads {
        1 => "1 thread".into(),
        _ => format!("{threads} threads"),
    }
}
