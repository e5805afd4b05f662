//! How busy others keep the machine, and how much of it the hypervisor takes: from `/proc/stat`.

use std::fs;
use std::thread;
use std::time::Duration;

use crate::processor;

/// Shares of all cores' time in an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Load {
    /// What other processes took.
    pub others: f64,
    /// What the hypervisor took from this machine.
    pub steal: f64,
}

/// A machine is quiet if others take at most this share of it.
pub const QUIET_OTHERS: f64 = 0.05;

/// A machine is quiet if the hypervisor takes at most this share of it.
pub const QUIET_STEAL: f64 = 0.01;

impl Load {
    /// Whether figures can be taken.
    pub fn is_quiet(self) -> bool {
        self.others <= QUIET_OTHERS && self.steal <= QUIET_STEAL
    }
}

/// Processor time since the machine started, in ticks of 10 ms, of all cores.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Ticks {
    all: f64,
    busy: f64,
    steal: f64,
    /// What this process took.
    own: f64,
}

/// Ticks a second: fixed in the kernel's interface.
const PER_SECOND: f64 = 100.0;

impl Ticks {
    fn read() -> Option<Ticks> {
        let stat = fs::read_to_string("/proc/stat").ok()?;
        let own = processor::of_process()?.as_secs_f64() * PER_SECOND;
        Ticks::parse(&stat, own)
    }

    fn parse(stat: &str, own: f64) -> Option<Ticks> {
        let line = stat.lines().next()?.strip_prefix("cpu ")?;
        // user, nice, system, idle, iowait, irq, softirq, steal; guests are in user and nice.
        let fields: Result<Vec<f64>, _> = line.split_whitespace().take(8).map(str::parse).collect();
        let [user, nice, system, idle, waiting, irq, softirq, steal] = fields.ok()?[..] else {
            return None;
        };
        let busy = user + nice + system + irq + softirq;
        Some(Ticks {
            all: busy + idle + waiting + steal,
            busy,
            steal,
            own,
        })
    }

    /// The load since `before`; `None` in less than a few ticks.
    fn since(self, before: Ticks) -> Option<Load> {
        let all = self.all - before.all;
        let others = (self.busy - before.busy) - (self.own - before.own);
        (all >= 10.0).then(|| Load {
            others: (others / all).max(0.0),
            steal: (self.steal - before.steal).max(0.0) / all,
        })
    }
}

/// Observes the machine from one round to the next.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    last: Option<Ticks>,
    loads: Vec<Load>,
}

/// How long one look at a machine takes that may not be quiet.
const LOOK: Duration = Duration::from_millis(300);

impl Watch {
    /// Begins to observe; nothing is known where there is no `/proc/stat`.
    pub fn begin() -> Watch {
        Watch {
            last: Ticks::read(),
            loads: Vec::new(),
        }
    }

    /// Waits until the machine is quiet, for at most `looks` looks of 0.3 s, and returns the load of
    /// the last look. A look at a quiet machine is not waited for again.
    pub fn wait(&mut self, looks: u32) -> Option<Load> {
        let mut load = None;
        for _ in 0..looks {
            let before = Ticks::read()?;
            thread::sleep(LOOK);
            load = Ticks::read()?.since(before);
            if load.is_none_or(Load::is_quiet) {
                break;
            }
        }
        self.last = Ticks::read();
        load
    }

    /// Notes the load since the last call, and returns it.
    pub fn note(&mut self) -> Option<Load> {
        let now = Ticks::read();
        let load = now?.since(self.last?)?;
        self.last = now;
        self.loads.push(load);
        Some(load)
    }

    /// How many of the intervals that were noted were not quiet, and how many there are.
    pub fn not_quiet(&self) -> (u32, u32) {
        let loud = self.loads.iter().filter(|load| !load.is_quiet()).count();
        (loud as u32, self.loads.len() as u32)
    }

    /// The mean load of the intervals that were noted.
    pub fn mean(&self) -> Load {
        let count = self.loads.len().max(1) as f64;
        let mean = |of: fn(&Load) -> f64| self.loads.iter().map(of).sum::<f64>() / count;
        Load {
            others: mean(|load| load.others),
            steal: mean(|load| load.steal),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "cpu  100 20 30 700 50 5 5 90 11 2\ncpu0 1 2 3\n";

    #[test]
    fn load_is_what_others_and_the_hypervisor_took() {
        let before = Ticks::parse(STAT, 10.0).unwrap();
        assert_eq!(
            (before.all, before.busy, before.steal),
            (1_000.0, 160.0, 90.0)
        );
        let after = Ticks::parse("cpu 200 20 30 790 50 5 5 100 0 0\n", 70.0).unwrap();
        // 200 ticks: 100 busy, 60 of them own; 10 stolen.
        let load = after.since(before).unwrap();
        assert!((load.others - 0.2).abs() < 1e-9 && (load.steal - 0.05).abs() < 1e-9);
        assert!(!load.is_quiet());
        assert_eq!(before.since(before), None);
    }

    #[test]
    fn malformed_statistics_are_no_load() {
        for text in [
            "",
            "cpu",
            "cpu 1 2 3",
            "cpu a b c d e f g h",
            "intr 1 2 3 4 5 6 7 8",
        ] {
            assert_eq!(Ticks::parse(text, 0.0), None, "{text}");
        }
    }

    #[test]
    fn rounds_that_are_not_quiet_are_counted() {
        let load = |others, steal| Load { others, steal };
        let watch = Watch {
            last: None,
            loads: vec![load(0.0, 0.0), load(0.5, 0.0), load(0.01, 0.1)],
        };
        assert_eq!(watch.not_quiet(), (2, 3));
        assert!((watch.mean().others - 0.17).abs() < 1e-9);
        assert_eq!(Watch::default().mean(), Load::default());
    }
}
