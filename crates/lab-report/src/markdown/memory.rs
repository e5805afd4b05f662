//! Memory by limit.

use windowpane_lab_ground::figures::{bytes, thousands};
use windowpane_lab_measure::memory::{Fill, LIMITS};

use super::super::charts;
use super::super::run::Run;
use super::super::verdict::code;
use super::text::{data, image, strings, table_of};

/// The file of bytes.
const MEMORY: &str = "memory.csv";

pub(super) fn memory(run: &Run) -> String {
    let mut text = String::from(
        "## Memory\n\nBytes that one limiter for one key takes, counted by the allocator, requests one nanosecond apart. \
         *At most* is what the limiter's own formula allows.\n\n",
    );
    text += &image("Memory of one key by limit, full", charts::MEMORY_FILE);
    text += &data(&[MEMORY]);
    let mut header = strings(["limiter", "formula"]);
    for limit in LIMITS {
        header.push(format!("{} empty / half / full", thousands(limit)));
        header.push("at most".into());
    }
    let rows: Vec<Vec<String>> = run
        .limiters()
        .map(|who| {
            let mut row = vec![code(&who.contestant), who.memory.clone()];
            for limit in LIMITS {
                let of = |fill: Fill| {
                    run.bytes(&who.contestant, limit, fill.word())
                        .map_or("—".into(), thousands)
                };
                row.push(Fill::ALL.map(of).join(" / "));
                let at_most = run
                    .memory
                    .iter()
                    .find(|row| row.contestant == who.contestant && row.limit == limit)
                    .and_then(|row| row.at_most);
                row.push(at_most.map_or("—".into(), bytes));
            }
            row
        })
        .collect();
    text + &table_of(2, &header, &rows) + &data(&[MEMORY])
}
