//! What commands that read logs share beside their input.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use windowpane_lab::replay::ReplayError;
use windowpane_lab_contestants::registry::{self, Algorithm};
use windowpane_lab_ground::output::Output;

use super::inputs::InputArgs;

/// The command as it is typed in a shell.
pub(crate) fn command() -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./,:=+%@".contains(&byte);
    let quoted = |word: OsString| {
        let word = word.to_string_lossy().into_owned();
        match !word.is_empty() && word.bytes().all(plain) {
            true => word,
            false => format!("'{}'", word.replace('\'', r"'\''")),
        }
    };
    let words: Vec<String> = std::env::args_os().skip(1).map(quoted).collect();
    format!("cargo lab {}", words.join(" "))
}

/// That no output is written over another or over an input.
pub(crate) fn check_outputs<'a>(
    input: &InputArgs,
    outputs: impl Iterator<Item = (&'static str, &'a Path)>,
) -> Result<(), ReplayError> {
    let inputs = input.files()?.into_iter();
    let mut taken: Vec<(&str, Option<PathBuf>)> = inputs
        .map(|input| ("the input", fs::canonicalize(input).ok()))
        .collect();
    for (option, path) in outputs {
        let place = match path.as_os_str() == "-" {
            true => Some(path.into()),
            false => Output::place(path)?,
        };
        let same = |(_, other): &&(&str, Option<PathBuf>)| place.is_some() && *other == place;
        if let Some((other, _)) = taken.iter().find(same) {
            return Err(ReplayError::Usage(format!(
                "{option} {} is {other}'s too; expected a place of its own",
                path.display()
            )));
        }
        taken.push((option, place));
    }
    Ok(())
}

/// The algorithms of these names, each once, and whether they are `all`.
pub(crate) fn algorithms(names: &[String]) -> Result<(Vec<&'static Algorithm>, bool), ReplayError> {
    let all = names == ["all"];
    if !all && names.iter().any(|name| name == "all") {
        return Err(ReplayError::Usage(
            "--algorithm: expected all alone, or names without it".into(),
        ));
    }
    if all {
        return Ok((registry::algorithms().collect(), true));
    }
    let mut found: Vec<&Algorithm> = Vec::new();
    for name in names {
        let algorithm = find(name)?;
        if found
            .iter()
            .all(|other| other.info.name != algorithm.info.name)
        {
            found.push(algorithm);
        }
    }
    Ok((found, false))
}

fn find(name: &str) -> Result<&'static Algorithm, ReplayError> {
    registry::find(name).ok_or_else(|| {
        let names: Vec<&str> = registry::algorithms()
            .map(|algorithm| algorithm.info.name)
            .collect();
        ReplayError::Usage(format!(
            "unknown algorithm `{name}`: expected {}, or all",
            names.join(", ")
        ))
    })
}
