//! One run under callgrind, read.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::record::{Count, Record};

/// What the program calls the function that is counted.
const MEASURED: &str = "windowpane_measured";

/// Runs the program under callgrind, which writes one file whenever the measured function returns.
pub(super) fn count(program: &str) -> Result<Record> {
    let folder = tempfile::tempdir().context("cannot make a folder for what callgrind writes")?;
    let base = folder.path().join("counts");
    let output = Command::new("valgrind")
        .args(["--quiet", "--tool=callgrind"])
        .arg(format!("--callgrind-out-file={}", base.display()))
        .arg(format!("--toggle-collect={MEASURED}"))
        .arg(format!("--dump-after={MEASURED}"))
        .arg(program)
        .stderr(Stdio::inherit())
        .output()
        .context("cannot start valgrind")?;
    ensure!(output.status.success(), "valgrind: {}", output.status);
    let text = String::from_utf8_lossy(&output.stdout);
    let line = |name: &str| {
        let prefix = format!("{name}: ");
        let found = text.lines().find_map(|line| line.strip_prefix(&prefix));
        found.with_context(|| format!("the program did not print its {name}"))
    };
    let calls: u64 = line("calls")?.parse().context("a number of calls")?;
    let cases = text.lines().filter_map(|line| line.strip_prefix("case: "));
    let instructions = (1..)
        .zip(cases)
        .map(|(number, case)| {
            let total = total(&base.with_extension(number.to_string()))
                .with_context(|| format!("what callgrind wrote of `{case}`"))?;
            // A case that was not entered would look like a very fast one.
            ensure!(
                total > calls,
                "`{case}`: {total} instructions in {calls} calls"
            );
            Ok((case.to_owned(), Count::of(total, calls)))
        })
        .collect::<Result<Vec<_>>>()?;
    ensure!(!instructions.is_empty(), "the program printed no case");
    Ok(Record {
        rustc: String::new(),
        processor: line("processor")?.into(),
        instructions: instructions.into_iter().collect(),
    })
}

/// The total of one file: `totals: N`, one event being collected, or `summary: N` before it.
fn total(path: &Path) -> Result<u64> {
    let text =
        std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    total_of(&text).context("a line `totals: N` was expected")
}

fn total_of(text: &str) -> Option<u64> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("totals: "))?;
    line.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_is_read_and_nothing_else_is() {
        let text = "version: 1\nevents: Ir\nsummary: 7\n\nfn=(1) f\n3 42\n\ntotals: 42\n";
        assert_eq!(total_of(text), Some(42));
        assert_eq!(total_of("summary: 42\n"), None);
        assert_eq!(total_of("totals: 42 17\n"), None);
    }
}
