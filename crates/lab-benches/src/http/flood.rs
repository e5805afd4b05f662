//! A flood of new keys: each request has one that nobody has used before.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use tokio::runtime::Runtime;

use super::generator::{Generator, Keys, Told};
use super::service::{Server, Store, by_key, store};

/// Which flood.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flood {
    pub(crate) name: &'static str,
    pub(crate) quotas: &'static [&'static str],
    /// The cap on keys.
    pub(crate) cap: usize,
    /// How long a key stays live.
    pub(crate) window: Duration,
    pub(crate) seconds: u64,
}

impl Flood {
    /// Keys that are idle soon make room for new ones; keys that are not fill the store.
    pub(crate) const fn both(full: bool, short_cap: usize, seconds: u64) -> [Flood; 2] {
        let (soon, millis): (&[&str], _) = match full {
            true => (&["10/1s"], 1_000),
            // A short flood has to reach the cap, too.
            false => (&["10/250ms"], 250),
        };
        let cap = if full { 100_000 } else { short_cap };
        [
            Flood {
                name: "idle soon",
                quotas: soon,
                cap,
                window: Duration::from_millis(millis),
                seconds,
            },
            Flood {
                name: "live for a minute",
                quotas: &["100/60s"],
                cap,
                window: Duration::from_secs(60),
                seconds,
            },
        ]
    }

    pub(crate) fn path(&self) -> String {
        format!("http/flood of new keys/{}", self.name)
    }
}

/// What the store and the process held at one time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    /// `before`, `during`, `after`.
    pub(crate) phase: &'static str,
    pub(crate) at: Duration,
    pub(crate) keys: usize,
    pub(crate) evictions: u64,
    /// Requests refused because there was no room.
    pub(crate) refusals: u64,
    /// The process's resident memory in bytes, where the system tells it.
    pub(crate) resident: Option<u64>,
}

/// What a flood came to.
pub(crate) struct Flooded {
    pub(crate) flood: Flood,
    pub(crate) told: Told,
    pub(crate) samples: Vec<Sample>,
}

impl Flooded {
    pub(crate) fn phase(&self, phase: &str) -> impl Iterator<Item = &Sample> {
        self.samples
            .iter()
            .filter(move |sample| sample.phase == phase)
    }

    /// # Errors
    /// What is wrong: more keys than the cap, or answers that no store gives.
    pub(crate) fn check(&self, generator: &Generator) -> Result<()> {
        let (flood, told) = (&self.flood, &self.told);
        let most = self.samples.iter().map(|sample| sample.keys).max();
        ensure!(
            most <= Some(flood.cap),
            "{}: {most:?} keys above the cap of {}",
            flood.path(),
            flood.cap
        );
        ensure!(
            told.broken == 0,
            "{}: {} answers did not come",
            flood.path(),
            told.broken
        );
        let last = self.samples.last().map_or(0, |sample| sample.refusals);
        // What was on its way when the generator stopped was decided, and not seen: one request a
        // connection.
        let seen = told.not_ok..=told.not_ok + generator.connections as u64;
        ensure!(
            seen.contains(&last),
            "{}: the store refused {last} for want of room, and {} were not answered 200",
            flood.path(),
            told.not_ok
        );
        if !told.statuses.is_empty() {
            let strange = told
                .statuses
                .keys()
                .find(|status| ![200, 503].contains(*status));
            ensure!(strange.is_none(), "{}: status {strange:?}", flood.path());
            let ok = told.statuses.get(&200).copied().unwrap_or(0);
            ensure!(ok > 0, "{}: nobody was let in", flood.path());
            if flood.window > Duration::from_secs(flood.seconds) {
                ensure!(
                    ok <= flood.cap as u64,
                    "{}: {ok} new keys were let into room for {}",
                    flood.path(),
                    flood.cap
                );
            }
        }
        Ok(())
    }
}

/// Floods a store.
///
/// # Errors
/// If the server or the generator does not start.
pub(crate) fn run(flood: Flood, generator: &Generator, runtime: &Runtime) -> Result<Flooded> {
    let store: Store<String> = store(flood.quotas, Some(flood.cap))?;
    let server = Server::start(by_key(Store::clone(&store)), runtime)?;
    let began = Instant::now();
    let sample = |phase| Sample {
        phase,
        at: began.elapsed(),
        keys: store.keys(),
        evictions: store.stats().evictions,
        refusals: store.stats().full,
        resident: resident(),
    };
    let mut samples = vec![sample("before")];
    let mut child = generator.start(server.address, Keys::New, flood.seconds)?;
    while child.try_wait()?.is_none() {
        std::thread::sleep(Duration::from_millis(50));
        samples.push(sample("during"));
    }
    let told = Generator::finish(child)?;
    if flood.window <= Duration::from_secs(1) {
        // By then all are idle, and a sweep, which services run in the background, forgets them.
        std::thread::sleep(flood.window);
        store.sweep();
    }
    samples.push(sample("after"));
    Ok(Flooded {
        flood,
        told,
        samples,
    })
}

/// The process's resident memory, as Linux tells it.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}
