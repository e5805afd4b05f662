//! Quotas from a TOML file, read again while the service runs.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use std::{fs, io};

use serde::Deserialize;
use thiserror::Error;
use toml::Spanned;
use windowpane_core::Quotas;

/// The quotas of a file, by name: one table each.
///
/// ```
/// use windowpane_core::Quotas;
/// use windowpane_tower::reload::QuotaFile;
///
/// let file = QuotaFile::parse(
///     r#"
///     [address]
///     quotas = ["100/60s", "10/1s"]
///
///     [api-key]
///     quotas = ["1000/60s"]
///     "#,
/// )?;
/// assert_eq!(file.get("api-key"), Some(&Quotas::parse(["1000/60s"])?));
///
/// let error = QuotaFile::parse("[address]\nquotas = [\"100 a minute\"]").unwrap_err();
/// assert_eq!(error.line(), Some(2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuotaFile(BTreeMap<String, Quotas>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    quotas: Spanned<Vec<Spanned<String>>>,
}

impl QuotaFile {
    /// Reads the quotas from text.
    ///
    /// # Errors
    /// [`FileError`] with the line and what was expected there.
    pub fn parse(text: &str) -> Result<QuotaFile, FileError> {
        let at = |start: usize, message: String| FileError {
            path: None,
            line: text
                .get(..start)
                .map(|before| 1 + before.matches('\n').count()),
            message,
        };
        let tables: BTreeMap<String, Table> = toml::from_str(text).map_err(|error| {
            let start = error.span().map_or(text.len(), |span| span.start);
            at(start, error.message().to_owned())
        })?;
        let mut quotas = BTreeMap::new();
        for (name, table) in tables {
            let start = table.quotas.span().start;
            let mut read = Vec::new();
            for text in table.quotas.into_inner() {
                let quota = text.get_ref().parse();
                read.push(quota.map_err(|error| at(text.span().start, format!("{error}")))?);
            }
            let read = Quotas::new(read).map_err(|error| at(start, error.to_string()))?;
            quotas.insert(name, read);
        }
        Ok(QuotaFile(quotas))
    }

    /// Reads the quotas from a file.
    ///
    /// # Errors
    /// [`FileError`] with the file, the line and what was expected there.
    pub fn read(path: impl AsRef<Path>) -> Result<QuotaFile, FileError> {
        let path = path.as_ref();
        fs::read_to_string(path)
            .map_err(|error| FileError::new(error.to_string()))
            .and_then(|text| QuotaFile::parse(&text))
            .map_err(|error| error.in_file(path))
    }

    /// The quotas of that name.
    pub fn get(&self, name: &str) -> Option<&Quotas> {
        self.0.get(name)
    }

    /// All names with their quotas, in alphabetical order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Quotas)> {
        self.0.iter().map(|(name, quotas)| (name.as_str(), quotas))
    }
}

/// The reason for which the quotas of a file were rejected.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub struct FileError {
    path: Option<PathBuf>,
    line: Option<usize>,
    message: String,
}

impl FileError {
    /// Returns an error about the file as a whole, for the function that applies its quotas.
    pub fn new(message: impl Into<String>) -> FileError {
        FileError {
            path: None,
            line: None,
            message: message.into(),
        }
    }

    fn in_file(self, path: &Path) -> FileError {
        FileError {
            path: Some(path.to_owned()),
            ..self
        }
    }

    /// The line, counted from 1; `None` where the file as a whole is the matter.
    pub fn line(&self) -> Option<usize> {
        self.line
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.path {
            Some(path) => write!(f, "{}", path.display())?,
            None => f.write_str("quotas")?,
        }
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.message)
    }
}

/// The result of reading the file again.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reloaded {
    /// The file has not changed.
    Unchanged,
    /// Its quotas are in force.
    Applied,
    /// Its quotas were rejected, and the old ones stay in force.
    Rejected(FileError),
}

type Take = Box<dyn FnMut(&QuotaFile) -> Result<(), FileError> + Send>;

/// A reader of a file of quotas, which passes them on whenever the file has changed.
pub struct Reload {
    path: PathBuf,
    take: Take,
    /// The content at the last check. Editors, mounts and deployments may change a file's content
    /// without its times, and the other way round.
    last: Result<String, io::ErrorKind>,
}

impl Reload {
    /// Reads the file for the first time and passes its quotas to `take`, which applies all of them
    /// or none.
    ///
    /// # Errors
    /// [`FileError`] if it cannot be read, holds no quotas, or `take` rejects them: a service should
    /// not start then.
    pub fn new<F>(path: impl Into<PathBuf>, take: F) -> Result<Reload, FileError>
    where
        F: FnMut(&QuotaFile) -> Result<(), FileError> + Send + 'static,
    {
        let mut reload = Reload {
            path: path.into(),
            take: Box::new(take),
            last: Ok(String::new()),
        };
        match reload.check() {
            Reloaded::Applied => Ok(reload),
            Reloaded::Rejected(error) => Err(error),
            Reloaded::Unchanged => Err(FileError::new("the file is empty").in_file(&reload.path)),
        }
    }

    /// Reads the file and, if it has changed, passes its quotas on. A file that cannot be read or is
    /// wrong leaves the old quotas in force, and is reported once.
    pub fn check(&mut self) -> Reloaded {
        let read = fs::read_to_string(&self.path);
        let now = match &read {
            Ok(text) => Ok(text.clone()),
            Err(error) => Err(error.kind()),
        };
        if now == self.last {
            return Reloaded::Unchanged;
        }
        self.last = now;
        let taken = match read {
            Ok(text) => QuotaFile::parse(&text).and_then(|file| (self.take)(&file)),
            Err(error) => Err(FileError::new(error.to_string())),
        };
        match taken {
            Ok(()) => Reloaded::Applied,
            Err(error) => Reloaded::Rejected(error.in_file(&self.path)),
        }
    }

    /// Checks the file at intervals of `every` on a thread of its own, until the watch is dropped.
    /// `report` receives the result of each change.
    ///
    /// # Errors
    /// The system's error if it starts no further thread.
    pub fn watch<F>(mut self, every: Duration, mut report: F) -> io::Result<Watch>
    where
        F: FnMut(Reloaded) + Send + 'static,
    {
        let (stop, stopped) = mpsc::channel();
        let thread = thread::Builder::new()
            .name("windowpane-quotas".into())
            .spawn(move || {
                while stopped.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
                    match self.check() {
                        Reloaded::Unchanged => {}
                        change => report(change),
                    }
                }
            })?;
        Ok(Watch {
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl fmt::Debug for Reload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reload")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

/// A thread that watches a file of quotas until this is dropped.
///
/// The drop waits for the thread, so it must not hold a lock that the functions given to
/// [`watch`](Reload::watch) and [`new`](Reload::new) take. These functions may drop it: the thread
/// then ends after they return.
#[derive(Debug)]
#[must_use = "dropped, it watches no more"]
pub struct Watch {
    stop: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Watch {
    fn drop(&mut self) {
        drop(self.stop.take());
        let thread = self.thread.take();
        // The thread itself drops the watch if `report` or `take` does: it must not wait for itself.
        if let Some(thread) = thread.filter(|t| t.thread().id() != thread::current().id()) {
            // It panicked if `report` or `take` did: that was reported when it happened.
            let _ = thread.join();
        }
    }
}
