//! The command `choose`: the answer of [`windowpane_lab_report::choose`] with the code that builds
//! it, as text and as JSON. `CHOOSE.md` of this crate documents both.

pub mod code;
pub mod text;

use serde::Serialize;
use windowpane_lab_report::Run;
use windowpane_lab_report::choose::{Choice, Need, choose};

/// The name of the schema: changed whenever a field changes its meaning or goes.
pub const SCHEMA: &str = "windowpane-choose/2";

/// An answer as it is printed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// The run that the figures come from.
    pub run: Source,
    /// The answer.
    #[serde(flatten)]
    pub choice: Choice,
    /// A Rust program that builds the first of the ranking; empty if nothing fits.
    pub code: String,
}

/// The run behind an answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Source {
    /// Its folder.
    pub folder: String,
    /// When it began.
    pub began: String,
    /// The processor.
    pub cpu: String,
    /// Its cores.
    pub cores: usize,
    /// The revision that was measured.
    pub git_revision: String,
}

impl Answer {
    /// Answers a need from a run; `doubts` are what the caller knows against the run.
    pub fn of(run: &Run, need: &Need, doubts: Vec<String>) -> Answer {
        let mut choice = choose(run, need);
        choice.doubts.splice(0..0, doubts);
        let environment = &run.environment;
        Answer {
            schema: SCHEMA,
            run: Source {
                folder: run.folder.display().to_string(),
                began: environment.began.clone(),
                cpu: environment.cpu.clone(),
                cores: environment.cores,
                git_revision: environment.git_revision.clone(),
            },
            code: choice
                .ranking
                .first()
                .map_or(String::new(), |first| code::of(first, need)),
            choice,
        }
    }
}
