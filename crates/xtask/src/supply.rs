//! `cargo xtask supply`: licences, duplicates and sources of what we depend on, and whether our own
//! crates can be packaged.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail, ensure};

use crate::metadata::{Metadata, Package};
use crate::tools::{SKIPPED, cargo, first_line, run as run_command, workspace};

/// Checks what the workspace depends on (licences, duplicates, sources: `.cargo/deny.toml`; the
/// oldest compiler they ask for), and packages every library crate.
///
/// Licences, duplicates and sources are cargo-deny's: `cargo install cargo-deny --locked` brings it
/// in some minutes. Under `CI=true` it is installed where it is absent; elsewhere that part is
/// skipped, and said so. Advisories need the network and are not looked at: `cargo deny check advisories`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Also compile every package from what would be published: minutes.
    #[arg(long)]
    verify: bool,
}

pub(crate) fn run(args: &Args) -> ExitCode {
    let steps = [
        ("licences, duplicates, sources", deny()),
        ("oldest compiler", oldest_compiler()),
        ("packages", package(args.verify)),
    ];
    let mut code = ExitCode::SUCCESS;
    for (name, result) in steps {
        match result {
            Ok(said) => println!("{name}: {said}"),
            Err(error) => {
                eprintln!("error: {name}: {error:#}");
                code = ExitCode::FAILURE;
            }
        }
    }
    code
}

/// What is installed: a version that is known to build with the compiler that CI has.
const CARGO_DENY: &str = "cargo-deny@0.20.2";

fn deny() -> Result<String> {
    let version = || first_line("cargo", &["deny", "--version"]);
    if version().is_none() {
        if std::env::var_os("CI").is_none_or(|ci| ci != "true") {
            eprintln!(
                "{SKIPPED}licences, duplicates and sources: cargo-deny not found; \
                 cargo install cargo-deny --locked"
            );
            return Ok("not checked".into());
        }
        let mut install = cargo();
        install.args(["install", "--quiet", "--locked", CARGO_DENY]);
        // Without it nothing of ours is known to be wrong: skipped, and counted as such.
        if let Err(error) = run_command(&mut install) {
            eprintln!("{SKIPPED}licences, duplicates and sources: no cargo-deny: {error:#}");
            return Ok("not checked".into());
        }
    }
    let mut command = cargo();
    command
        .current_dir(workspace())
        .args(["deny", "--all-features", "--locked", "check"])
        .args(["--hide-inclusion-graph", "licenses", "bans", "sources"]);
    run_command(&mut command)?;
    Ok(version().unwrap_or_default())
}

/// A version of the compiler: `1.89` or `1.89.0`.
fn parse_version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.split('.').map(|number| number.parse().ok());
    Some((numbers.next()??, numbers.next()??))
}

/// That nothing we depend on, tests and benches included, asks for a newer compiler than we say.
fn oldest_compiler() -> Result<String> {
    let metadata = Metadata::read(true)?;
    let ours = metadata.libraries()?[0].rust_version.clone();
    let ours = ours.context("the crates say no `rust-version`")?;
    let said = parse_version(&ours).context("`rust-version` is no version")?;
    let newer: Vec<String> = metadata
        .packages
        .iter()
        .filter_map(|package| {
            let wants = package.rust_version.as_deref()?;
            let newer = parse_version(wants).is_none_or(|wants| wants > said);
            newer.then(|| format!("{} {} wants {wants}", package.name, package.version))
        })
        .collect();
    ensure!(newer.is_empty(), "we say {ours}, and {}", newer.join(", "));
    let checked = first_line("rustc", &["--version"]).unwrap_or_default();
    Ok(format!(
        "{ours} suffices for all that is locked; compiled with {checked}, not with an older one"
    ))
}

/// Packages all library crates, as for the registry: what each would contain, complete.
fn package(verify: bool) -> Result<String> {
    let metadata = Metadata::read(false)?;
    let libraries = metadata.libraries()?;
    for package in &libraries {
        complete(package).with_context(|| package.name.clone())?;
    }
    let mut command = cargo();
    command
        .current_dir(workspace())
        .args(["package", "--quiet", "--locked", "--allow-dirty"]);
    if !verify {
        command.arg("--no-verify");
    }
    for package in &libraries {
        command.args(["--package", &package.name]);
        contents(package).with_context(|| package.name.clone())?;
    }
    run_command(&mut command)?;
    Ok(format!("{} packaged", libraries.len()))
}

/// That a package says of itself what the registry asks for, and can be found by a version.
fn complete(package: &Package) -> Result<()> {
    let said = [
        ("description", package.description.is_some()),
        ("license", package.license.is_some()),
        ("readme", package.readme.is_some()),
        ("keywords", !package.keywords.is_empty()),
        ("categories", !package.categories.is_empty()),
        ("rust-version", package.rust_version.is_some()),
    ];
    let missing: Vec<&str> = said
        .iter()
        .filter(|(_, is)| !is)
        .map(|(name, _)| *name)
        .collect();
    ensure!(
        missing.is_empty(),
        "Cargo.toml has no {}",
        missing.join(", ")
    );
    for dependency in &package.dependencies {
        // A path alone is dropped from the package where only tests need it.
        let of_tests = dependency.kind.as_deref() == Some("dev");
        if dependency.path.is_some() && dependency.req == "*" && !of_tests {
            bail!(
                "the dependency on {} has a path and no version",
                dependency.name
            );
        }
    }
    Ok(())
}

/// That the package has its licences and its page, and that the page's links to files lead to files
/// that the package has.
fn contents(package: &Package) -> Result<()> {
    let output = cargo()
        .current_dir(workspace())
        .args(["package", "--list", "--locked", "--allow-dirty"])
        .args(["--package", &package.name])
        .stderr(std::process::Stdio::inherit())
        .output()
        .context("cannot run cargo package")?;
    ensure!(
        output.status.success(),
        "cargo package --list: {}",
        output.status
    );
    let text = String::from_utf8_lossy(&output.stdout);
    let files: Vec<&str> = text.lines().collect();
    for expected in ["LICENSE-APACHE", "LICENSE-MIT", "README.md"] {
        ensure!(
            files.contains(&expected),
            "{expected} is not in the package"
        );
    }
    let folder = package.manifest_path.parent().unwrap_or(Path::new("."));
    let page = std::fs::read_to_string(folder.join("README.md")).context("README.md")?;
    for link in links(&page) {
        ensure!(
            files.contains(&link) || folder.join(link).exists(),
            "README.md links to `{link}`, which does not exist"
        );
    }
    Ok(())
}

/// The files that a page links to, without the part after `#`.
fn links(page: &str) -> impl Iterator<Item = &str> {
    page.split("](").skip(1).filter_map(|rest| {
        let target = rest.split([')', '#', ' ']).next()?;
        // Anything with a colon is a web address or a Rust path.
        let file = !target.is_empty() && !target.contains(':') && target.contains('.');
        file.then_some(target)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_files_are_found_and_others_are_not() {
        let page = "[a](REPLAY.md) [b](https://x.org/y.md) [c](crate::flat) [d](#here) [e](A.md#x)";
        assert_eq!(links(page).collect::<Vec<_>>(), ["REPLAY.md", "A.md"]);
    }

    #[test]
    fn versions_of_the_compiler_are_ordered_by_number() {
        assert!(parse_version("1.100") > parse_version("1.89.0"));
        assert_eq!(parse_version("1.89.0"), parse_version("1.89"));
        assert_eq!(parse_version("1"), None);
    }
}
