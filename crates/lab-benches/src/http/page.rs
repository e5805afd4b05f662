//! The page of a run, as it is printed and recorded.

use std::fmt::Write;

use windowpane_lab_ground::spread::{Difference, Spread};
use windowpane_lab_measure::environment::cores;
use windowpane_lab_report::console::markdown_table;

use super::Extent;
use super::flood::Flooded;
use super::generator::{Generator, PERCENTILES, POOL};
use super::record::{Measured, Results};
use super::service::Cell;

/// The least share of the throughput that the layer is to leave.
const AIM: f64 = 0.95;

/// Everything as Markdown.
pub(crate) fn text(
    results: &Results,
    extent: &Extent,
    generator: &Generator,
    server_threads: usize,
) -> String {
    let mut text = String::from("# Over HTTP\n");
    if results.cells().next().is_some() {
        text += &about(extent, generator, server_threads);
        text += &rates(results);
        text += &verdict(results);
    }
    if !results.floods.is_empty() {
        text += &floods(&results.floods);
    }
    text
}

fn about(extent: &Extent, generator: &Generator, server_threads: usize) -> String {
    let cores = cores();
    let generator_threads = generator.threads;
    format!(
        "
{}, {} connections over the loopback interface, keep-alive, each asking again as soon as it is
answered: times are service times of a closed loop, under as much load as the server bears. The server is
axum over a runtime of {server_threads} thread(s), its handler answers six bytes; stores are in its memory, of
`cas-ring`. The generator, of {generator_threads} thread(s), shares the machine's {cores} cores with it: both
slow each other down, so shares and the server's own processor time say more than rates do. All cells get
the same requests, whose API keys are {POOL} in turn.

{} rounds of {} s a cell, interleaved in an order of their own; {} pair(s) of the service without the layer
against itself before. A share is that of the rate without the layer in the same round. Processor time is
the server's, the system's part included, a request.
",
        generator.version,
        generator.connections,
        extent.rounds,
        extent.seconds,
        extent.pairs_first,
    )
}

fn rates(results: &Results) -> String {
    let mut head = vec![
        "",
        "quotas",
        "a second, median",
        "least",
        "most",
        "share, median",
        "least",
        "most",
        "processor time",
    ];
    head.extend(PERCENTILES);
    let mut table = markdown_table(&head);
    for cell in results.cells() {
        let rate = results.spread(cell, |measured| measured.told.per_second());
        let share = results.share(cell).expect("all rounds have all cells");
        let processor = results.spread(cell, Measured::processor_micros);
        let mut row = vec![
            cell.name().to_owned(),
            cell.quotas().join(", "),
            format!("{:.0}", rate.median),
            format!("{:.0}", rate.min),
            format!("{:.0}", rate.max),
            format!("{:.3}", share.median),
            format!("{:.3}", share.min),
            format!("{:.3}", share.max),
            format!("{:.2} us", processor.median),
        ];
        for place in 0..PERCENTILES.len() {
            let time = results.spread(cell, |measured| measured.told.micros[place]);
            row.push(format!("{:.2} ms", time.median / 1_000.0));
        }
        table.add_row(row);
    }
    format!("\n{table}\n\nPercentiles are medians of the rounds' own.\n")
}

/// Whether the aim is met, and what the difference is worth.
fn verdict(results: &Results) -> String {
    let mut text = String::new();
    match results.noise() {
        Some(noise) => {
            let _ = write!(
                text,
                "\nNoise: without the layer, pairs are up to {:.1} % apart in nine of ten cases.\n",
                noise * 100.0
            );
        }
        None => text.push_str("\nNoise: not measured.\n"),
    }
    for cell in results.cells().filter(|cell| cell.is_allowed()) {
        let share = results.share(cell).expect("all rounds have all cells");
        let met = if share.median >= AIM {
            "met"
        } else {
            "not met"
        };
        let shown = match results.difference(cell) {
            Some(Difference::Shown(_)) => "the difference is shown",
            _ => "a difference is not shown: it could be noise",
        };
        let more = more_processor_time(results, cell);
        let _ = write!(
            text,
            "\nAim, at least {AIM} of the throughput without the layer, {}: **{met}**, {:.3} (rounds from {:.3} to \
             {:.3}; {shown}). Processor time a request: {:+.2} us (rounds from {:+.2} to {:+.2}).\n",
            cell.name(),
            share.median,
            share.min,
            share.max,
            more.median,
            more.min,
            more.max,
        );
    }
    text
}

/// What the layer takes of the server's processor time, by round.
fn more_processor_time(results: &Results, cell: Cell) -> Spread {
    let without = results.rounds(Cell::Without, Measured::processor_micros);
    let with = results.rounds(cell, Measured::processor_micros);
    let more = with.iter().zip(&without).map(|((_, a), (_, b))| a - b);
    Spread::of(more).expect("all rounds have all cells")
}

fn floods(floods: &[Flooded]) -> String {
    let mut text = String::from(
        "
## A flood of new keys

Each request has an API key that nobody has used before. Memory is what is resident of the whole process,
generator aside; an allocator gives little of it back. After a flood whose keys are idle soon, a sweep has
forgotten them. Refused is what was answered 503 for want of room.
",
    );
    let mut table = markdown_table(&[
        "keys",
        "quotas",
        "cap",
        "a second",
        "refused",
        "keys, most",
        "after",
        "evicted",
        "memory before",
        "most",
        "after",
    ]);
    for flooded in floods {
        let (flood, told) = (&flooded.flood, &flooded.told);
        let memory = |phase| {
            let most = flooded.phase(phase).filter_map(|s| s.resident).max();
            most.map_or_else(|| "unknown".into(), |b| format!("{:.1} MB", b as f64 / 1e6))
        };
        let after = flooded.phase("after").last().expect("a sample after");
        let most = flooded.phase("during").map(|sample| sample.keys).max();
        table.add_row([
            flood.name.to_owned(),
            flood.quotas.join(", "),
            flood.cap.to_string(),
            format!("{:.0}", told.per_second()),
            format!("{:.1} %", 100.0 * told.not_ok as f64 / told.requests as f64),
            most.unwrap_or(after.keys).to_string(),
            after.keys.to_string(),
            after.evictions.to_string(),
            memory("before"),
            memory("during"),
            memory("after"),
        ]);
    }
    let _ = writeln!(text, "\n{table}");
    text
}
