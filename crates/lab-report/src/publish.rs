//! Publishing a run: a copy under its date and machine, the index, and the README's figures.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use windowpane_lab_measure::folder;

use super::companions::{self, is_latest};
use super::compare;
use super::kept::{self, is_listed};
use super::markdown::text::{code, table};
use super::readme;
use super::run::Run;

/// What was published.
#[derive(Debug)]
pub struct Published {
    /// The run's folder.
    pub place: PathBuf,
    /// The benches whose runs lie in it, too.
    pub with: Vec<String>,
    /// Those whose runs were found beside the run and left there, and why.
    pub left_out: Vec<(String, String)>,
}

/// Copies the run in `latest` to `results/<date>-<machine>/`; never over one that is there. The
/// machine is `name`, or what its processor is called. Of the runs of other benches beside it, each
/// `latest-NAME`, those that belong to it go along, as `NAME/` inside of it. Only listed files are
/// copied ([`is_listed`]), and no folders.
///
/// # Errors
/// If there is no run, it is partial, or the place is taken or cannot be written.
pub fn publish(latest: &Path, results: &Path, name: Option<&str>) -> Result<Published> {
    let run = Run::load(latest)?;
    if !run.environment.partial.is_empty() {
        bail!(
            "the run is partial ({}): run `cargo bench -- --full` again",
            run.environment.partial
        );
    }
    let date = run.environment.began.get(..10).unwrap_or("undated");
    let machine = slug(name.unwrap_or(&format!(
        "{}-{}-cores",
        run.environment.cpu, run.environment.cores
    )));
    if machine.is_empty() {
        bail!("a machine's name needs a letter or a digit");
    }
    let (mut with, mut left_out) = (Vec::new(), Vec::new());
    for companion in companions::beside(latest)? {
        let taken = latest.join(&companion.name).exists();
        let reason = match taken {
            true => Some(format!("the run has a `{}` of its own", companion.name)),
            false => companion.strange_to(&run.environment),
        };
        match reason {
            Some(reason) => left_out.push((companion.name, reason)),
            None => with.push(companion),
        }
    }
    let place = results.join(format!("{date}-{machine}"));
    folder::create(&place, |new| {
        copy(latest, new)?;
        for companion in &with {
            let inside = new.join(&companion.name);
            fs::create_dir(&inside)?;
            copy(&companion.folder, &inside)?;
        }
        Ok(())
    })?;
    super::render(&place)?;
    Ok(Published {
        place,
        with: with.into_iter().map(|companion| companion.name).collect(),
        left_out,
    })
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    for entry in fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))? {
        let path = entry?.path();
        let name = folder_name(&path);
        if path.is_file() && is_listed(&name) {
            fs::copy(&path, to.join(name))
                .with_context(|| format!("cannot copy {}", path.display()))?;
        }
    }
    Ok(())
}

/// A name that fits a folder: lower case, digits and single dashes.
fn slug(name: &str) -> String {
    let words = name.split(|letter: char| !letter.is_ascii_alphanumeric());
    let words: Vec<String> = words
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    words.join("-")
}

/// The published runs, the newest first.
pub(super) fn published(results: &Path) -> Result<Vec<Run>> {
    let mut runs: Vec<Run> = fs::read_dir(results)
        .with_context(|| format!("cannot read {}", results.display()))?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.join("environment.json").is_file())
        .filter(|path| !is_latest(path))
        .map(|folder| Run::load(&folder))
        .collect::<Result<_>>()?;
    // Not by folder: two runs of a day differ only in their names.
    runs.sort_by(|a, b| b.environment.began.cmp(&a.environment.began));
    Ok(runs)
}

/// The published run that began last, read from its folder; `None` if there is none.
///
/// # Errors
/// If the folder of runs or that run cannot be read.
pub fn newest(results: &Path) -> Result<Option<Run>> {
    Ok(published(results)?.into_iter().next())
}

/// The last part of a path.
pub(super) fn folder_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// The index above its table.
fn introduction() -> String {
    format!(
        "\
# Published runs

Each folder is one run: raw rows as CSV, the environment, the histograms (`{}`, an
interval log of HdrHistogram), and a report made from them. `cargo bench` and `cargo lab publish` make
one, and no run is overwritten. This folder keeps at most {} runs, in {} files and {} MB, and the newest one's
page; publishing removes what is more. Older runs are in the history: `git log -- results`.

The mode tells how much was measured: `full` (`cargo bench -- --full`) is every cell; `default` and
`quick` are fewer rounds and cells. *Beside it* are the runs of other benches at the same revision.
`cargo lab compare A B` says which rows of two runs changed.
`cargo lab publish` writes this index.

",
        folder::HISTOGRAMS,
        kept::RUNS,
        kept::FILES,
        kept::BYTES / 1_000_000
    )
}

/// Writes `results/README.md`: every published run, the newest first.
///
/// # Errors
/// If a run cannot be read or the index not be written.
pub fn write_index(results: &Path) -> Result<()> {
    let runs = published(results)?;
    let rows: Vec<Vec<String>> = runs
        .iter()
        .map(|run| {
            let name = folder_name(&run.folder);
            let environment = &run.environment;
            let beside = companions::inside(&run.folder)?;
            let links: Vec<String> = beside.iter().map(|c| c.link(&format!("{name}/"))).collect();
            Ok(vec![
                format!("[{name}]({name}/REPORT.md)") + &page(run) + &compared(run),
                environment.cpu.clone(),
                environment.cores.to_string(),
                environment.mode.clone(),
                code(
                    environment
                        .git_revision
                        .get(..12)
                        .unwrap_or(&environment.git_revision),
                ),
                links.join(", "),
                code(&environment.command),
            ])
        })
        .collect::<Result<_>>()?;
    let header = [
        "run",
        "processor",
        "cores",
        "mode",
        "revision",
        "beside it",
        "command",
    ]
    .map(String::from);
    let list = match rows.is_empty() {
        true => "None yet.\n".to_string(),
        false => table(&header, &rows),
    };
    folder::text(
        results,
        "README.md",
        &format!("{}{}\n", introduction(), list.trim_end()),
    )
}

/// A link to the run's page for a browser, where it has one: runs of before the page have none.
fn page(run: &Run) -> String {
    match run.folder.join("report.html").is_file() {
        true => format!(" ([page]({}/report.html))", folder_name(&run.folder)),
        false => String::new(),
    }
}

/// The link to the comparison that a run keeps with another.
fn compared(run: &Run) -> String {
    match run.folder.join(compare::FILE).is_file() {
        true => format!(
            " ([compared]({}/{}))",
            folder_name(&run.folder),
            compare::FILE
        ),
        false => String::new(),
    }
}

/// The files with a region of figures, and the way from each to `results/`.
const WITH_FIGURES: [(&str, &str); 2] = [
    ("README.md", "results"),
    ("crates/windowpane/WHICH.md", "../../results"),
];

/// Fills the regions of figures in the project's pages from the newest published run; tells the
/// files.
///
/// # Errors
/// If there is no such run, or a file has no region between the markers; no file is changed then.
pub fn fill_figures(workspace: &Path) -> Result<Vec<PathBuf>> {
    let results = workspace.join("results");
    let runs = published(&results)?;
    let Some(run) = runs.first() else {
        bail!("no published run in {}", results.display());
    };
    let filled: Vec<(PathBuf, String)> = WITH_FIGURES
        .iter()
        .map(|(file, way)| {
            let file = workspace.join(file);
            let told = || file.display().to_string();
            let text =
                fs::read_to_string(&file).with_context(|| format!("cannot read {}", told()))?;
            let place = format!("{way}/{}", folder_name(&run.folder));
            let text = readme::fill(&text, run, &place).with_context(told)?;
            Ok((file, text))
        })
        .collect::<Result<_>>()?;
    for (file, text) in &filled {
        folder::put(file, text.as_bytes())?;
    }
    Ok(filled.into_iter().map(|(file, _)| file).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machines_name_fits_a_folder() {
        assert_eq!(slug("AMD EPYC (2 cores)"), "amd-epyc-2-cores");
        assert_eq!(slug("../../etc"), "etc");
        assert_eq!(slug("—"), "");
    }
}
