//! Where a run was made: enough to judge it by, and to make it again.

mod quiet;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use windowpane_core::Clock;
use windowpane_core::clock::TscClock;

use super::plan::Mode;
use super::trace;

/// `environment.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// When the run began, RFC 3339, UTC.
    pub began: String,
    /// How long it took.
    pub seconds: f64,
    /// What was typed, as far as it can be known.
    pub command: String,
    /// `quick`, `default`, `full` or `test`.
    pub mode: String,
    /// Of the order of the rounds and of the synthetic traffic.
    pub seed: u64,
    /// Rounds that were completed.
    pub rounds: u32,
    /// Rounds that were planned.
    pub rounds_planned: u32,
    /// Why the run holds less than was planned; empty if it does not.
    pub partial: String,
    /// The processor's name.
    pub cpu: String,
    /// Cores that the process may use.
    pub cores: usize,
    /// Bytes of memory.
    pub memory_bytes: u64,
    /// The system and its kernel.
    pub kernel: String,
    /// The hypervisor, `none` or `unknown`.
    pub hypervisor: String,
    /// The kernel's clock source.
    pub clock_source: String,
    /// The most frequent difference of two readings of the shared clock in a row, in nanoseconds:
    /// no single time is much finer than this.
    pub clock_step_ns: u64,
    /// The frequency governor of the first core, or `unknown`.
    pub frequency_governor: String,
    /// How busy others kept all cores together just before the run, in percent.
    pub busy_percent: f64,
    /// `rustc -vV`, on one line.
    pub rustc: String,
    /// The profile and the flags that the bench was compiled with.
    pub flags: String,
    /// The revision, or `unknown`.
    pub git_revision: String,
    /// Whether the work tree differed from the revision.
    pub git_dirty: Option<bool>,
    /// FNV-1a of `Cargo.lock`, in hexadecimal.
    pub lock_file_hash: String,
    /// Whether every worker could be pinned to its core.
    pub pinned: bool,
    /// Processes that measured throughput, one after the other; 0 in older runs.
    #[serde(default)]
    pub launches: u32,
    /// Samples of throughput that were kept.
    #[serde(default)]
    pub samples: u64,
    /// Samples that were discarded and made again because a worker lost its processor.
    #[serde(default)]
    pub samples_lost: u64,
    /// Samples that were kept though a worker lost its processor: each repetition did, too.
    #[serde(default)]
    pub samples_disturbed: u64,
    /// How busy others kept all cores together during the rounds, in percent.
    #[serde(default)]
    pub others_percent: f64,
    /// What the hypervisor took of all cores together during the rounds, in percent.
    #[serde(default)]
    pub steal_percent: f64,
    /// Rounds in which the machine was not quiet.
    #[serde(default)]
    pub rounds_not_quiet: u32,
    /// Why the machine was not quiet, in a sentence for the head of the report; empty if it was.
    #[serde(default)]
    pub not_quiet: String,
}

impl Environment {
    /// What can be known before anything is measured; `root` is the workspace.
    pub fn observe(root: &Path) -> Environment {
        let system = system();
        let unknown = || "unknown".to_string();
        Environment {
            began: jiff::Timestamp::now()
                .round(jiff::Unit::Second)
                .map_or_else(|_| unknown(), |now| now.to_string()),
            seconds: 0.0,
            command: command(),
            mode: String::new(),
            seed: 0,
            rounds: 0,
            rounds_planned: 0,
            partial: String::new(),
            cpu: system.as_ref().map_or_else(unknown, cpu),
            cores: cores(),
            memory_bytes: system.as_ref().map_or(0, sysinfo::System::total_memory),
            kernel: kernel(),
            hypervisor: hypervisor(),
            clock_source: read("/sys/devices/system/clocksource/clocksource0/current_clocksource")
                .unwrap_or_else(unknown),
            clock_step_ns: clock_step_ns(),
            frequency_governor: read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
                .unwrap_or_else(unknown),
            busy_percent: system.as_ref().map_or(0.0, busy_percent),
            rustc: output("rustc", &["-vV"], root)
                .map_or_else(unknown, |text| text.lines().collect::<Vec<_>>().join("; ")),
            flags: flags(root),
            git_revision: output("git", &["rev-parse", "HEAD"], root).unwrap_or_else(unknown),
            git_dirty: output("git", &["status", "--porcelain"], root).map(|text| !text.is_empty()),
            lock_file_hash: lock_file_hash(root).unwrap_or_else(unknown),
            pinned: true,
            ..Environment::default()
        }
    }

    /// Fills in what is known when a run is over: how it was planned, and how long it took.
    pub(super) fn close(&mut self, mode: Mode, seed: u64, rounds_planned: u32, took: Duration) {
        self.seconds = (took.as_secs_f64() * 10.0).round() / 10.0;
        self.mode = mode.word().into();
        self.seed = seed;
        self.rounds_planned = rounds_planned;
    }

    /// Fills in the same of a run of the bench target `name` alone, beside the main one: it does all
    /// of its `rounds` and pins nobody.
    pub fn close_target(&mut self, name: &str, mode: Mode, seed: u64, rounds: u32, took: Duration) {
        self.close(mode, seed, rounds, took);
        let target = format!("{CARGO_BENCH} --bench {name}");
        self.command = self.command.replacen(CARGO_BENCH, &target, 1);
        self.rounds = rounds;
        self.pinned = false;
    }
}

fn clock_step_ns() -> u64 {
    let clock = TscClock::new();
    let mut steps: BTreeMap<u64, u32> = BTreeMap::new();
    for _ in 0..100_000 {
        let before = clock.now();
        let step = clock.now().saturating_sub(before);
        *steps.entry(step).or_default() += 1;
    }
    let most = steps.into_iter().max_by_key(|(_, count)| *count);
    most.map_or(0, |(step, _)| step)
}

/// Cores that this process may use.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn system() -> Option<sysinfo::System> {
    if !sysinfo::IS_SUPPORTED_SYSTEM {
        return None;
    }
    let mut system = sysinfo::System::new();
    system.refresh_memory();
    system.refresh_cpu_all();
    // While this process sleeps, what runs are others. The load average would tell of the compiler
    // and of the bench targets before.
    std::thread::sleep(Duration::from_millis(500));
    system.refresh_cpu_usage();
    Some(system)
}

fn busy_percent(system: &sysinfo::System) -> f64 {
    f64::from(system.global_cpu_usage()).round()
}

fn cpu(system: &sysinfo::System) -> String {
    let name = system
        .cpus()
        .first()
        .map(|cpu| cpu.brand().trim().to_string());
    name.filter(|name| !name.is_empty())
        .unwrap_or_else(|| "unknown".into())
}

fn kernel() -> String {
    let name = sysinfo::System::name().unwrap_or_else(|| std::env::consts::OS.into());
    let kernel = sysinfo::System::kernel_version().unwrap_or_else(|| "unknown kernel".into());
    format!("{name}, {kernel}, {}", std::env::consts::ARCH)
}

/// What Linux tells of the machine below, if there is one.
fn hypervisor() -> String {
    if let Some(name) = output("systemd-detect-virt", &["--vm"], Path::new("/")) {
        return name;
    }
    match std::fs::read_to_string("/proc/cpuinfo") {
        Ok(cpuinfo) if cpuinfo.contains(" hypervisor") => {
            let vendor = output("lscpu", &[], Path::new("/")).and_then(|text| {
                text.lines()
                    .find_map(|line| line.strip_prefix("Hypervisor vendor:"))
                    .map(|vendor| vendor.trim().to_string())
            });
            vendor.unwrap_or_else(|| "a virtual machine, of which kind is unknown".into())
        }
        Ok(_) => "none".into(),
        Err(_) => "unknown".into(),
    }
}

/// The profile as the workspace says it, and the flags of the environment.
fn flags(root: &Path) -> String {
    let manifest = std::fs::read_to_string(root.join("Cargo.toml")).unwrap_or_default();
    let mut flags = vec![match cfg!(debug_assertions) {
        true => "debug assertions on: not a release build".to_string(),
        false => "release".to_string(),
    }];
    flags.extend(section(&manifest, "[profile.release]"));
    flags.extend(section(&manifest, "[profile.bench]"));
    if let Ok(rustflags) = std::env::var("RUSTFLAGS") {
        flags.push(format!("RUSTFLAGS {rustflags}"));
    }
    flags.join("; ")
}

/// The settings of a section of a manifest, without comments.
fn section(manifest: &str, header: &str) -> Vec<String> {
    let lines = manifest.lines().skip_while(|line| line.trim() != header);
    let settings = lines.skip(1).take_while(|line| !line.starts_with('['));
    settings
        .map(|line| {
            line.split('#')
                .next()
                .unwrap_or_default()
                .trim()
                .to_string()
        })
        .filter(|line| !line.is_empty())
        .collect()
}

/// What every command begins with, behind variables.
const CARGO_BENCH: &str = "cargo bench";

/// What was typed. Cargo passes `--bench` by itself, and the bench's own flags behind it.
fn command() -> String {
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| argument != "--bench")
        .collect();
    let command = match arguments.is_empty() {
        true => CARGO_BENCH.into(),
        false => format!("{CARGO_BENCH} -- {}", arguments.join(" ")),
    };
    match trace::told().as_str() {
        "" => command,
        traces => format!("{}='{traces}' {command}", trace::VARIABLE),
    }
}

/// FNV-1a, 64 bits: it tells two lock files apart, and needs no library.
fn lock_file_hash(root: &Path) -> Option<String> {
    let bytes = std::fs::read(root.join("Cargo.lock")).ok()?;
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    Some(format!("{hash:016x}"))
}

fn read(path: &str) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    Some(text.trim().to_string())
}

/// Returns what `program` prints to standard output, trimmed; `None` if it fails.
pub fn output(program: &str, arguments: &[&str], directory: &Path) -> Option<String> {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(directory)
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_is_told_as_the_manifest_says_it() {
        let manifest =
            "[profile.release]\n# why\nlto = \"thin\" # also\n\nopt-level = 3\n[other]\nx = 1\n";
        assert_eq!(
            section(manifest, "[profile.release]"),
            ["lto = \"thin\"", "opt-level = 3"]
        );
        assert!(section(manifest, "[profile.bench]").is_empty());
    }

    #[test]
    fn the_lock_files_hash_follows_its_content() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(lock_file_hash(folder.path()), None);
        std::fs::write(folder.path().join("Cargo.lock"), "a").unwrap();
        // The published value of FNV-1a for this letter.
        let hash = lock_file_hash(folder.path()).unwrap();
        assert_eq!(hash, "af63dc4c8601ec8c");
    }
}
