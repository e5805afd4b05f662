//! Which file a name leads to, be it there already or not.

use std::fs;
use std::io;
use std::path::{Path, PathBuf, is_separator};

/// How many links are followed, one after the other, to a file that is not there; as Linux does.
const MOST_LINKS: u32 = 40;

/// The file that is written to under a name, as an absolute path without links; `None` for what is
/// no regular file. Where a link leads is meant, not the link, also if there is nothing yet.
pub(super) fn place(path: &Path) -> io::Result<Option<PathBuf>> {
    match fs::metadata(path) {
        Ok(there) if there.is_dir() => Err(io::Error::other("it is a directory; expected a file")),
        Ok(there) if there.is_file() => fs::canonicalize(path).map(Some),
        Ok(_) => Ok(None),
        Err(_) => new_place(path).map(Some),
    }
}

/// The same for a file that is not there.
fn new_place(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_path_buf();
    for _ in 0..=MOST_LINKS {
        let name = path.file_name().filter(|_| !names_a_folder(&path));
        let name = name.ok_or_else(|| io::Error::other("it names a folder; expected a file"))?;
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let folder = fs::canonicalize(folder)?;
        let place = folder.join(name);
        match fs::symlink_metadata(&place) {
            Ok(there) if there.is_symlink() => path = folder.join(fs::read_link(place)?),
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => return Ok(place),
        }
    }
    Err(io::Error::other(
        "it is a link that leads to itself; expected a file",
    ))
}

/// Whether a path ends in a separator, or in one and a dot, which [`Path`] takes no notice of.
fn names_a_folder(path: &Path) -> bool {
    let text = path.to_string_lossy();
    let text = text.strip_suffix('.').unwrap_or(&text);
    text.ends_with(is_separator)
}
