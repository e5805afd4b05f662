//! The `lab` command on recorded runs: what it prints, writes and returns.

mod commands;
#[path = "../../../lab-report/tests/report/recorded.rs"]
mod recorded;
#[cfg(target_os = "linux")]
mod unwritable;
