//! Scripts: microseconds of the server a call, by its own count, in each state of a key.
//!
//! `INFO commandstats` counts what the server spends inside of a script. It knows nothing of the
//! network and little of what else the machine does. The rounds are interleaved.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use tokio::task::JoinSet;
use windowpane_lab_ground::spread::Spread;
use windowpane_lab_report::console::markdown_table;

use super::contestants::Contestant;

/// A script that reads the clock and returns 1, and ours.
const SCRIPTS: [&str; 4] = [CLOCK, "gcra", "two-counter", "log"];
pub(crate) const CLOCK: &str = "TIME and return 1";

/// The states of a key, and limit and window for each.
const STATES: [(&str, u64, Duration); 4] = [
    (
        "allowed, nothing expires",
        1_000_000,
        Duration::from_secs(3_600),
    ),
    ("allowed, others expire", 5_000, Duration::from_millis(10)),
    ("first request of a key", 100, Duration::from_secs(60)),
    ("denied", 100, Duration::from_secs(3_600)),
];

/// Microseconds a call of each round, by state and script.
pub(crate) type Costs = BTreeMap<(usize, usize), Vec<f64>>;

/// Calls a round, and calls in flight.
const CALLS: usize = 2_000;
const IN_FLIGHT: usize = 50;

/// Measures every script in every state, `rounds` times in an order shuffled each time.
///
/// # Errors
/// What the server said.
pub(crate) async fn measure(url: &str, rounds: u32, random: &mut StdRng) -> Result<Costs> {
    let mut connection = redis::Client::open(url)?.get_connection()?;
    let mut costs = Costs::new();
    let states = 0..STATES.len();
    let mut all: Vec<_> = states
        .flat_map(|state| (0..SCRIPTS.len()).map(move |script| (state, script)))
        .collect();
    for _ in 0..rounds {
        all.shuffle(random);
        for &(state, script) in &all {
            let _: () = redis::cmd("FLUSHALL").query(&mut connection)?;
            let (name, limit, window) = STATES[state];
            let asked = Contestant::build(SCRIPTS[script], url, limit, window).await?;
            let asked = Arc::new(asked);
            let is_first = name.starts_with("first");
            let warm_up = if is_first { 1 } else { CALLS / 4 };
            ask(&asked, warm_up, false).await?;
            let mut reset = redis::cmd("CONFIG");
            let _: () = reset.arg("RESETSTAT").query(&mut connection)?;
            ask(&asked, CALLS, is_first).await?;
            let info: String = redis::cmd("INFO")
                .arg("commandstats")
                .query(&mut connection)?;
            let spent = of_evalsha(&info).context("INFO commandstats has no evalsha")?;
            costs.entry((state, script)).or_default().push(spent);
        }
    }
    Ok(costs)
}

/// Asks `calls` times, for a key of its own each time or for one.
async fn ask(asked: &Arc<Contestant>, calls: usize, is_first: bool) -> Result<()> {
    for batch in 0..calls.div_ceil(IN_FLIGHT) {
        let mut tasks = JoinSet::new();
        for i in 0..IN_FLIGHT.min(calls) {
            let key = match is_first {
                true => format!("first-{batch}-{i}"),
                false => "one".to_owned(),
            };
            let asked = asked.clone();
            tasks.spawn(async move { asked.ask(&key).await });
        }
        while let Some(ended) = tasks.join_next().await {
            ended??;
        }
    }
    Ok(())
}

/// The microseconds of an EVALSHA.
fn of_evalsha(info: &str) -> Option<f64> {
    let line = info
        .lines()
        .find_map(|line| line.strip_prefix("cmdstat_evalsha:"))?;
    let field = line
        .split(',')
        .find_map(|field| field.strip_prefix("usec_per_call="))?;
    field.parse().ok()
}

/// The table: microseconds, times the clock's script, times gcra.
pub(crate) fn text(costs: &Costs) -> String {
    let median = |state, script| {
        let spread = Spread::of(costs.get(&(state, script))?.iter().copied())?;
        Some(spread.median)
    };
    let mut text = String::from(
        "\n## Scripts\n\nMicroseconds of the server a call, by `INFO commandstats`, median of the \
         rounds; in brackets times the script that reads the clock and returns 1, and times gcra.\n\n",
    );
    let mut table = markdown_table(&["", SCRIPTS[0], SCRIPTS[1], SCRIPTS[2], SCRIPTS[3]]);
    for (state, (name, ..)) in STATES.iter().enumerate() {
        let mut row = vec![(*name).to_owned()];
        for script in 0..SCRIPTS.len() {
            let times = |other| Some(median(state, script)? / median(state, other)?);
            row.push(match (median(state, script), times(0), times(1)) {
                (Some(micros), Some(clock), Some(gcra)) => {
                    format!("{micros:.2} ({clock:.2}, {gcra:.2})")
                }
                _ => String::new(),
            });
        }
        table.add_row(row);
    }
    text += &format!("{table}\n");
    text
}

/// Writes the rounds as `redis-scripts.csv`.
///
/// # Errors
/// If the file cannot be written.
pub(crate) fn write(costs: &Costs, folder: &Path) -> Result<()> {
    let mut writer = csv::Writer::from_path(folder.join("redis-scripts.csv"))?;
    writer.write_record(["state", "script", "round", "micros_per_call"])?;
    for (&(state, script), rounds) in costs {
        for (round, micros) in (1..).zip(rounds) {
            let (round, micros): (u32, f64) = (round, *micros);
            let row = [round.to_string(), micros.to_string()];
            writer.write_record([STATES[state].0, SCRIPTS[script], &row[0], &row[1]])?;
        }
    }
    Ok(writer.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cost_of_a_script_is_read_from_commandstats() {
        let info = "# Commandstats\r\ncmdstat_ping:calls=1,usec=1,usec_per_call=1.00\r\n\
                    cmdstat_evalsha:calls=3,usec=12,usec_per_call=4.20,rejected_calls=0\r\n";
        assert_eq!(of_evalsha(info), Some(4.2));
        assert_eq!(of_evalsha("# Commandstats\r\n"), None);
    }
}
