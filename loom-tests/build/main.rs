//! Writes the mutants: each is the shipped source with one seeded bug, so that it never drifts from
//! what ships. A mutant whose quoted text the source no longer has stops the build.

mod source;
mod stale;
mod table;

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use source::Source;
use stale::Stale;
use table::{Limiter, MODELS, Mutant, Shipped, all_mutants, mutants};

/// Set by `cargo xtask faults`, which changes the source and runs the models on it. A mutant whose
/// quoted text is gone is then the source as it stands.
const SEEDED: &str = "WINDOWPANE_SEEDED";

fn main() {
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-env-changed={SEEDED}");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let mut modules = String::new();
    for shipped in Shipped::ALL {
        writeln!(modules, "pub mod {} {{", shipped.module()).unwrap();
        for mutant in all_mutants().filter(|mutant| mutant.of == shipped) {
            if let Err(problem) = write_mutant(&out, mutant, &mut modules) {
                println!("cargo::error={problem}");
            }
        }
        modules.push_str("}\n");
    }
    write(&out.join("mutants.rs"), &modules);
    for (limiter, models) in MODELS {
        write(
            &out.join(format!("{}.rs", limiter.name())),
            &tests(*limiter, models),
        );
    }
}

/// The tests of one limiter: a macro call for each model, and for each mutant of the limiter.
fn tests(limiter: Limiter, models: &[&str]) -> String {
    let mut tests = String::from("mod ships {\n");
    for model in models {
        writeln!(tests, "model!({model});").unwrap();
    }
    tests.push_str("}\nmod mutants {\n");
    for Mutant {
        name, of, found_by, ..
    } in mutants()
    {
        let models: Vec<_> = found_by
            .iter()
            .filter(|(under, _)| *under == limiter)
            .collect();
        if !models.is_empty() {
            writeln!(tests, "mod {name} {{").unwrap();
            for (_, model) in models {
                writeln!(tests, "mutant!({} {name} {model});", of.module()).unwrap();
            }
            tests.push_str("}\n");
        }
    }
    tests.push_str("}\n");
    tests
}

/// Writes the files of one mutant, and into `modules` the module that holds them.
///
/// # Errors
/// A message if the mutant cannot be made.
fn write_mutant(out: &Path, mutant: &Mutant, modules: &mut String) -> Result<(), String> {
    let Mutant { name, bug, .. } = mutant;
    let folder = out.join(mutant.of.module()).join(name);
    fs::create_dir_all(&folder).expect("OUT_DIR is writable");
    if mutant.found_by.is_empty() {
        modules.push_str("#[cfg(windowpane_shuttle)]\n");
    }
    writeln!(modules, "/// {bug}.\npub mod {name} {{").unwrap();
    let mut changed = false;
    for file in mutant.of.files() {
        let path = Path::new(mutant.of.folder()).join(file);
        println!("cargo::rerun-if-changed={}", path.display());
        let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let mut source = Source::new(&text);
        if mutant.file == *file {
            source = match source.replaced(mutant.shipped, mutant.seeded) {
                Ok(source) => source,
                Err(_) if env::var_os(SEEDED).is_some() => Source::new(&text),
                Err(found) => {
                    let stale = Stale::new(mutant, found);
                    return Err(format!(
                        "nothing was checked: {stale}. The source has changed: update the mutant \
                         in loom-tests/build/table. No bug was found."
                    ));
                }
            };
            changed = true;
        }
        let copy = folder.join(file);
        write(&copy, &adapted(mutant.of, source).into_text());
        let module = file.trim_end_matches(".rs");
        writeln!(modules, "#[path = {copy:?}]\nmod {module};").unwrap();
    }
    writeln!(modules, "{}\n}}", mutant.of.glue()).unwrap();
    match changed {
        true => Ok(()),
        false => Err(format!(
            "mutant {name}: {} has no file {}",
            mutant.of.module(),
            mutant.file
        )),
    }
}

/// The source in the form in which it compiles in a mutant's module.
fn adapted(of: Shipped, source: Source) -> Source {
    // A mutant's module is to its files what the crate's root is to the shipped ones.
    let source = source.with("crate::", "super::");
    match of {
        // The rules are the shipped ones, so their traits and answers are too.
        Shipped::OneWord => source
            .without("pub const REQUIRED_RANGE", "#[repr(align(64))]")
            .with(
                "use super::sync",
                "use windowpane_core::one_word::{ChangeRule, OneWordRule, SettleRule, Verdict};\nuse super::sync",
            ),
        // The limiter with a clock is the shipped one.
        Shipped::Changeable => source.without(
            "impl<L: ChangeQuotas, C: Clock> Limiter<",
            "impl<L: RateLimiter> RateLimiter for",
        ),
        // A charge can be made in its own crate alone, so a mutant does not settle.
        Shipped::Queue => source.without(
            "impl<L: Settle, C: Clock> Queue",
            "impl<L: RateLimiter, C> fmt::Debug",
        ),
        _ => source,
    }
}

fn write(path: &Path, text: &str) {
    fs::write(path, text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
}
