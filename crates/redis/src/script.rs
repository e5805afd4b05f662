//! The scripts: their text, assembled once, and its digest, by which a server finds them.

use std::sync::LazyLock;

/// A script as it is sent to the server.
#[derive(Debug)]
pub struct Script {
    text: String,
    digest: String,
}

impl Script {
    fn new(text: String) -> Script {
        let digest = redis::Script::new(&text).get_hash().to_owned();
        Script { text, digest }
    }

    /// The whole text, sent to a server that does not have the digest.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// SHA-1 of the text.
    pub(crate) fn digest(&self) -> &str {
        &self.digest
    }
}

/// The only clock of the scripts. Tests of the crate replace it.
const CLOCK: &str = include_str!("scripts/clock.lua");

/// The bodies of the scripts that read the clock.
pub(crate) const LOG: &str = include_str!("scripts/log.lua");
pub(crate) const TWO_COUNTER: &str = include_str!("scripts/two_counter.lua");
pub(crate) const GCRA: &str = include_str!("scripts/gcra.lua");

/// A body below the clock that it reads.
pub(crate) fn on_clock(clock: &str, body: &str) -> Script {
    Script::new(format!("{clock}{body}"))
}

/// The probe of an algorithm that calls `commands`, each with its arguments after the key. The first
/// writes the key with a short life, so that none is left.
fn probe(commands: &[(&str, &str)]) -> Script {
    let lines = commands
        .iter()
        .map(|(command, arguments)| format!("try('{command}', key{arguments})\n"));
    let head = include_str!("scripts/probe.lua");
    let lines: String = lines.collect();
    Script::new(format!("{head}{lines}return table.concat(failed, '\\n')\n"))
}

macro_rules! scripts {
    ($($(#[$doc:meta])* $name:ident: $script:expr),* $(,)?) => {$(
        $(#[$doc])*
        pub(crate) static $name: LazyLock<Script> = LazyLock::new(|| $script);
    )*};
}

scripts! {
    /// Decides by the log.
    DECIDE_LOG: on_clock(CLOCK, LOG),
    /// Decides by the two counters.
    DECIDE_TWO_COUNTER: on_clock(CLOCK, TWO_COUNTER),
    /// Decides by GCRA.
    DECIDE_GCRA: on_clock(CLOCK, GCRA),
    /// Probes the log.
    PROBE_LOG: probe(&[
        ("psetex", ", '2', 'x'"),
        ("getrange", ", '0', '0'"),
        ("strlen", ""),
        ("setrange", ", '0', 'y'"),
        ("pexpire", ", '2'"),
        ("pttl", ""),
    ]),
    /// Probes the two counters and GCRA.
    PROBE_STRING: probe(&[
        ("psetex", ", '2', 'x'"),
        ("get", ""),
        ("setrange", ", '0', 'y'"),
        ("pttl", ""),
    ]),
    /// Settles in the log.
    SETTLE_LOG: Script::new(include_str!("scripts/log_settle.lua").into()),
    /// Settles in the two counters.
    SETTLE_TWO_COUNTER: Script::new(include_str!("scripts/two_counter_settle.lua").into()),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_shipped_script_is_the_servers_and_is_read_once() {
        for script in [&DECIDE_LOG, &DECIDE_TWO_COUNTER, &DECIDE_GCRA] {
            let calls = script.text().matches("redis.call('TIME')").count();
            assert_eq!(calls, 1);
            assert_eq!(script.text().matches("local now =").count(), 1);
            let assigned = "local now = time[1] * 1000000 + time[2]";
            assert!(script.text().contains(assigned));
        }
        for script in [&SETTLE_LOG, &SETTLE_TWO_COUNTER] {
            assert!(!script.text().contains("TIME"), "it needs no clock");
        }
    }
}
