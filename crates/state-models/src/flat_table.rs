//! The protocol of the flat table as it stands in `crates/keyed/src/flat`: claims, full probes, the
//! eviction watermark.
//!
//! Two keys share a probe sequence of two entries, each in a block of its own. The rule is that of the fixed window, one permit a
//! request. Each atomic operation is one step, in sequential consistency. Beside the table stands what
//! each key would have if it were never forgotten; each answer is compared with that.

mod steps;

use crate::check::{Model, Step};

/// A table, what its threads do, and at most one seeded bug.
#[derive(Clone, Debug)]
pub struct FlatTable {
    /// Permits in a window.
    pub limit: u8,
    /// In ticks of the clock.
    pub window: u8,
    /// How often the clock moves on. It stands otherwise.
    pub ticks: u8,
    /// The first entry holds a third key at first, which is idle from the second window on.
    pub is_used: bool,
    /// What each thread does.
    pub threads: Vec<Requests>,
    /// The seeded bug.
    pub bug: Option<Seeded>,
}

/// The requests of a thread for each of the two keys, in any order.
pub type Requests = [u8; 2];

/// A seeded bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seeded {
    /// A claim is made held before a second full probe.
    HoldsAtOnce,
    /// A probe leaves other claims of its key.
    LeavesClaims,
    /// An eviction does not raise the watermark.
    KeepsWatermark,
    /// An eviction does not mind that the key was charged meanwhile.
    EvictsBlindly,
    /// A charge does not mind that the entry was changed meanwhile.
    ChargesBlindly,
    /// A thread waits until another has finished its claim.
    WaitsForClaimer,
}

/// The state of one key: the window of the latest acceptance, and the count in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Word {
    index: u8,
    count: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Entry {
    Empty,
    Held(u8, Word),
    Claimed(u8, u8),
}

/// An entry of the probe sequence, as it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Found {
    nth: u8,
    entry: Entry,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Call {
    now: u8,
    key: u8,
}

/// What a thread knows from one full probe to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Known {
    /// Its own claim.
    own: Option<Found>,
    /// The claim that was there before this probe began.
    first: Option<Found>,
}

/// What a full probe has met so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Probe {
    /// The call's time, or the watermark where that is later.
    at: u8,
    claim: Option<Found>,
    /// The nearest entry for the key.
    room: Option<Found>,
    /// All other claims of the key that were met are dropped.
    alone: bool,
}

/// Where a thread stands: the atomic operation that it does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum At {
    Rest,
    Look(Call, u8),
    Charge(Call, u8, Word),
    Reload(Call, u8),
    LoadWatermark(Call, Known),
    LoadEntry(Call, Known, Probe, u8),
    DropOther(Call, Known, Probe, Found),
    DropOwn(Call, Found, Option<(u8, Word)>),
    RaiseWatermark(Call, Found),
    Claim(Call, Found),
    LoadWatermarkAgain(Call, Known, Found),
    Hold(Call, Known, Found, u8),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Thread {
    at: At,
    left: Requests,
}

/// A state of the table, its threads, its clock, and the keys as if they were never forgotten.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    entries: [Entry; 2],
    watermark: u8,
    /// No two claims have the same number.
    claims: u8,
    now: u8,
    /// Sorted: which of equal threads is which makes no difference.
    threads: Vec<Thread>,
    never_forgotten: [Word; 2],
}

impl FlatTable {
    /// The word after an acceptance at `now`, or `None` if it is denied.
    fn decide(&self, word: Word, now: u8) -> Option<Word> {
        let index = (now / self.window).max(word.index);
        let count = if index > word.index { 0 } else { word.count };
        let count = count + 1;
        (count <= self.limit).then_some(Word { index, count })
    }

    /// The time from which on a key is as good as unknown.
    fn idle_from(&self, word: Word) -> u8 {
        (word.index + 1) * self.window
    }
}

impl Model for FlatTable {
    type State = State;

    fn first(&self) -> State {
        let rest = |&left: &Requests| Thread { at: At::Rest, left };
        let mut threads: Vec<Thread> = self.threads.iter().map(rest).collect();
        threads.sort_unstable();
        let third = Entry::Held(2, Word { index: 0, count: 1 });
        let nearest = if self.is_used { third } else { Entry::Empty };
        State {
            entries: [nearest, Entry::Empty],
            watermark: 0,
            claims: 0,
            now: 0,
            threads,
            never_forgotten: [Word { index: 0, count: 0 }; 2],
        }
    }

    fn describe(&self, state: &State, actor: Option<usize>) -> String {
        match actor.map(|index| state.threads[index].at) {
            None => format!("the clock moves on from {}", state.now),
            Some(At::Rest) => "a thread begins a call".into(),
            Some(at) => format!("{at:?}"),
        }
    }

    fn in_calls(&self, state: &State) -> usize {
        // Sorted, so equal ones are neighbours.
        let of_equal = state.threads.chunk_by(PartialEq::eq);
        of_equal.filter(|equal| equal[0].at != At::Rest).count()
    }

    fn steps(&self, state: &State) -> Vec<Step<State>> {
        let mut steps = Vec::new();
        if state.now < self.ticks {
            let mut next = state.clone();
            next.now += 1;
            steps.push(beginning(next, None));
        }
        for (index, thread) in state.threads.iter().enumerate() {
            // Equal threads do the same.
            if index > 0 && *thread == state.threads[index - 1] {
                continue;
            }
            if thread.at != At::Rest {
                steps.push(self.go_on(state, index, thread.at));
                continue;
            }
            for key in 0..2_u8 {
                let mut next = state.clone();
                let left = &mut next.threads[index].left[usize::from(key)];
                let Some(fewer) = left.checked_sub(1) else {
                    continue;
                };
                *left = fewer;
                next.threads[index].at = At::Look(
                    Call {
                        now: state.now,
                        key,
                    },
                    0,
                );
                steps.push(beginning(next, Some(index)));
            }
        }
        for step in &mut steps {
            step.state.threads.sort_unstable();
        }
        steps
    }
}

/// A step of the clock, or the beginning of a call.
fn beginning(state: State, actor: Option<usize>) -> Step<State> {
    Step {
        in_call: false,
        ends: false,
        actor,
        wrong: None,
        state,
    }
}
