//! What a key takes: `MEMORY USAGE key SAMPLES 0`, by the server's own count.

use std::time::Duration;

use anyhow::Result;

use super::contestants::Contestant;

/// One key, filled to its limit.
pub(crate) struct Filled {
    pub(crate) contestant: &'static str,
    pub(crate) limit: u64,
    pub(crate) bytes: u64,
}

pub(crate) const LIMITS: [u64; 5] = [100, 128, 129, 1_000, 10_000];
pub(crate) const CONTESTANTS: [&str; 4] = ["log", "two-counter", "gcra", "usual log (sorted set)"];

/// Fills a key of each to each limit by asking as often, and measures it.
///
/// # Errors
/// If the server is gone.
pub(crate) async fn measure(url: &str, limits: &[u64]) -> Result<Vec<Filled>> {
    let mut connection = redis::Client::open(url)?.get_connection()?;
    let mut filled = Vec::new();
    for contestant in CONTESTANTS {
        for &limit in limits {
            let _: () = redis::cmd("FLUSHALL").query(&mut connection)?;
            let asked = Contestant::build(contestant, url, limit, Duration::from_secs(3_600));
            let asked = asked.await?;
            for _ in 0..limit {
                anyhow::ensure!(asked.ask("client-12345").await?, "denied below its limit");
            }
            let keys: Vec<String> = redis::cmd("KEYS").arg("*").query(&mut connection)?;
            let mut bytes = 0;
            for key in &keys {
                let usage = ["USAGE", key, "SAMPLES", "0"];
                bytes += redis::cmd("MEMORY")
                    .arg(&usage)
                    .query::<u64>(&mut connection)?;
            }
            filled.push(Filled {
                contestant,
                limit,
                bytes,
            });
        }
    }
    Ok(filled)
}
