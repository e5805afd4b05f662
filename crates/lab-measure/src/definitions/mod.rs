//! What is measured: small TOML files in `benches/definitions/`, apart from who is measured, which
//! [`windowpane_lab_contestants`] says.
//!
//! A new workload is a new file there and a line in the list below; files of one's own are read
//! from the folder that [`VARIABLE`] names, with no line anywhere.

mod accuracy;
mod attack;
mod keyed;
mod parse;
mod speed;

use std::path::Path;
use std::sync::LazyLock;

use super::state::State;

pub use accuracy::{
    Accuracy, Arrivals, Attackers, Balancing, Burst, Clients, Expected, Servers, WhenDenied,
};
pub use attack::{Attack, NumberByMode};
pub use keyed::{Keyed, Pick};
pub use parse::{DefinitionError, Time};
pub use speed::{ByMode, Speed, Threads};

/// The environment variable that names a folder of further definitions.
pub const VARIABLE: &str = "WINDOWPANE_DEFINITIONS";

macro_rules! embedded {
    ($($file:literal),* $(,)?) => {
        /// The files of `benches/definitions/`, by name and text, in the report's order.
        pub const EMBEDDED: &[(&str, &str)] = &[$(
            (
                concat!("benches/definitions/", $file),
                include_str!(concat!("../../../../benches/definitions/", $file)),
            )
        ),*];
    };
}

embedded![
    "allowed.toml",
    "denied.toml",
    "mixed.toml",
    "burst-across-the-boundary.toml",
    "burst-at-the-start.toml",
    "steady.toml",
    "bursts.toml",
    "zipf-clients.toml",
    "like-a-log.toml",
    "a-day.toml",
    "retries-that-hammer.toml",
    "retries-that-wait.toml",
    "clients-at-20-percent.toml",
    "clients-at-35-percent.toml",
    "clients-at-50-percent.toml",
    "clients-at-90-percent.toml",
    "clients-at-200-percent.toml",
    "few-attackers.toml",
    "four-servers-even.toml",
    "four-servers-uneven.toml",
    "worst-found.toml",
    "keyed-hot-allowed.toml",
    "keyed-hot-denied.toml",
    "keyed-zipf-allowed.toml",
    "keyed-zipf-denied.toml",
    "keyed-million-allowed.toml",
    "keyed-million-denied.toml",
    "keyed-insert.toml",
    "keyed-flood.toml",
    "keyed-attack.toml",
];

/// One workload.
#[derive(Clone, Debug)]
pub enum Workload {
    /// Decisions a second and latency on one key.
    Speed(Speed),
    /// Right and wrong decisions on a traffic.
    Accuracy(Accuracy),
    /// Decisions a second over many keys.
    Keyed(Keyed),
    /// What a flood of new keys does to memory and to clients that are over their limit.
    Attack(Attack),
}

/// One file, read and checked.
#[derive(Clone, Debug)]
pub struct Definition {
    /// The file, for messages and lists.
    pub file: String,
    /// What it defines.
    pub workload: Workload,
}

impl Definition {
    /// Reads the text of `file`.
    ///
    /// # Errors
    /// [`DefinitionError`], which tells the file, and the line where TOML can tell it.
    pub fn read(file: &str, text: &str) -> Result<Definition, DefinitionError> {
        let workload = match parse::workload(file, text)?.as_str() {
            "speed" => Workload::Speed(speed::read(file, text)?),
            "accuracy" => Workload::Accuracy(accuracy::read(file, text)?),
            "keyed" => Workload::Keyed(keyed::read(file, text)?),
            "attack" => Workload::Attack(attack::read(file, text)?),
            other => {
                let what = format!(
                    "`workload` is `{other}`; expected `speed`, `accuracy`, `keyed` or `attack`"
                );
                return Err(DefinitionError::new(file, what));
            }
        };
        Ok(Definition {
            file: file.into(),
            workload,
        })
    }

    /// The name in tables, filters and CSV.
    pub fn name(&self) -> &str {
        match &self.workload {
            Workload::Speed(speed) => speed.state.word(),
            Workload::Accuracy(accuracy) => &accuracy.name,
            Workload::Keyed(keyed) => &keyed.name,
            Workload::Attack(attack) => &attack.name,
        }
    }
}

static ALL: LazyLock<Result<Vec<Definition>, DefinitionError>> = LazyLock::new(|| {
    let mut all: Vec<Definition> = EMBEDDED
        .iter()
        .map(|(file, text)| Definition::read(file, text))
        .collect::<Result<_, _>>()?;
    if let Some(folder) = std::env::var_os(VARIABLE).filter(|folder| !folder.is_empty()) {
        all.extend(of_folder(Path::new(&folder))?);
    }
    check_together(&all)?;
    Ok(all)
});

/// All definitions: the embedded ones, then those of the user's folder.
///
/// # Errors
/// [`DefinitionError`] if one is malformed or they do not fit together.
pub fn all() -> Result<&'static [Definition], DefinitionError> {
    ALL.as_deref().map_err(Clone::clone)
}

/// Reads the `.toml` files of a folder, in the order of their names.
///
/// # Errors
/// [`DefinitionError`] if the folder or a file cannot be read, or a file is malformed.
pub fn of_folder(folder: &Path) -> Result<Vec<Definition>, DefinitionError> {
    let told = folder.display().to_string();
    let unreadable = |error: std::io::Error| DefinitionError::new(&told, error.to_string());
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "toml")
        {
            files.push(path);
        }
    }
    files.sort();
    let read = |path: std::path::PathBuf| {
        let file = path.display().to_string();
        let text = std::fs::read_to_string(&path)
            .map_err(|error| DefinitionError::new(&file, error.to_string()))?;
        Definition::read(&file, &text)
    };
    files.into_iter().map(read).collect()
}

/// Each state once, no name twice: rows are found by their names.
fn check_together(all: &[Definition]) -> Result<(), DefinitionError> {
    for (nth, definition) in all.iter().enumerate() {
        let same = all[..nth]
            .iter()
            .find(|earlier| earlier.name() == definition.name());
        if let Some(earlier) = same {
            let what = format!(
                "the name `{}` is that of {}; expected another",
                definition.name(),
                earlier.file
            );
            return Err(DefinitionError::new(&definition.file, what));
        }
    }
    Ok(())
}

/// The definition of a state.
///
/// # Panics
/// If definitions are malformed: ask [`all`] first where a user may have written them.
pub fn speed(state: State) -> &'static Speed {
    let mut speeds = of_kind(|workload| match workload {
        Workload::Speed(speed) => Some(speed),
        _ => None,
    });
    speeds
        .find(|speed| speed.state == state)
        .expect("each state has its file")
}

/// What `pick` takes of the workloads of all definitions, in their order.
fn of_kind<T: 'static>(
    pick: impl Fn(&'static Workload) -> Option<&'static T>,
) -> impl Iterator<Item = &'static T> {
    let all = all().unwrap_or_else(|error| panic!("{error}"));
    all.iter()
        .filter_map(move |definition| pick(&definition.workload))
}

/// The definitions of traffic for accuracy, in their order.
///
/// # Panics
/// If definitions are malformed: ask [`all`] first where a user may have written them.
pub fn accuracy() -> impl Iterator<Item = &'static Accuracy> {
    of_kind(|workload| match workload {
        Workload::Accuracy(accuracy) => Some(accuracy),
        _ => None,
    })
}

/// The definitions of workloads of many keys, in their order.
///
/// # Panics
/// If definitions are malformed: ask [`all`] first where a user may have written them.
pub fn keyed() -> impl Iterator<Item = &'static Keyed> {
    of_kind(|workload| match workload {
        Workload::Keyed(keyed) => Some(keyed),
        _ => None,
    })
}

/// The definitions of attacks on stores of many keys, in their order.
///
/// # Panics
/// If definitions are malformed: ask [`all`] first where a user may have written them.
pub fn attacks() -> impl Iterator<Item = &'static Attack> {
    of_kind(|workload| match workload {
        Workload::Attack(attack) => Some(attack),
        _ => None,
    })
}
