//! The table of models and mutants, held against the scripts, and `MODELS.md` against both. Runs
//! without loom too.

mod page;
mod scripts;
#[allow(dead_code)]
#[path = "../../build/table/mod.rs"]
mod table;

use std::collections::BTreeSet;
use std::path::Path;

use table::{Limiter, MODELS, mutants};

/// Each model on each limiter that has to hold under it.
fn held() -> impl Iterator<Item = (Limiter, &'static str)> {
    let models = MODELS.iter();
    models.flat_map(|(limiter, models)| models.iter().map(|model| (*limiter, *model)))
}

#[test]
fn every_script_is_a_model_of_some_limiter() {
    let scripts: BTreeSet<String> = scripts::all().map(|script| script.path()).collect();
    let models: BTreeSet<String> = held().map(|(_, model)| model.into()).collect();
    assert_eq!(scripts, models);
}

#[test]
fn every_model_of_every_limiter_is_shown_to_find_a_bug() {
    let found: Vec<_> = mutants().flat_map(|mutant| mutant.found_by).collect();
    let blind: Vec<_> = held().filter(|held| !found.contains(&held)).collect();
    assert!(blind.is_empty(), "no mutant is found by {blind:?}");
}

#[test]
fn a_mutant_is_found_by_models_that_the_shipped_limiter_holds_under() {
    let held: Vec<_> = held().collect();
    for mutant in mutants() {
        assert!(
            !mutant.found_by.is_empty(),
            "{} is found by none",
            mutant.name
        );
        for found_by in mutant.found_by {
            assert!(held.contains(found_by), "{}: {found_by:?}", mutant.name);
        }
    }
}

#[test]
fn the_page_of_models_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("MODELS.md");
    let page = page::page();
    if std::env::var_os("WINDOWPANE_WRITE_PAGES").is_some() {
        std::fs::write(&path, page).expect("the package's folder is writable");
        return;
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == page,
        "MODELS.md does not say what build/table and src/scripts say: write it anew by \
         `WINDOWPANE_WRITE_PAGES=1 cargo test -p windowpane-loom-tests --test table`"
    );
}
