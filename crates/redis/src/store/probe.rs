//! Probes: whether the server lets this user run what a script runs.
//!
//! A user with a part of the rights would get an error in the middle of a script. So each script is
//! probed before it is used: one script runs each command of it on a key of the probe's own, which
//! lives for two milliseconds. While the server refuses one, calls end at once and nothing is sent.

use std::sync::{Arc, RwLock};

use redis::{Cmd, ErrorKind, RedisError, RedisResult, Value};

use super::address::Connection;
use crate::script::Script;

/// A script that a limiter runs, and what the server refuses of it.
pub(crate) struct Probe {
    script: &'static Script,
    /// Of the limiter's prefix, and no key of a client: those have a brace in them.
    key: String,
    refused: RwLock<Option<Arc<str>>>,
}

impl Probe {
    pub(crate) fn new(script: &'static Script, key: String) -> Probe {
        Probe {
            script,
            key,
            refused: RwLock::default(),
        }
    }

    /// Returns what the server refuses, such as `refused: NOPERM setrange`.
    pub(crate) fn refused(&self) -> Option<Arc<str>> {
        let refused = self.refused.read().unwrap_or_else(|e| e.into_inner());
        refused.clone()
    }

    /// Whether `other` probes the same.
    pub(crate) fn is_like(&self, other: &Probe) -> bool {
        self.key == other.key && std::ptr::eq(self.script, other.script)
    }

    /// Asks the server. An answer that says nothing about rights changes nothing.
    pub(crate) async fn run(&self, connection: &mut Connection) -> RedisResult<()> {
        let command = |name: &str, script: &str| -> Cmd {
            let mut command = redis::cmd(name);
            command.arg(script).arg(1).arg(&self.key);
            command
        };
        let mut answer = connection
            .send(&command("EVALSHA", self.script.digest()))
            .await;
        if answer.as_ref().is_err_and(super::is_unknown_script) {
            answer = connection.send(&command("EVAL", self.script.text())).await;
        }
        let refused = match answer {
            Ok(Value::BulkString(lines)) => {
                let lines = String::from_utf8_lossy(&lines);
                let refused = lines.lines().find(|line| is_refusal(line));
                refused.map(of_command)
            }
            Ok(_) => None,
            Err(error) if is_refused(&error) => Some(in_words(&error)),
            Err(error) => return Err(error),
        };
        let refused = refused.map(|refused| format!("refused: {refused}").into());
        *self.refused.write().unwrap_or_else(|e| e.into_inner()) = refused;
        Ok(())
    }
}

/// A line of the probing script, `setrange NOPERM ...`, as text.
fn of_command(line: &str) -> String {
    let (command, error) = line.split_once(' ').unwrap_or((line, ""));
    match error.contains("NOPERM") || error.contains("can't run this command") {
        true => format!("NOPERM {command}"),
        false => format!("{command}: {error}"),
    }
}

/// Whether the server's error means that this user may not run a command, or that it has none of
/// that name. Full memory or a replica are no such errors.
fn is_refusal(error: &str) -> bool {
    let signs = [
        "NOPERM",
        "can't run this command",
        "can't access at least one of the keys",
        "nknown command",
        "nknown Redis command",
        "NOAUTH",
    ];
    signs.iter().any(|sign| error.contains(sign))
}

/// Whether a call failed because a command is refused.
pub(crate) fn is_refused(error: &RedisError) -> bool {
    matches!(error.kind(), ErrorKind::Server(_) | ErrorKind::Extension)
        && is_refusal(&in_words(error))
}

/// The error as the server wrote it.
fn in_words(error: &RedisError) -> String {
    let code = error.code().unwrap_or("ERR");
    format!("{code} {}", error.detail().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_the_command() {
        let redis_7 = "lset NOPERM User bob has no permissions to run the 'lset' command";
        assert_eq!(of_command(redis_7), "NOPERM lset");
        let redis_6 = "lset ERR The user executing the script can't run this command or subcommand";
        assert_eq!(of_command(redis_6), "NOPERM lset");
        let renamed = "time ERR Unknown Redis command called from script";
        assert!(is_refusal(renamed));
        assert_eq!(
            of_command(renamed),
            "time: ERR Unknown Redis command called from script"
        );
        for other in [
            "set OOM command not allowed when used memory > 'maxmemory'.",
            "set READONLY You can't write against a read only replica.",
            "set MISCONF Redis is configured to save RDB snapshots",
        ] {
            assert!(!is_refusal(other), "{other}");
        }
    }
}
