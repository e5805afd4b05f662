//! Two recorded runs, row by row: which rows changed.
//!
//! | where | what |
//! |---|---|
//! | `timed` | rows of speed and latency: compared by their rounds |
//! | `exact` | rows that are the same whenever the code is: bytes, decisions, who waits for a stopped thread |
//! | `told` | the comparison for people, as text and as Markdown |
//! | `before` | `before.csv`: a run's throughput beside that of the run before it |

mod before;
mod exact;
mod timed;
mod told;

use std::path::{Path, PathBuf};

use anyhow::Result;
use serde::Serialize;

pub use before::write_before;
pub use told::{markdown, text};

use super::run::Run;
use windowpane_lab_measure::folder;

/// The name of the schema of [`Comparison`] as JSON: changed whenever a field changes its meaning
/// or goes.
pub const SCHEMA: &str = "windowpane-compare/2";

/// The share of rows without a difference that two runs of one commit should have.
pub const AIM: f64 = 0.95;

/// The file that a published run keeps of its comparison with another.
pub const FILE: &str = "COMPARE.md";

/// What rows are of. The order is that of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Decisions a second of one limiter.
    Throughput,
    /// Decisions a second on a traffic, one thread.
    Traffic,
    /// Percentiles of the closed loop.
    ServiceTime,
    /// Percentiles of the open loop.
    ResponseTime,
    /// Decisions a second over many keys.
    Keyed,
    /// Whether others wait for a thread that is stopped.
    Stalled,
    /// Bytes of one limiter.
    Memory,
    /// Bytes of a store of many keys.
    KeyedMemory,
    /// Decisions, as the oracle judges them.
    Accuracy,
}

impl Kind {
    /// All, in the order of the tables.
    pub const ALL: [Kind; 9] = [
        Kind::Throughput,
        Kind::Traffic,
        Kind::ServiceTime,
        Kind::ResponseTime,
        Kind::Keyed,
        Kind::Stalled,
        Kind::Memory,
        Kind::KeyedMemory,
        Kind::Accuracy,
    ];

    /// As tables say it.
    pub const fn word(self) -> &'static str {
        match self {
            Kind::Throughput => "throughput",
            Kind::Traffic => "speed on a traffic",
            Kind::ServiceTime => "service time",
            Kind::ResponseTime => "response time",
            Kind::Keyed => "many keys",
            Kind::Stalled => "a stalled thread",
            Kind::Memory => "memory",
            Kind::KeyedMemory => "memory of many keys",
            Kind::Accuracy => "accuracy",
        }
    }
}

/// What a row says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", content = "why", rename_all = "kebab-case")]
pub enum Verdict {
    /// The second run is faster: the interval excludes equality, and the difference is larger than
    /// what the runs show where nothing changed.
    Faster,
    /// The second run is slower, by the same rule.
    Slower,
    /// A timed figure is within 5 %, as its interval shows; an exact one is the same.
    Equal,
    /// Neither a difference nor equality is shown.
    CannotTell,
    /// An exact figure is another: how.
    Changed(String),
    /// There is nothing to compare: why.
    CannotBeCompared(String),
}

impl Verdict {
    /// As tables say it, without the reason.
    pub const fn word(&self) -> &'static str {
        match self {
            Verdict::Faster => "faster",
            Verdict::Slower => "slower",
            Verdict::Equal => "equal",
            Verdict::CannotTell => "cannot tell",
            Verdict::Changed(_) => "changed",
            Verdict::CannotBeCompared(_) => "cannot be compared",
        }
    }

    /// Whether it tells of a difference.
    pub const fn differs(&self) -> bool {
        matches!(
            self,
            Verdict::Faster | Verdict::Slower | Verdict::Changed(_)
        )
    }
}

/// One row of at least one of the runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// What it is of.
    pub kind: Kind,
    /// Who.
    pub contestant: String,
    /// Where: state, threads, load, limit, traffic.
    pub cell: String,
    /// What is measured: `decisions/s`, `p99`, `bytes`.
    pub quantity: &'static str,
    /// In the first run, the median of its rounds: decisions a second, nanoseconds or bytes; `None`
    /// where there is no such figure.
    pub before: Option<f64>,
    /// The same in the second run.
    pub after: Option<f64>,
    /// The second over the first.
    pub ratio: Option<f64>,
    /// The lower end of the interval of `ratio` that decided; `None` for exact figures.
    pub low: Option<f64>,
    /// Its upper end.
    pub high: Option<f64>,
    /// The smallest ratio above 1 that these two runs would have shown.
    pub smallest: Option<f64>,
    /// What it says.
    #[serde(flatten)]
    pub verdict: Verdict,
}

impl Row {
    /// A row that says nothing yet.
    fn new(kind: Kind, contestant: &str, cell: &str, quantity: &'static str) -> Row {
        Row {
            kind,
            contestant: contestant.into(),
            cell: cell.into(),
            quantity,
            before: None,
            after: None,
            ratio: None,
            low: None,
            high: None,
            smallest: None,
            verdict: Verdict::CannotTell,
        }
    }
}

/// How the rows of one kind, or all, came out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Faster in the second run.
    pub faster: u64,
    /// Slower in the second run.
    pub slower: u64,
    /// Within 5 %, and exact figures that are the same.
    pub equal: u64,
    /// Neither a difference nor equality is shown.
    pub cannot_tell: u64,
    /// Exact figures that are not.
    pub changed: u64,
    /// In one run only, or not measured in the same way.
    pub cannot_be_compared: u64,
}

impl Counts {
    fn of<'a>(rows: impl Iterator<Item = &'a Row>) -> Counts {
        let mut counts = Counts::default();
        for row in rows {
            *match row.verdict {
                Verdict::Faster => &mut counts.faster,
                Verdict::Slower => &mut counts.slower,
                Verdict::Equal => &mut counts.equal,
                Verdict::CannotTell => &mut counts.cannot_tell,
                Verdict::Changed(_) => &mut counts.changed,
                Verdict::CannotBeCompared(_) => &mut counts.cannot_be_compared,
            } += 1;
        }
        counts
    }

    /// Rows without a difference.
    pub const fn same(&self) -> u64 {
        self.equal + self.cannot_tell
    }

    /// Rows that could be compared.
    pub const fn compared(&self) -> u64 {
        self.same() + self.faster + self.slower + self.changed
    }

    /// The share of the rows compared that show no difference, or are equal; `None` of none.
    pub fn share(&self) -> Option<f64> {
        (self.compared() > 0).then(|| self.same() as f64 / self.compared() as f64)
    }
}

/// Whether two runs are of the same code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SameCommit {
    /// The same revision, and the work trees were clean.
    Yes,
    /// The same revision, but a work tree differed from it, or it is not known whether.
    Unclean,
    /// Two revisions.
    No,
}

/// One of the two runs, as the comparison tells of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Head {
    /// Its folder's name.
    pub run: String,
    /// When it began.
    pub began: String,
    /// Its git revision.
    pub revision: String,
    /// The processor.
    pub cpu: String,
    /// The cores.
    pub cores: usize,
    /// `quick`, `default` or `full`.
    pub mode: String,
    /// Rounds.
    pub rounds: u32,
    /// Why it is not whole; empty if it is.
    pub partial: String,
}

impl Head {
    fn of(run: &Run) -> Head {
        let environment = &run.environment;
        // A folder may be given as `.`: its own name is told, where it has one.
        let name = run.folder.canonicalize();
        let name = name.as_ref().unwrap_or(&run.folder);
        Head {
            run: match name.file_name() {
                Some(name) => name.to_string_lossy().into_owned(),
                None => run.folder.display().to_string(),
            },
            began: environment.began.clone(),
            revision: environment.git_revision.clone(),
            cpu: environment.cpu.clone(),
            cores: environment.cores,
            mode: environment.mode.clone(),
            rounds: environment.rounds,
            partial: environment.partial.clone(),
        }
    }
}

/// Two recorded runs, compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// The first run.
    pub before: Head,
    /// The second run.
    pub after: Head,
    /// Whether they are of the same code.
    pub same_commit: SameCommit,
    /// Whether the processors have the same name and as many cores.
    pub same_machine: bool,
    /// [`AIM`].
    pub aim: f64,
    /// All rows counted.
    pub all: Counts,
    /// The share of all rows compared that show no difference; `None` of none.
    pub share_without_difference: Option<f64>,
    /// Every row of at least one run, by kind.
    pub rows: Vec<Row>,
}

impl Comparison {
    /// The rows of a kind, counted.
    pub fn counts(&self, kind: Kind) -> Counts {
        Counts::of(self.rows.iter().filter(|row| row.kind == kind))
    }

    /// Whether two runs of one commit on one machine reach the aim; `None` if they are not that, or
    /// nothing could be compared.
    pub fn aim_met(&self) -> Option<bool> {
        let told = self.same_commit == SameCommit::Yes && self.same_machine;
        self.share_without_difference
            .filter(|_| told)
            .map(|share| share >= self.aim)
    }
}

/// Compares two runs: every row of at least one of them, in the order of kinds. O(rows), and
/// for each timed row O(n² log n) of its rounds.
pub fn compare(before: &Run, after: &Run) -> Comparison {
    let (a, b) = (&before.environment, &after.environment);
    let same_commit = match a.git_revision == b.git_revision {
        false => SameCommit::No,
        true if a.git_dirty == Some(false) && b.git_dirty == Some(false) => SameCommit::Yes,
        true => SameCommit::Unclean,
    };
    let mut rows = timed::rows(before, after);
    rows.extend(exact::rows(before, after));
    rows.sort_by_key(|row| row.kind);
    let all = Counts::of(rows.iter());
    Comparison {
        schema: SCHEMA,
        before: Head::of(before),
        after: Head::of(after),
        same_commit,
        same_machine: a.cpu == b.cpu && a.cores == b.cores,
        aim: AIM,
        share_without_difference: all.share(),
        all,
        rows,
    }
}

/// Keeps the comparison of the run in `place` with `before` as [`FILE`] in its folder, and renders
/// the run anew, so that its pages link it. Tells the file.
///
/// # Errors
/// If the run cannot be read or a file not be written.
pub fn keep(before: &Run, place: &Path) -> Result<PathBuf> {
    let comparison = compare(before, &Run::load(place)?);
    folder::text(place, FILE, &markdown(&comparison))?;
    super::render(place)?;
    Ok(place.join(FILE))
}
