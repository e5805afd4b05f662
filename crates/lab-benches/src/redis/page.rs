//! What was measured, as Markdown and as charts.

use anyhow::Result;
use hdrhistogram::Histogram;
use windowpane_lab_ground::latency::{LABELS, Percentiles, histogram};
use windowpane_lab_ground::spread::{Spread, noise};
use windowpane_lab_report::charts::{Curve, curves};
use windowpane_lab_report::console::markdown_table;

use super::contestants::{AGAIN, NAMES, ONE, commands_of, limits, nothing_beside};
use super::costs;
use super::load::State;
use super::outcomes::{DENIAL_AT_MOST, LEAST_ALLOWED};
use super::record::{Key, Results, Round, spread};

/// What is asked for on one hot key at so many calls in flight: a share of the rate of a script that
/// is as long and does nothing.
const AIMS: [(&str, f64); 3] = [("log", 0.5), ("two-counter", 0.7), ("gcra", 0.7)];
pub(crate) const AIMED_IN_FLIGHT: usize = 64;

const MEMORY_CHART: &str = "memory-by-limit.svg";

fn rates_chart(state: &str, keys: usize) -> String {
    format!("rates-{state}-{keys}-keys.svg")
}

/// The page of a recorded run: everything that was measured, and the charts.
pub(crate) fn recorded(results: &Results, charts: &[(String, String)]) -> String {
    let mut text = text(results);
    for (file, _) in charts {
        text += &format!("\n![{file}]({file})\n");
    }
    text
}

/// Everything that was measured.
pub(crate) fn text(results: &Results) -> String {
    let mut text = format!(
        "# On a store\n\n{}; {} rounds of {} ms, interleaved in random order, more of them for the aims; client and server share \
         the machine, the client on one thread. Limit 100. Service time: a closed loop.\n",
        results.server,
        results.rounds,
        results.measure.as_millis()
    );
    aims(results, &mut text);
    denials(results, &mut text);
    if !results.costs.is_empty() {
        text += &costs::text(&results.costs);
    }
    memory(results, &mut text);
    cells(results, &mut text);
    if !results.cannot.is_empty() {
        text += "\n## What could not be measured\n\n";
        for (key, why) in &results.cannot {
            let line = why.lines().next().unwrap_or(why);
            text += &format!("- {}: {line}\n", key.path());
        }
    }
    text
}

/// Median, least and most.
fn share(share: Option<Spread>) -> String {
    share.map_or_else(String::new, |s| {
        format!("{:.2} ({:.2} to {:.2})", s.median, s.min, s.max)
    })
}

fn aims(results: &Results, text: &mut String) {
    let aimed = |key: &&Key| {
        (key.state, key.keys, key.in_flight) == (State::Allowed.word(), 1, AIMED_IN_FLIGHT)
    };
    let keys: Vec<&Key> = results.cells.keys().filter(aimed).collect();
    let mut head = vec![
        "",
        "aim",
        "rate, of one INCR",
        "of as many INCRs",
        "of the same commands",
    ];
    head.extend([
        "server time, of one INCR",
        "of as many INCRs",
        "of the same commands",
    ]);
    let (mut rows, mut told) = (markdown_table(&head), Vec::new());
    for (name, aim) in AIMS {
        let Some(key) = keys.iter().find(|key| key.name() == name) else {
            continue;
        };
        let beside = [Some(ONE), nothing_beside(name), commands_of(name)];
        let rates = beside.map(|other| results.beside(key, other?));
        let times = beside.map(|other| results.server_beside(key, other?));
        let mut row = vec![name.to_owned(), format!("{aim}")];
        row.extend(rates.iter().chain(&times).map(|s| share(*s)));
        rows.add_row(row);
        let met = |s: &Option<Spread>| match s {
            Some(s) if s.median >= aim => "met",
            Some(_) => "missed",
            None => "not measured",
        };
        told.push(format!(
            "- {name}, aim {aim}: {} beside one INCR, {} beside as many INCRs as it calls commands.",
            met(&rates[0]),
            met(&rates[1])
        ));
    }
    if told.is_empty() {
        return;
    }
    *text += &format!(
        "\n## Aims\n\nOne hot key, {AIMED_IN_FLIGHT} in flight, allowed: the rate as a share of that of a script that is as long and does \
         nothing, median (least to most) of the rounds' own ratios. It calls INCR once; or as often as the limiter calls a \
         command; or it calls the limiter's very commands and decides nothing, above which no script can come that reads the clock \
         and its state. *Server time* is the same by the server's processor time a call, which hardly knows \
         what else the machine does.\n\n{rows}\n\n{}\n",
        told.join("\n")
    );
    if let Some(noise) = noise(&results.against_itself()) {
        *text += &format!(
            "\nNoise: gcra and `{AGAIN}`, which is the same, differ by up to {:.0} % in nine of ten pairs of rounds of all cells.\n",
            100.0 * noise
        );
    }
}

fn denials(results: &Results, text: &mut String) {
    let Some(denials) = &results.denials else {
        return;
    };
    let Some(nanos) = Spread::of(denials.nanos.iter().copied()) else {
        return;
    };
    *text += &format!(
        "\n## The deny cache\n\nA denial from it takes {:.0} ns, median of {} batches of a thousand ({:.0} to {:.0}), aim below {DENIAL_AT_MOST} ns: {}. Round \
         trips meanwhile: {}.\n",
        nanos.median,
        nanos.rounds,
        nanos.min,
        nanos.max,
        if nanos.median < DENIAL_AT_MOST {
            "met"
        } else {
            "missed"
        },
        denials.round_trips
    );
}

/// The cells, one table each.
fn cells(results: &Results, text: &mut String) {
    let mut groups: Vec<(&str, usize, usize)> = Vec::new();
    for key in results.cells.keys() {
        let group = (key.state, key.keys, key.in_flight);
        if !groups.contains(&group) {
            groups.push(group);
        }
    }
    let mut head = vec![
        "",
        "a second, median",
        "least",
        "most",
        "of one INCR",
        "of as many",
        "of the same",
    ];
    head.extend(["allowed", "client us", "server us", "script us"]);
    head.extend(LABELS);
    if !groups.is_empty() {
        *text += "\n## Every cell\n\nBeside the rates and shares: the share that was allowed, and the processor time a call in microseconds, of \
                  the client with the load, of the server, and of the server inside of scripts. Percentiles of service times are of all rounds.\n";
    }
    for group in groups {
        let mut rows = markdown_table(&head);
        let mut few = Vec::new();
        let mut window = None;
        for (key, rounds) in &results.cells {
            if (key.state, key.keys, key.in_flight) != group {
                continue;
            }
            window = window.or(rounds.first().map(|round| round.window));
            let allowed = spread(rounds, |m| m.allowed);
            if group.0 == State::Allowed.word()
                && limits(key.name())
                && allowed.median < LEAST_ALLOWED
            {
                few.push(key.name());
            }
            rows.add_row(row(results, key, rounds));
        }
        let plural = if group.1 == 1 { "" } else { "s" };
        *text += &format!(
            "\n### {}, {} key{plural}, {} in flight, 100 in {:?}\n\n{rows}\n",
            group.0,
            group.1,
            group.2,
            window.unwrap_or_default()
        );
        if !few.is_empty() {
            *text += &format!(
                "\nBelow 99 % allowed, so not of this state: {}.\n",
                few.join("; ")
            );
        }
    }
}

fn row(results: &Results, key: &Key, rounds: &[Round]) -> Vec<String> {
    let rate = spread(rounds, |m| m.per_second);
    let median =
        |share: Option<Spread>| share.map_or_else(String::new, |s| format!("{:.2}", s.median));
    let beside = |other: Option<&str>| {
        other.map_or_else(String::new, |other| median(results.beside(key, other)))
    };
    let mut row = vec![key.name().to_owned()];
    row.extend([rate.median, rate.min, rate.max].map(|rate| format!("{rate:.0}")));
    row.extend(
        [
            Some(ONE),
            nothing_beside(key.name()),
            commands_of(key.name()),
        ]
        .map(beside),
    );
    row.push(format!(
        "{:.1} %",
        100.0 * spread(rounds, |m| m.allowed).median
    ));
    let spent = [
        spread(rounds, |m| m.spent.client),
        spread(rounds, |m| m.spent.server),
        spread(rounds, |m| m.spent.script),
    ];
    row.extend(spent.map(|spent| format!("{:.2}", spent.median)));
    let time = |nanos: u64| format!("{:.1} us", nanos as f64 / 1_000.0);
    row.extend(Percentiles::of(&all(rounds)).values().map(time));
    row
}

/// The service times of all rounds: a tail needs the samples.
fn all(rounds: &[Round]) -> Histogram<u64> {
    let mut all = histogram();
    for round in rounds {
        all.add(&round.measured.times).expect("the same bounds");
    }
    all
}

fn memory(results: &Results, text: &mut String) {
    if results.memory.is_empty() {
        return;
    }
    let mut rows = markdown_table(&["", "limit", "bytes", "bytes an entry", "50,000 keys, MB"]);
    for filled in &results.memory {
        rows.add_row([
            filled.contestant.to_owned(),
            filled.limit.to_string(),
            filled.bytes.to_string(),
            format!("{:.1}", filled.bytes as f64 / filled.limit as f64),
            format!("{:.1}", filled.bytes as f64 * 50_000.0 / 1e6),
        ]);
    }
    *text += &format!(
        "\n## Memory of one key\n\n`MEMORY USAGE key SAMPLES 0`, {}, the key filled to its limit with cost 1. A sorted set is a packed list up to 128 \
         entries and a tree with a hash table above.\n\n{rows}\n",
        results.server
    );
    let bytes = |name: &str, limit: u64| {
        let found = results
            .memory
            .iter()
            .find(|f| f.contestant == name && f.limit == limit);
        found.map(|filled| filled.bytes)
    };
    let sorted = "usual log (sorted set)";
    if let (Some(before), Some(after)) = (bytes(sorted, 128), bytes(sorted, 129))
        && let (Some(ours), Some(one_more)) = (bytes("log", 128), bytes("log", 129))
    {
        *text += &format!(
            "\nFrom 128 to 129 entries the sorted set goes from {before} to {after} bytes, {:.1} times; the log from {ours} to {one_more}.\n",
            after as f64 / before as f64
        );
    }
}

/// The charts by file.
///
/// # Errors
/// If one cannot be drawn.
pub(crate) fn charts(results: &Results) -> Result<Vec<(String, String)>> {
    let mut charts = Vec::new();
    let ours = |name: &str| ["log", "two-counter", "gcra", "log, deny cache"].contains(&name);
    for (state, keys) in [
        (State::Allowed, 1),
        (State::Allowed, 10_000),
        (State::Denied, 1),
    ] {
        let shown = |name: &&&str| {
            ours(name) || [ONE, "usual log (sorted set)", "usual gcra", "trypema"].contains(*name)
        };
        let curve = |name: &&str| Curve {
            name: (*name).to_owned(),
            ours: ours(name),
            points: results
                .cells
                .iter()
                .filter(|(key, _)| {
                    key.name() == *name && key.state == state.word() && key.keys == keys
                })
                .map(|(key, rounds)| {
                    (
                        key.in_flight as f64,
                        spread(rounds, |m| m.per_second).median,
                    )
                })
                .collect(),
        };
        let drawn: Vec<Curve> = NAMES
            .iter()
            .filter(shown)
            .map(curve)
            .filter(|c| !c.points.is_empty())
            .collect();
        if !drawn.is_empty() {
            let title = format!(
                "Decisions a second, {}, {keys} key{}",
                state.word(),
                if keys == 1 { "" } else { "s" }
            );
            let chart = curves(&title, "calls in flight", "decisions a second", &drawn);
            charts.push((rates_chart(state.word(), keys), chart));
        }
    }
    if !results.memory.is_empty() {
        let mut drawn: Vec<Curve> = Vec::new();
        for filled in &results.memory {
            let point = (filled.limit as f64, filled.bytes as f64);
            match drawn
                .iter_mut()
                .find(|curve| curve.name == filled.contestant)
            {
                Some(curve) => curve.points.push(point),
                None => drawn.push(Curve {
                    name: filled.contestant.to_owned(),
                    ours: ours(filled.contestant),
                    points: vec![point],
                }),
            }
        }
        let chart = curves(
            "Memory of one key by limit",
            "limit",
            "bytes of a key that is full",
            &drawn,
        );
        charts.push((MEMORY_CHART.into(), chart));
    }
    Ok(charts)
}
