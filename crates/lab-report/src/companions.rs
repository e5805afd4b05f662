//! Runs of other benches beside the main one: `results/latest-NAME`, which `lab publish` takes along
//! as `NAME/` inside the published run.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use windowpane_lab_measure::environment::Environment;
use windowpane_lab_measure::folder;

use super::markdown::text::block;

/// A run of another bench: a folder with a page, `README.md`, and an `environment.json`.
#[derive(Clone, Debug)]
pub(super) struct Companion {
    /// The bench's name.
    pub(super) name: String,
    /// Where it lies.
    pub(super) folder: PathBuf,
    environment: Environment,
}

const PREFIX: &str = "latest-";

/// Whether a folder is where a bench records, `latest` or, of the target `redis`, `latest-redis`:
/// what lies there is published nowhere.
pub(super) fn is_latest(folder: &Path) -> bool {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    name == "latest" || name.starts_with(PREFIX)
}

/// Records a run of the bench `name` in `latest-NAME`, whole, in place of the one before: its page,
/// its environment, and what `fill` writes beside them, every round as a row of `NAME.csv`. `page`
/// begins with its title; below it is put how the run is made again.
///
/// # Errors
/// If it cannot be written, or `fill` fails; the run before stands then.
pub fn record(
    name: &str,
    environment: &Environment,
    page: &str,
    fill: impl FnOnce(&Path) -> Result<()>,
) -> Result<PathBuf> {
    let place = folder::results().join(format!("{PREFIX}{name}"));
    folder::replace(&place, |new| {
        folder::text(new, "README.md", &reproducible(name, environment, page))?;
        folder::environment(new, environment)?;
        fill(new)
    })?;
    Ok(place)
}

/// The page of a run, and below its title the command and the environment.
fn reproducible(name: &str, environment: &Environment, page: &str) -> String {
    let (title, rest) = page.split_once("\n\n").unwrap_or((page.trim_end(), ""));
    let dirty = match environment.git_dirty {
        Some(false) => "",
        Some(true) => " with changes",
        None => ", maybe with changes",
    };
    format!(
        "{title}\n\n{}at revision `{}`{dirty} on {}, {} cores, {}, {}; others kept the cores {:.0} % busy \
         just before. All of it is in `environment.json`; every round is a row of `{name}.csv`.\n\n{rest}",
        block("sh", &environment.command),
        environment.git_revision,
        environment.cpu,
        environment.cores,
        environment.kernel,
        environment.began,
        environment.busy_percent,
    )
}

/// The companions beside `latest`, by name.
///
/// # Errors
/// If the folder, or the environment of a companion, cannot be read.
pub(super) fn beside(latest: &Path) -> Result<Vec<Companion>> {
    let folder = latest.parent().unwrap_or(Path::new("."));
    read(folder, PREFIX)
}

/// The companions inside of a published run, by name.
///
/// # Errors
/// If the folder, or the environment of a companion, cannot be read.
pub(super) fn inside(run: &Path) -> Result<Vec<Companion>> {
    read(run, "")
}

/// The folders called `prefix` and a name, with an environment in them.
fn read(folder: &Path, prefix: &str) -> Result<Vec<Companion>> {
    let mut companions = Vec::new();
    for entry in
        fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?
    {
        let path = entry?.path();
        let environment = path.join("environment.json");
        let called = path.file_name().unwrap_or_default().to_string_lossy();
        let name = called.strip_prefix(prefix);
        let Some(name) = name.filter(|_| environment.is_file()) else {
            continue;
        };
        let text = fs::read_to_string(&environment)
            .with_context(|| format!("cannot read {}", environment.display()))?;
        companions.push(Companion {
            name: name.to_owned(),
            environment: serde_json::from_str(&text)
                .with_context(|| format!("{} is malformed", environment.display()))?,
            folder: path,
        });
    }
    companions.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(companions)
}

impl Companion {
    /// Why it does not belong to the run of `main`; `None` if it does: both are of one revision that
    /// nobody had changed, on one machine, and it is whole.
    pub(super) fn strange_to(&self, main: &Environment) -> Option<String> {
        let own = &self.environment;
        let short = |revision: &str| revision.get(..12).unwrap_or(revision).to_owned();
        if own.git_dirty != Some(false) {
            return Some(unclean("it", own.git_dirty));
        }
        if main.git_dirty != Some(false) {
            return Some(unclean("the run", main.git_dirty));
        }
        if own.git_revision != main.git_revision {
            return Some(format!(
                "it was measured at revision {}, the run at {}",
                short(&own.git_revision),
                short(&main.git_revision)
            ));
        }
        if (&own.cpu, own.cores) != (&main.cpu, main.cores) {
            return Some(format!(
                "it was measured on {} with {} cores, the run on {} with {}",
                own.cpu, own.cores, main.cpu, main.cores
            ));
        }
        if !own.partial.is_empty() {
            return Some(format!("it is partial ({})", own.partial));
        }
        let page = self.folder.join("README.md");
        (!page.is_file()).then(|| format!("it has no page: expected {}", page.display()))
    }

    /// A link to its page, as seen from `place`, the way to the run's folder.
    pub(super) fn link(&self, place: &str) -> String {
        let name = &self.name;
        format!("[{name}]({place}{name}/README.md)")
    }
}

fn unclean(who: &str, dirty: Option<bool>) -> String {
    match dirty {
        Some(_) => format!("{who} was measured on a changed work tree"),
        None => format!("whether {who} was measured on a changed work tree is unknown"),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use windowpane_lab_measure::plan::Mode;

    #[test]
    fn a_page_begins_with_its_title_and_then_how_the_run_is_made_again() {
        let mut environment = Environment::observe(Path::new("/"));
        environment.command = "A_VARIABLE='x' cargo bench -- --full".into();
        environment.close_target("http", Mode::Full, 7, 3, Duration::from_millis(1_250));
        environment.git_revision = "0123".into();
        environment.git_dirty = Some(true);
        assert_eq!((environment.rounds, environment.rounds_planned), (3, 3));
        assert_eq!((environment.seconds, environment.seed), (1.3, 7));
        let page = reproducible("http", &environment, "# Over HTTP\n\nAll.\n\n## More\n");
        let head = "# Over HTTP\n\n```sh\nA_VARIABLE='x' cargo bench --bench http -- --full\n```\n\n\
                    at revision `0123` with changes on ";
        assert!(page.starts_with(head), "{page}");
        assert!(
            page.ends_with("is a row of `http.csv`.\n\nAll.\n\n## More\n"),
            "{page}"
        );
    }

    #[test]
    fn only_where_a_bench_records_is_latest() {
        for (name, latest) in [
            ("latest", true),
            ("latest-redis", true),
            ("2026-01-01-latest", false),
            ("latestones", false),
        ] {
            assert_eq!(
                is_latest(&Path::new("results").join(name)),
                latest,
                "{name}"
            );
        }
    }
}
