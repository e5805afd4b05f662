//! `cargo xtask words`: words that our pages and comments do not use, because they must be read twice.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use crate::tools::{ended, workspace};

/// The words, and what to say instead.
const WORDS: &[(&str, &str)] = &[
    ("whoever", "the caller, a thread, the client"),
    ("nobody", "no thread, no caller"),
    ("anybody", "any caller"),
    ("somebody", "a caller, another thread"),
    ("someone", "a caller, another thread"),
    ("anew", "again"),
    ("so many", "a number of, `count`"),
    ("as many as", "up to, the number of"),
    ("told", "returned, reported, given"),
    ("go round", "probe, loop, claim a whole lap"),
    ("goes round", "probes, loops, claims a whole lap"),
    ("let go of", "release, drop"),
    ("lets go of", "releases, drops"),
    ("let through", "allow"),
    ("lets through", "allows"),
    ("thrown away", "discarded"),
    ("counts for nothing", "is discarded"),
    ("set out for", "target"),
    ("hopeless", "exceeds the limit"),
    ("out of the way", "cold path"),
    ("is no error", "is not an error"),
    ("explorer", "model checker"),
    ("explorers", "model checkers"),
    ("kin", "variants"),
    ("twin", "mutant"),
    ("twins", "mutants"),
];

/// The folders and files that are checked. Add a folder when it is clean.
const CLEAN: &[&str] = &[
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "README.md",
    "crates/bucket-ring",
    "crates/cas-ring",
    "crates/core",
    "crates/keyed",
    "crates/mutex-log",
    "crates/sync",
    "crates/windowpane",
    "crates/xtask",
    "loom-tests",
];

/// Checks that comments and pages have none of the words that must be read twice.
#[derive(clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_: &Args) -> ExitCode {
    ended(check())
}

fn check() -> Result<bool> {
    let mut files = Vec::new();
    for path in CLEAN {
        collect(&workspace().join(path), &mut files)?;
    }
    // This file names the words.
    files.retain(|file| !file.ends_with("xtask/src/words.rs"));
    let mut found = 0;
    for file in &files {
        let text = fs::read_to_string(file).with_context(|| file.display().to_string())?;
        let is_page = file.extension().is_some_and(|extension| extension == "md");
        for (line, word, instead) in hits(&text, is_page) {
            found += 1;
            let file = file.strip_prefix(workspace()).unwrap_or(file).display();
            eprintln!("{file}:{line}: `{word}`: say {instead}");
        }
    }
    if found > 0 {
        bail!("{found} words that must be read twice");
    }
    println!("{} files in plain words", files.len());
    Ok(true)
}

/// The pages and sources below a path.
fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    if path.is_dir() {
        for entry in fs::read_dir(path).with_context(|| path.display().to_string())? {
            collect(&entry?.path(), files)?;
        }
    } else if path
        .extension()
        .is_some_and(|kind| kind == "rs" || kind == "md")
    {
        files.push(path.to_owned());
    }
    Ok(())
}

/// The words found, each with the number of its line. Of a source only the comments are read.
fn hits(text: &str, is_page: bool) -> Vec<(usize, &'static str, &'static str)> {
    let mut hits = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let read = match is_page {
            true => Some(line),
            false => line.split_once("//").map(|(_, comment)| comment),
        };
        let Some(read) = read.map(plain) else {
            continue;
        };
        let of_line = WORDS
            .iter()
            .filter(|(word, _)| read.contains(&format!(" {word} ")));
        hits.extend(of_line.map(|(word, instead)| (number, *word, *instead)));
    }
    hits
}

/// The words of a line in small letters, with one space around each; code in backticks is left out.
fn plain(line: &str) -> String {
    let prose: String = line.split('`').step_by(2).collect::<Vec<_>>().join(" | ");
    let words = prose
        .split(|c: char| !c.is_alphanumeric() && c != '|' && c != '_')
        .filter(|word| !word.is_empty());
    format!(" {} ", words.collect::<Vec<_>>().join(" ").to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str, is_page: bool) -> Vec<(usize, &'static str)> {
        let hits = hits(text, is_page).into_iter();
        hits.map(|(line, word, _)| (line, word)).collect()
    }

    #[test]
    fn words_are_found_in_pages_and_comments() {
        assert_eq!(words("Plain.\nNobody waits.", true), [(2, "nobody")]);
        assert_eq!(
            words("let a = 1; // So  many, twins", false),
            [(1, "so many"), (1, "twins")]
        );
        assert_eq!(words("    /// Decides anew.", false), [(1, "anew")]);
    }

    #[test]
    fn code_and_parts_of_words_are_not_read() {
        assert_eq!(words("let nobody = told(anew);", false), []);
        assert_eq!(words("`Told` and `so` many, a king, so `x` many", true), []);
    }
}
