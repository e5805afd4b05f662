//! Mutants whose quoted text the shipped source no longer has.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use super::source::Source;
use super::table::{Mutant, all_mutants};

/// A mutant whose quoted text stands in its shipped file never, or more than once.
pub(crate) struct Stale {
    /// The mutant's group and name, such as `queue::sleeps_though_woken`.
    mutant: String,
    /// The shipped file, as seen from the folder of this package.
    path: PathBuf,
    quoted: &'static str,
    /// How often the text is found.
    found: usize,
}

impl Stale {
    pub(crate) fn new(mutant: &Mutant, found: usize) -> Stale {
        Stale {
            mutant: format!("{}::{}", mutant.of.module(), mutant.name),
            path: Path::new(mutant.of.folder()).join(mutant.file),
            quoted: mutant.shipped,
            found,
        }
    }
}

impl fmt::Display for Stale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Stale { mutant, found, .. } = self;
        let path = self.path.strip_prefix("..").unwrap_or(&self.path).display();
        let quoted: Vec<&str> = self.quoted.split_whitespace().collect();
        let quoted = quoted.join(" ");
        write!(
            f,
            "mutant {mutant} quotes text that stands {found} times in {path}, not once: `{quoted}`"
        )
    }
}

/// All stale mutants. `read` returns the text of a file, whose path is seen from the folder of this
/// package.
///
/// # Errors
/// Those of `read`.
#[allow(dead_code)]
pub(crate) fn stale(read: impl Fn(&Path) -> io::Result<String>) -> io::Result<Vec<Stale>> {
    let mut stale = Vec::new();
    for mutant in all_mutants() {
        let text = read(&Path::new(mutant.of.folder()).join(mutant.file))?;
        if let Err(found) = Source::new(&text).replaced(mutant.shipped, mutant.seeded) {
            stale.push(Stale::new(mutant, found));
        }
    }
    Ok(stale)
}
