//! `MODELS.md`: every model and every mutant.

use std::fmt::Write as _;

use super::scripts::{self, Script};
use super::table::{Limiter, MODELS, Mutant, mutants};

const START: &str = "\
# Models and mutants

Written by the test `table` from `build/table` and `src/scripts`; it fails when this page is not what
they say. How to read it: [README.md](README.md).

## Models

The bound is on preemptions, and holds for the rings and the flat table; the log and the one-word
limiters are explored exhaustively.

| model | the race | bound | limiters that hold under it |
|---|---|---|---|
";

pub(crate) fn page() -> String {
    let mut page = String::from(START);
    for script in scripts::all() {
        let Script { name, race, .. } = &script;
        let bound = script.bound.unwrap_or("none");
        writeln!(
            page,
            "| `{name}` | {race} | {bound} | {} |",
            limiters(&script)
        )
        .unwrap();
    }
    page.push_str("\n## Mutants\n");
    let mut of = None;
    for mutant in mutants() {
        if of != Some(mutant.of) {
            of = Some(mutant.of);
            write!(page, "\n### {}\n\n| mutant | its bug | instead of | it has | found by |\n|---|---|---|---|---|\n", mutant.of.module().replace('_', "-")).unwrap();
        }
        let Mutant {
            name,
            bug,
            shipped,
            seeded,
            ..
        } = mutant;
        let (shipped, seeded) = (code(shipped), code(seeded));
        writeln!(
            page,
            "| `{name}` | {bug} | {shipped} | {seeded} | {} |",
            found_by(mutant)
        )
        .unwrap();
    }
    page
}

fn limiters(script: &Script) -> String {
    let path = script.path();
    let held = MODELS
        .iter()
        .filter(|(_, models)| models.contains(&path.as_str()));
    let names: Vec<String> = held.map(|(limiter, _)| name(*limiter)).collect();
    names.join(", ")
}

fn name(limiter: Limiter) -> String {
    limiter.name().replace('_', "-")
}

fn found_by(mutant: &Mutant) -> String {
    let model = |model: &str| format!("`{}`", model.split("::").last().unwrap_or(model));
    let found = mutant.found_by.iter();
    let texts: Vec<String> = found
        .map(
            |(limiter, path)| match mutant.of.module() == limiter.name() {
                true => model(path),
                false => format!("{} ({})", model(path), name(*limiter)),
            },
        )
        .collect();
    texts.join(", ")
}

/// Code in a cell of a table.
fn code(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    match words.is_empty() {
        true => "nothing".into(),
        false => format!("`{}`", words.join(" ").replace('|', "\\|")),
    }
}
