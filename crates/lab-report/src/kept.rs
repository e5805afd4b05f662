//! The size of `results/`: the newest run with its page, older runs without theirs, at most three in
//! all. What is removed stays in the history of the repository.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::companions::is_latest;
use super::publish::{folder_name, published};
use super::{PAGE_FILE, compare, readme};
use windowpane_lab_measure::environment::output;
use windowpane_lab_measure::folder::{self, HISTOGRAMS};

/// The most folders of `results/`.
pub const RUNS: usize = 3;
/// The most files of `results/`.
pub const FILES: usize = 150;
/// The most bytes of `results/`.
pub const BYTES: u64 = 6_000_000;

/// The files that every published run may hold, beside its CSV files.
const DATA: [&str; 5] = [
    "README.md",
    "REPORT.md",
    "environment.json",
    HISTOGRAMS,
    "soak.txt",
];

/// Whether a published run may hold a file of this name.
pub fn is_listed(name: &str) -> bool {
    name.ends_with(".csv") || DATA.contains(&name) || is_page(name)
}

/// Whether the file belongs to the page, which the newest run alone holds: the page itself, its
/// charts, the comparison with another run.
fn is_page(name: &str) -> bool {
    name.ends_with(".svg") || name == PAGE_FILE || name == compare::FILE
}

/// Removes the pages of all runs but the newest, then the oldest runs until the limits hold. It
/// keeps the newest run, the run `against` that it was compared with, and each run for which
/// `in_history` is false. Returns a line for each removal.
///
/// # Errors
/// If a run cannot be read or a file not be removed.
pub fn trim(
    results: &Path,
    against: Option<&Path>,
    in_history: impl Fn(&Path) -> bool,
) -> Result<Vec<String>> {
    let older: Vec<PathBuf> = older(results)?;
    let against = against.and_then(|folder| folder.canonicalize().ok());
    let is_against = |folder: &Path| against.is_some() && folder.canonicalize().ok() == against;
    // Before any page is removed: that is a change, too.
    let mut removable: Vec<&PathBuf> = older
        .iter()
        .filter(|folder| !is_against(folder) && in_history(folder))
        .collect();
    let mut removed = Vec::new();
    for folder in &older {
        if remove_page(folder)? {
            removed.push(format!("the page and the charts of {}", folder.display()));
        }
    }
    while Size::of(results)?.exceeds() {
        let Some(oldest) = removable.pop() else { break };
        fs::remove_dir_all(oldest)
            .with_context(|| format!("cannot remove {}", oldest.display()))?;
        removed.push(oldest.display().to_string());
    }
    Ok(removed)
}

/// Checks that `results/` is within its limits, and that the newest run alone has a page.
///
/// # Errors
/// If not, with what to remove.
pub fn check(results: &Path) -> Result<()> {
    let older = older(results)?;
    for folder in &older {
        if let Some(file) = page_files(folder)?.first() {
            bail!(
                "only the newest run keeps its page and its charts: remove {}",
                file.display()
            );
        }
    }
    let size = Size::of(results)?;
    if size.exceeds() {
        let oldest = older.last().map_or_else(
            || "files".to_string(),
            |folder| format!("the oldest run, `git rm -r {}`", folder.display()),
        );
        bail!(
            "{} holds {} runs, {} files and {:.1} MB, of at most {RUNS}, {FILES} and {:.1}: commit all, \
             so that it stays in the history, then remove {oldest}",
            results.display(),
            size.runs,
            size.files,
            size.bytes as f64 / 1e6,
            BYTES as f64 / 1e6
        );
    }
    Ok(())
}

/// Whether git has committed the folder as it is: no file in it is changed, new or ignored.
pub fn in_history(folder: &Path) -> bool {
    let status = [
        "status",
        "--porcelain",
        "--untracked-files=all",
        "--ignored",
    ];
    let changed = output("git", &[&status[..], &["--", "."]].concat(), folder);
    changed.is_some_and(|files| files.is_empty())
}

/// The folders of the published runs but the newest, the oldest last.
fn older(results: &Path) -> Result<Vec<PathBuf>> {
    let runs = published(results)?.into_iter().skip(1);
    Ok(runs.map(|run| run.folder).collect())
}

/// The files of a run that belong to a page, those of its companions too.
fn page_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = files(folder)?;
    files.retain(|file| is_page(&folder_name(file)));
    Ok(files)
}

/// Removes the page of a run, and what its Markdown says of it; returns whether there was one.
fn remove_page(run: &Path) -> Result<bool> {
    let page = page_files(run)?;
    for file in &page {
        fs::remove_file(file).with_context(|| format!("cannot remove {}", file.display()))?;
    }
    for file in files(run)? {
        if file.extension().is_none_or(|extension| extension != "md") {
            continue;
        }
        let text =
            fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let without = readme::without_page(&text);
        if without != text {
            folder::put(&file, without.as_bytes())?;
        }
    }
    Ok(!page.is_empty())
}

/// How much is in `results/`, without what the benches recorded last.
struct Size {
    runs: usize,
    files: usize,
    bytes: u64,
}

impl Size {
    fn of(results: &Path) -> Result<Size> {
        let mut size = Size {
            runs: 0,
            files: 0,
            bytes: 0,
        };
        for path in entries(results)? {
            // A run that is being written lies in a hidden folder.
            if is_latest(&path) || folder_name(&path).starts_with('.') {
                continue;
            }
            size.runs += usize::from(path.is_dir());
            for file in files(&path)? {
                size.files += 1;
                size.bytes += fs::metadata(&file)?.len();
            }
        }
        Ok(size)
    }

    fn exceeds(&self) -> bool {
        self.runs > RUNS || self.files > FILES || self.bytes > BYTES
    }
}

/// The files of a folder and of all folders in it, or the file itself.
fn files(path: &Path) -> Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.into()]);
    }
    let mut found = Vec::new();
    for entry in entries(path)? {
        found.extend(files(&entry)?);
    }
    Ok(found)
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder)
        .and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect())
        .with_context(|| format!("cannot read {}", folder.display()));
    let mut entries: Vec<PathBuf> = entries?;
    entries.sort();
    Ok(entries)
}
