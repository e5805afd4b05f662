#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod change;
mod headers;
#[path = "../../redis/src/reply.rs"]
mod reply;
pub mod targets;

use std::path::PathBuf;

use targets::Target;

/// The inputs in the repository that a target starts from, by their names.
///
/// # Errors
/// If the folder, or a file in it, cannot be read.
pub fn corpus(target: &Target) -> std::io::Result<Vec<(String, Vec<u8>)>> {
    let folder: PathBuf = [env!("CARGO_MANIFEST_DIR"), "corpus", target.name]
        .iter()
        .collect();
    let mut inputs = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        inputs.push((name.into_owned(), std::fs::read(&path)?));
    }
    // The order of a folder is the file system's.
    inputs.sort();
    Ok(inputs)
}
