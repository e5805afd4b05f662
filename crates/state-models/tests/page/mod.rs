//! The published counts of states.

use windowpane_state_models::check::{Explored, Model, explore};

/// More states than any model here has.
pub(crate) const MOST: usize = 4_000_000;

/// Explores a model, which must hold, and returns its row of the page.
pub(crate) fn row<M: Model>(of: &str, name: &str, threads: usize, model: &M) -> String {
    let explored = explore(model, MOST);
    let Explored { states, steps } =
        explored.unwrap_or_else(|fault| panic!("{of}, {name}: {fault}"));
    format!("| {of} | `{name}` | {threads} | {states} | {steps} |")
}

/// Fails unless the page has these rows.
pub(crate) fn check(rows: &[String]) {
    let page = include_str!("../../README.md");
    let missing: Vec<&str> = rows
        .iter()
        .map(String::as_str)
        .filter(|row| !page.contains(row))
        .collect();
    assert!(
        missing.is_empty(),
        "README.md lacks these rows:\n{}",
        missing.join("\n")
    );
}
