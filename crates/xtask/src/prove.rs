//! `cargo xtask prove`: the arithmetic of the limiters, proved for all numbers by a solver.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use anyhow::{Context, ensure};

use crate::tools::{SKIPPED, checked, first_line, named_target, workspace};

/// The proofs of bounds, waits and packed fields, one file a limiter, by the solver z3.
///
/// They need Python 3 with `venv`; the solver is installed below `target`. Without them the proofs are
/// skipped, and a line says so. Exit status: 0 if all statements were proved and all false ones
/// refuted, or if the proofs were skipped; 1 if one was not, or quotes text that the source no longer
/// has; 2 if the proofs cannot be read.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Run only the files whose name contains this text: a limiter.
    only: Option<String>,
}

pub(crate) fn run(args: &Args) -> ExitCode {
    checked(prove(args.only.as_deref()))
}

/// Whether all chosen files hold, or nothing could be run.
fn prove(only: Option<&str>) -> anyhow::Result<bool> {
    let folder = workspace().join("loom-tests/proofs");
    let files = files(&folder, only)?;
    let python = match solver(&folder) {
        Ok(python) => python,
        Err(why) => {
            eprintln!("{SKIPPED}all proofs: {why}");
            return Ok(true);
        }
    };
    let mut failed = 0;
    for file in &files {
        let start = Instant::now();
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        println!("=== {name}");
        // No files of byte code beside the sources.
        let status = Command::new(&python)
            .arg("-B")
            .arg(file)
            .status()
            .with_context(|| format!("cannot start {}", python.display()))?;
        let word = if status.success() { "holds" } else { "FAILED" };
        let seconds = start.elapsed().as_secs_f64();
        println!("{name}: {word}, in {seconds:.0} s\n");
        failed += usize::from(!status.success());
    }
    println!("{failed} of {} files failed", files.len());
    Ok(failed == 0)
}

/// The files of statements whose name contains `only`, in order.
fn files(folder: &Path, only: Option<&str>) -> anyhow::Result<Vec<PathBuf>> {
    let entries = folder
        .read_dir()
        .with_context(|| format!("cannot read {}", folder.display()))?;
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    files.retain(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_shared = name == "proving.py";
        name.ends_with(".py") && !is_shared && only.is_none_or(|only| name.contains(only))
    });
    files.sort();
    ensure!(
        !files.is_empty(),
        "no file of proofs in {} is named like {:?}",
        folder.display(),
        only.unwrap_or_default()
    );
    Ok(files)
}

/// The Python that has the solver, which is installed if it is missing; else why there is none.
fn solver(folder: &Path) -> Result<PathBuf, String> {
    let system = ["python3", "python"]
        .into_iter()
        .find(|python| first_line(python, &["--version"]).is_some_and(|v| v.contains(" 3.")))
        .ok_or("Python 3 not found; install python3 and python3-venv and run again")?;
    let target = named_target().unwrap_or_else(|| workspace().join("target"));
    let environment = target.join("prove");
    let python = environment.join(if cfg!(windows) {
        "Scripts/python.exe"
    } else {
        "bin/python"
    });
    let has_solver = || {
        let python = python.to_string_lossy();
        first_line(
            &python,
            &["-c", "import z3; print(z3.get_version_string())"],
        )
    };
    if has_solver().is_none() {
        quietly(Command::new(system).args(["-m", "venv"]).arg(&environment))
            .map_err(|why| format!("no environment of Python can be made: {why}"))?;
        let install = ["-m", "pip", "install", "--quiet", "--requirement"];
        let requirements = folder.join("requirements.txt");
        quietly(Command::new(&python).args(install).arg(requirements))
            .map_err(|why| format!("z3-solver cannot be installed: {why}"))?;
    }
    let version = has_solver().ok_or("z3-solver was installed, and yet it does not start")?;
    println!("z3 {version}\n");
    Ok(python)
}

/// Runs a command without its output; else the last line that it printed as an error.
fn quietly(command: &mut Command) -> Result<(), String> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stderr);
    match output.status.success() {
        true => Ok(()),
        false => Err(text.lines().last().unwrap_or("no reason given").to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_limiter_has_its_file_and_an_unknown_one_is_an_error() {
        let folder = workspace().join("loom-tests/proofs");
        let all = files(&folder, None).unwrap();
        assert!(all.len() >= 6, "{all:?}");
        assert!(all.iter().all(|file| !file.ends_with("proving.py")));
        let ring = files(&folder, Some("cas_ring")).unwrap();
        assert_eq!(ring, [folder.join("cas_ring.py")]);
        let error = files(&folder, Some("no_such")).unwrap_err().to_string();
        assert!(error.contains("no_such"), "{error}");
    }
}
