//! Processor time a call: of this process, of the server, and inside of scripts. It hardly knows
//! what else the machine does, which calls a second do.

use anyhow::{Context, Result};
use cpu_time::ProcessTime;

/// Microseconds a call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spent {
    /// Of this process: the client and the load.
    pub(crate) client: f64,
    /// Of the server, all of it: it reads, runs and answers.
    pub(crate) server: f64,
    /// Of the server inside of scripts, the commands that they call included, by its own count.
    pub(crate) script: f64,
}

/// A meter that runs.
pub(crate) struct Meter {
    connection: redis::Connection,
    client: ProcessTime,
    server: f64,
}

impl Meter {
    /// Begins to count.
    ///
    /// # Errors
    /// What the server said.
    pub(crate) fn start(url: &str) -> Result<Meter> {
        let mut connection = redis::Client::open(url)?.get_connection()?;
        let _: () = redis::cmd("CONFIG")
            .arg("RESETSTAT")
            .query(&mut connection)?;
        let server = of_server(&mut connection)?;
        Ok(Meter {
            connection,
            client: ProcessTime::now(),
            server,
        })
    }

    /// What was spent since, by each of `calls`.
    ///
    /// # Errors
    /// What the server said.
    pub(crate) fn stop(mut self, calls: u64) -> Result<Spent> {
        let client = self.client.elapsed().as_secs_f64() * 1e6;
        let server = of_server(&mut self.connection)? - self.server;
        let info = info(&mut self.connection, "commandstats")?;
        let calls = calls.max(1) as f64;
        Ok(Spent {
            client: client / calls,
            server: server / calls,
            script: in_scripts(&info) / calls,
        })
    }
}

fn info(connection: &mut redis::Connection, section: &str) -> Result<String> {
    Ok(redis::cmd("INFO").arg(section).query(connection)?)
}

/// Microseconds of the server since it started.
fn of_server(connection: &mut redis::Connection) -> Result<f64> {
    let info = info(connection, "cpu")?;
    let seconds = |name: &str| -> Result<f64> {
        let line = info.lines().find_map(|line| line.strip_prefix(name));
        let line = line.with_context(|| format!("INFO cpu tells no `{name}`"))?;
        line.trim()
            .parse()
            .with_context(|| format!("INFO cpu: `{name}{line}`"))
    };
    Ok(1e6 * (seconds("used_cpu_user:")? + seconds("used_cpu_sys:")?))
}

/// Microseconds inside of scripts, by `INFO commandstats`.
fn in_scripts(info: &str) -> f64 {
    let scripts = ["cmdstat_evalsha:", "cmdstat_eval:", "cmdstat_fcall:"];
    let of = |line: &str| {
        let rest = scripts.iter().find_map(|name| line.strip_prefix(name))?;
        let usec = rest
            .split(',')
            .find_map(|field| field.strip_prefix("usec="));
        usec?.parse::<f64>().ok()
    };
    info.lines().filter_map(of).sum()
}
