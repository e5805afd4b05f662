//! The texts of the shipped source that the mutants of `loom-tests` quote.

// The build script of `loom-tests` uses the rest of both.
#[allow(dead_code)]
#[path = "../../../loom-tests/build/source.rs"]
mod source;
#[path = "../../../loom-tests/build/stale.rs"]
mod stale;
#[allow(dead_code, unused_imports)]
#[path = "../../../loom-tests/build/table/mod.rs"]
mod table;

use std::path::Path;
use std::{env, fs, io};

use anyhow::{Context as _, bail};

use crate::tools::workspace;

/// Set while a fault is seeded into the source: mutants of the changed text are then the source as it
/// stands.
pub(crate) const SEEDED: &str = "WINDOWPANE_SEEDED";

/// Checks that the source has every text that a mutant quotes, before `cargo loom` or `cargo shuttle` compiles it.
///
/// # Errors
/// With each mutant whose text it has not, and the file.
pub(crate) fn check(explorer: &str) -> anyhow::Result<()> {
    if env::var_os(SEEDED).is_some() {
        return Ok(());
    }
    let folder = workspace().join("loom-tests");
    check_in(explorer, |path| fs::read_to_string(folder.join(path)))
}

/// [`check`] of the files that `read` returns.
fn check_in(explorer: &str, read: impl Fn(&Path) -> io::Result<String>) -> anyhow::Result<()> {
    let stale = stale::stale(read).context("cannot read the shipped source")?;
    if stale.is_empty() {
        return Ok(());
    }
    let lines: Vec<String> = stale.iter().map(|stale| format!("  {stale}\n")).collect();
    bail!(
        "nothing was checked: the shipped source has changed under its mutants. No model ran and \
         no bug was found.\n{}\
         Update `shipped` and `seeded` of each in loom-tests/build/table. To run the models of the \
         changed source without its mutants: `{SEEDED}=1 cargo {explorer} ships`.",
        lines.concat()
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shipped(path: &Path) -> io::Result<String> {
        fs::read_to_string(workspace().join("loom-tests").join(path))
    }

    #[test]
    fn the_source_has_every_text_that_a_mutant_quotes() {
        check_in("loom", shipped).unwrap();
    }

    #[test]
    fn a_changed_source_is_reported_with_its_file_and_mutant() {
        let changed = |from: &'static str, to: &'static str| {
            let read = move |path: &Path| Ok(shipped(path)?.replace(from, to));
            let error = check_in("shuttle", read).unwrap_err().to_string();
            assert!(error.starts_with("nothing was checked: "));
            assert!(error.ends_with("`WINDOWPANE_SEEDED=1 cargo shuttle ships`."));
            error
        };
        let quoted = "if !std::mem::take(&mut waiter.is_woken) {";
        let error = changed(quoted, "if true {");
        assert_eq!(error.matches("mutant ").count(), 1, "{error}");
        assert!(
            error.contains(
                "mutant queue::sleeps_though_woken quotes text that stands 0 times in \
                 crates/core/src/wait/waiters.rs, not once: `if !std::mem::take"
            ),
            "{error}"
        );
        let error = changed("guard.change_at(clock(), quotas)", "let now = clock();");
        assert!(
            error.contains("changeable::changes_a_second_time"),
            "{error}"
        );
        assert!(error.contains("crates/core/src/change.rs"), "{error}");
        let doubled = "self.with(|limiter| limiter.decide_at(now, cost));\nself.with(|limiter| limiter.decide_at(now, cost))";
        let error = changed("self.with(|limiter| limiter.decide_at(now, cost))", doubled);
        assert!(error.contains("stands 2 times"), "{error}");
    }
}
