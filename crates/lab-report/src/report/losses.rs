//! Where a limiter of ours is slower than a rival of the same rule.

use windowpane_lab_contestants::Origin;
use windowpane_lab_contestants::table::{Entry, TABLE};
use windowpane_lab_ground::comparison::{Comparison, Outcome};
use windowpane_lab_measure::state::State;

use super::advice::ratio;
use super::sections::{row, section, table};
use super::{Block, Cell, Column, Section, plain};
use crate::cells::Cell as Measured;
use crate::on_threads;
use crate::run::Run;

/// A limiter or store of ours, a rival of the same rule, and a cell that has both.
struct Pair<'r> {
    ours: &'static str,
    rival: &'static str,
    cell: Measured<'r>,
}

/// Returns the pairs that were measured in one cell.
fn pairs(run: &Run) -> Vec<Pair<'_>> {
    let one_key: Vec<Measured> = State::ALL
        .into_iter()
        .flat_map(|state| {
            let threads = run.threads().into_iter();
            threads.map(move |threads| Measured::OneKey(state, threads))
        })
        .collect();
    let mut many_keys: Vec<Measured> = Vec::new();
    for row in &run.keyed {
        let cell = Measured::Keys(&row.workload, row.threads);
        if row.round > 0 && !many_keys.contains(&cell) {
            many_keys.push(cell);
        }
    }
    let mut pairs = Vec::new();
    for ours in TABLE.ours.iter().filter(|entry| !is_variant(entry)) {
        for rival in TABLE.rivals.iter().filter(|entry| entry.exhibit.is_none()) {
            if ours.info().rule == rival.info().rule {
                let name = |entry: &Entry| vec![entry.info().name];
                pairs.extend(measured(run, &name(ours), &name(rival), &one_key));
                pairs.extend(measured(run, &stores(ours), &stores(rival), &many_keys));
            }
        }
    }
    pairs
}

/// Returns each of `ours` with each of `rivals` in the cells that have both.
fn measured<'r>(
    run: &Run,
    ours: &[&'static str],
    rivals: &[&'static str],
    cells: &[Measured<'r>],
) -> Vec<Pair<'r>> {
    let mut pairs = Vec::new();
    for &ours in ours {
        for &rival in rivals {
            let both = |cell: &&Measured| {
                [ours, rival]
                    .iter()
                    .all(|who| run.speed(who, **cell).is_some())
            };
            let cells = cells.iter().filter(both).copied();
            pairs.extend(cells.map(|cell| Pair { ours, rival, cell }));
        }
    }
    pairs
}

fn is_variant(entry: &Entry) -> bool {
    entry.algorithm.is_none_or(|algorithm| algorithm.is_variant)
}

/// Returns the stores of an entry: those with the hasher of ours, if it has any.
fn stores(entry: &Entry) -> Vec<&'static str> {
    let infos = || entry.many_keys.iter().map(|store| store.info());
    let alike: Vec<_> = infos()
        .filter(|store| store.origin == Origin::Ours || store.name.ends_with("-ahash"))
        .map(|store| store.name)
        .collect();
    match alike.is_empty() {
        true => infos().map(|store| store.name).collect(),
        false => alike,
    }
}

/// Returns the pairs in which ours is shown to be slower, the worst first.
fn losses(run: &Run) -> Vec<(Pair<'_>, Comparison)> {
    let pairs = pairs(run);
    let family = pairs.len();
    let compared = pairs.into_iter().map(|pair| {
        let compared = run.compared(pair.ours, pair.rival, pair.cell, family);
        (pair, compared)
    });
    let mut losses: Vec<_> = compared
        .filter(|(_, compared)| compared.outcome == Outcome::Slower)
        .collect();
    losses.sort_by(|(_, a), (_, b)| a.ratio.total_cmp(&b.ratio));
    losses
}

pub(super) fn slower(run: &Run) -> Section {
    let rows: Vec<_> = losses(run)
        .iter()
        .map(|(pair, compared)| {
            let cell = match pair.cell {
                Measured::OneKey(state, threads) => {
                    format!("one key, {}, {}", state.word(), on_threads(threads))
                }
                Measured::Keys(workload, threads) => {
                    format!("{}, {}", plain(workload), on_threads(threads))
                }
            };
            let names = [pair.ours, pair.rival].map(|name| Cell::words(format!("`{name}`")));
            let ratio = Cell {
                sort: Some(compared.ratio),
                ..Cell::words(ratio(compared))
            };
            row(
                None,
                names
                    .into_iter()
                    .chain([Cell::words(cell), ratio])
                    .collect(),
            )
        })
        .collect();
    if rows.is_empty() {
        return section("slower", "Where ours is slower", Vec::new());
    }
    section(
        "slower",
        "Where ours is slower",
        vec![
            Block::Text(
                "Every cell in which a limiter of ours is shown to be slower than a rival of the same rule, the \
                 worst first. Of `governor`, the store with the hasher of ours is compared; it has no cap on keys, and ours \
                 have."
                    .into(),
            ),
            table(
                "Where ours is slower",
                ["ours", "rival", "where", "ours ÷ rival"]
                    .map(Column::new)
                    .to_vec(),
                rows,
            ),
            Block::Data(vec!["throughput.csv", "keyed.csv"]),
        ],
    )
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// The published run of many short rounds.
    const PUBLISHED: &str = "../../results/2026-12-01-amd-epyc-2-cores";

    #[test]
    fn every_pair_whose_ranges_lie_apart_to_our_loss_is_listed() {
        let run = Run::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join(PUBLISHED)).unwrap();
        let losses = losses(&run);
        assert!(losses.iter().all(|(_, compared)| compared.high < 1.0));
        let mut apart = 0;
        for pair in pairs(&run) {
            let ours = run.speed(pair.ours, pair.cell).unwrap().rates;
            let rival = run.speed(pair.rival, pair.cell).unwrap().rates;
            let is_listed = losses.iter().any(|(listed, _)| {
                (listed.ours, listed.rival, listed.cell) == (pair.ours, pair.rival, pair.cell)
            });
            if ours.max < rival.min {
                apart += 1;
                assert!(is_listed, "{} and {}", pair.ours, pair.rival);
            }
            assert!(!is_listed || ours.median < rival.median);
        }
        assert!(apart > 0);
    }
}
