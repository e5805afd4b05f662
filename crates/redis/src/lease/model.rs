//! Leases in a simulated world: processes with clocks of their own, messages that are late or lost,
//! crashes and stalls. The slot and the log are the shipped ones. Each seeded bug must be found.

use windowpane_core::{Cost, Decision, Quota, Quotas, RateLimiter, Settle, Unit};
use windowpane_mutex_log::MutexLog;

use super::slot::Slot;

const MILLI: u64 = 1_000_000;
const WINDOW: u64 = 300;
const LIFE: u64 = 60;
const LIMIT: u64 = 24;
const PROCESSES: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Bug {
    None,
    /// Charged as of the grant.
    ShortWindow,
    /// The life counts from the answer.
    FromAnswer,
    /// What is left is returned and spent nevertheless.
    ReturnWithoutClosing,
    /// A thread that slept after it read the clock spends.
    OneReading,
    /// A lease has no end.
    NoEnd,
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % n
    }
}

enum Message {
    Ask {
        batch: u64,
        sent: u64,
        by: u64,
    },
    Granted {
        at: u64,
        batch: u64,
        sent: u64,
        by: u64,
    },
    Denied,
    Return {
        at: u64,
        batch: u64,
        actual: u64,
    },
}

struct Process {
    /// A process that starts again receives no answer of the one before.
    id: u64,
    slot: Slot,
    /// The local clock is this much ahead of the true time.
    offset: u64,
    lease: Option<(u64, u64)>,
    is_asking: bool,
    asleep_until: u64,
    /// A thread that has read the clock and not yet taken.
    reading: Option<u64>,
}

impl Process {
    fn new(random: &mut Random) -> Process {
        Process {
            id: random.below(u64::MAX),
            slot: Slot::default(),
            offset: random.below(1_000) * MILLI,
            lease: None,
            is_asking: false,
            asleep_until: 0,
            reading: None,
        }
    }
}

/// Runs a world and returns the times, in milliseconds, at which permits were spent.
fn run(seed: u64, bug: Bug) -> Vec<u64> {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let longer = if bug == Bug::ShortWindow { 0 } else { LIFE };
    let quota = Quota::from_nanos(LIMIT, (WINDOW + longer) * MILLI, Unit::Permits).unwrap();
    let server = <MutexLog>::new(Quotas::new([quota]).unwrap());
    let mut processes: Vec<Process> = (0..PROCESSES).map(|_| Process::new(&mut random)).collect();
    let mut messages: Vec<(u64, usize, Message)> = Vec::new();
    let mut spent = Vec::new();
    let send = |messages: &mut Vec<_>, random: &mut Random, now, to, message| {
        // One in twenty is lost, one in five is late.
        let delay = match random.below(20) {
            0 => return,
            1..=4 => 10 + random.below(50),
            _ => random.below(4),
        };
        messages.push((now + delay, to, message));
    };
    for now in 1..6 * WINDOW {
        let due: Vec<_> = messages.extract_if(.., |(at, ..)| *at <= now).collect();
        for (_, index, message) in due {
            let process = &mut processes[index];
            match message {
                Message::Ask { batch, sent, by } => {
                    let cost = Cost::new(batch).unwrap();
                    let answer = match server.decide_at(now * MILLI, cost).unwrap() {
                        Decision::Allowed { at } => Message::Granted {
                            at,
                            batch,
                            sent,
                            by,
                        },
                        Decision::Denied(_) => Message::Denied,
                    };
                    send(&mut messages, &mut random, now, index, answer);
                }
                Message::Return { at, batch, actual } => {
                    server.settle_at(at, Cost::new(batch).unwrap(), actual);
                }
                Message::Denied => process.is_asking = false,
                // An answer to a process that crashed meanwhile, or gave up, is nobody's.
                Message::Granted {
                    at,
                    batch,
                    sent,
                    by,
                } if process.is_asking && process.id == by => {
                    let local = now * MILLI + process.offset;
                    let from = if bug == Bug::FromAnswer { local } else { sent };
                    let life = if bug == Bug::NoEnd { 100 * LIFE } else { LIFE };
                    process.slot.open(from + life * MILLI, batch);
                    process.lease = Some((at, batch));
                    process.is_asking = false;
                }
                Message::Granted { .. } => {}
            }
        }
        for (index, process) in processes.iter_mut().enumerate() {
            if process.asleep_until > now {
                continue;
            }
            match random.below(150) {
                0 => *process = Process::new(&mut random),
                1 => process.asleep_until = now + random.below(2 * LIFE),
                _ => {}
            }
            let local = now * MILLI + process.offset;
            // Reads in one step and takes in the next, between which it may sleep.
            if let Some(read) = process.reading.take() {
                for _ in 0..random.below(4) {
                    let taken = process.slot.take(read, 1);
                    if taken.is_some_and(|end| local < end || bug == Bug::OneReading) {
                        spent.push(now);
                    }
                }
            }
            process.reading = Some(local);
            if process.is_asking {
                // Gives up in the end: the answer is lost.
                process.is_asking = random.below(80) > 0;
            } else if process.slot.take(local, 1).is_some() {
                spent.push(now);
                if bug == Bug::ReturnWithoutClosing
                    && let Some((at, batch)) = process.lease.take()
                {
                    let actual = 1.min(batch);
                    let back = Message::Return { at, batch, actual };
                    send(&mut messages, &mut random, now, index, back);
                }
            } else if process.asleep_until <= now {
                let left = process.slot.close();
                if let Some((at, batch)) = process.lease.take().filter(|_| left > 0) {
                    let actual = batch - left;
                    let back = Message::Return { at, batch, actual };
                    send(&mut messages, &mut random, now, index, back);
                }
                let batch = 1 + random.below(LIMIT / 2);
                process.is_asking = true;
                let ask = Message::Ask {
                    batch,
                    sent: local,
                    by: process.id,
                };
                send(&mut messages, &mut random, now, index, ask);
            }
        }
    }
    spent
}

/// The most permits spent in any window.
fn most(spent: &[u64]) -> u64 {
    let window = |&t: &u64| {
        spent
            .iter()
            .filter(|&&s| s > t.saturating_sub(WINDOW) && s <= t)
            .count()
    };
    spent.iter().map(window).max().unwrap_or(0) as u64
}

#[test]
fn no_window_holds_more_than_the_limit() {
    let mut allowed = 0;
    for seed in 1..1_000 {
        let spent = run(seed, Bug::None);
        assert!(most(&spent) <= LIMIT, "seed {seed}: {}", most(&spent));
        allowed += spent.len() as u64;
    }
    // Six windows each: a world that allows little proves little.
    assert!(allowed > 999 * LIMIT * 2, "{allowed}");
}

#[test]
fn each_seeded_bug_is_found() {
    for bug in [
        Bug::ShortWindow,
        Bug::FromAnswer,
        Bug::ReturnWithoutClosing,
        Bug::OneReading,
        Bug::NoEnd,
    ] {
        let found = (1..400).any(|seed| most(&run(seed, bug)) > LIMIT);
        assert!(found, "{bug:?}");
    }
}
