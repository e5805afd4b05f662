//! Where rows and summaries go: the standard output, or a file that is there whole or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tempfile::{NamedTempFile, TempPath};
use thiserror::Error;

use crate::place::place;

/// Why an output cannot be written. Each message is one line.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum OutputError {
    /// The output cannot be written.
    #[error("cannot write {output}: {source}")]
    Write {
        /// The output's name.
        output: String,
        /// The system's error.
        source: io::Error,
    },
    /// The reader of the output closed it: not an error for the user.
    #[error("the output was closed by its reader")]
    ClosedPipe,
}

impl OutputError {
    /// Returns the error of writing to `output`.
    pub fn of(output: &str, source: io::Error) -> OutputError {
        match source.kind() {
            io::ErrorKind::BrokenPipe => OutputError::ClosedPipe,
            _ => OutputError::Write {
                output: output.into(),
                source,
            },
        }
    }
}

/// What is written and not yet in place, for [`remove_unfinished`].
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// An output. It is in place after [`finish`](Self::finish); dropped before, it leaves nothing.
pub struct Output {
    name: String,
    writer: BufWriter<Box<dyn Write>>,
    unfinished: Option<Unfinished>,
}

/// A file that is written beside its place.
struct Unfinished {
    path: TempPath,
    place: PathBuf,
}

impl Unfinished {
    fn put(mut self) -> io::Result<()> {
        fs::rename(&self.path, &self.place)?;
        self.path.disable_cleanup(true);
        Ok(())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        let path: &Path = &self.path;
        unfinished().retain(|other| other != path);
    }
}

fn unfinished() -> std::sync::MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the files that are not finished: for a program that is about to be ended from outside.
pub fn remove_unfinished() {
    for path in unfinished().drain(..) {
        // There is nobody left to tell.
        let _ = fs::remove_file(path);
    }
}

impl Output {
    /// The output of that name, `-` being the standard output.
    ///
    /// A file is written beside its place and put there when it is finished, so that what was
    /// there stays until then. What is no regular file (a device, a pipe) is written directly.
    ///
    /// # Errors
    /// [`OutputError`].
    pub fn create(path: &Path) -> Result<Output, OutputError> {
        let name = match path.as_os_str() == "-" {
            true => "the standard output".into(),
            false => path.display().to_string(),
        };
        let (writer, unfinished) = match path.as_os_str() == "-" {
            true => (Box::new(io::stdout()) as Box<dyn Write>, None),
            false => open(path).map_err(|error| OutputError::of(&name, error))?,
        };
        Ok(Output {
            name,
            writer: BufWriter::with_capacity(128 << 10, writer),
            unfinished,
        })
    }

    /// Its name, as it was given, or what `-` stands for.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The file that an output of that name replaces or creates, however the name is spelled;
    /// `None` for what is no regular file, which several may write to.
    ///
    /// # Errors
    /// [`OutputError`] if the name can be no file's.
    pub fn place(path: &Path) -> Result<Option<PathBuf>, OutputError> {
        place(path).map_err(|error| OutputError::of(&path.display().to_string(), error))
    }

    /// Puts outputs in place: all, or if one cannot be written in full, none.
    ///
    /// # Errors
    /// [`OutputError`], [`OutputError::ClosedPipe`].
    pub fn finish(outputs: impl IntoIterator<Item = Output>) -> Result<(), OutputError> {
        let mut outputs: Vec<Output> = outputs.into_iter().collect();
        for output in &mut outputs {
            let flushed = output.writer.flush();
            flushed.map_err(|error| OutputError::of(&output.name, error))?;
        }
        for output in &mut outputs {
            if let Some(unfinished) = output.unfinished.take() {
                unfinished
                    .put()
                    .map_err(|error| OutputError::of(&output.name, error))?;
            }
        }
        Ok(())
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

fn open(path: &Path) -> io::Result<(Box<dyn Write>, Option<Unfinished>)> {
    let Some(place) = place(path)? else {
        return Ok((Box::new(File::options().write(true).open(path)?), None));
    };
    let folder = place.parent().unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    // Short whatever the place is called: names have a longest, too.
    builder.prefix(".lab-").suffix(".part");
    // The name is reserved under the lock, so that an end from outside cannot fall between. A file
    // that only its owner could read would not be as any new file, so it is made here.
    let mut registered = unfinished();
    let made = builder.make_in(folder, |path| {
        File::options().write(true).create_new(true).open(path)
    });
    let (file, path) = made.map(NamedTempFile::into_parts)?;
    registered.push(path.to_path_buf());
    drop(registered);
    if let Ok(there) = fs::metadata(&place) {
        file.set_permissions(there.permissions())?;
    }
    Ok((Box::new(file), Some(Unfinished { path, place })))
}
