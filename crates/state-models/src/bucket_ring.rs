//! The protocol of `bucket-ring` as it stands in `crates/bucket-ring/src/ring.rs`: a head that counts, the
//! records of older buckets, publish, and resets that are announced in a word of their own.
//!
//! One quota. Each atomic operation is one step, in sequential consistency. A call loads the records that
//! may count from the oldest on; the shipped search loads some of them. Beside the ring stand the buckets
//! as whole numbers, and each answer is compared with theirs at the step where it takes effect.

mod steps;

use crate::check::{Model, Step};

/// A ring, what its threads do, and at most one seeded bug.
#[derive(Clone, Debug)]
pub struct BucketRing {
    /// Permits in a window.
    pub limit: u8,
    /// Buckets of a window, each of `width`.
    pub buckets: u8,
    /// In ticks of the clock.
    pub width: u8,
    /// How often the clock moves on. It stands otherwise.
    pub ticks: u8,
    /// What the count of accepted permits runs modulo, above the limit; 2^39 in the shipped ring.
    pub counts: u8,
    /// What each thread does.
    pub threads: Vec<Calls>,
    /// The seeded bug.
    pub bug: Option<Fault>,
}

/// The calls of a thread, in any order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Calls {
    /// Requests of one permit.
    pub single: u8,
    /// Requests of the whole limit.
    pub whole: u8,
    /// Resets.
    pub resets: u8,
}

/// A seeded bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Neither stamps nor records count resets: the ring before it was mended.
    ResetsUncounted,
    /// A denial does not load the head again.
    NoSecondLoad,
    /// A bucket begins before the record of the one before is published.
    RollsUnpublished,
    /// A thread does not check the head before it writes a record.
    PublishesBlindly,
    /// A record of the same bucket is taken for the last one, though more was accepted since.
    TakesEarlyRecords,
    /// A thread waits until another has published.
    WaitsForPublisher,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Head {
    stamp: u8,
    accepted: u8,
    tag: u8,
    counting: u8,
    index: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Record {
    /// Of a ring in which nothing counts.
    emptied: bool,
    number: u8,
    accepted: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct View {
    head: Head,
    time: u8,
    resets: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Call {
    now: u8,
    cost: u8,
}

/// The most records that a call reads.
const MOST: usize = 3;

/// The records that a call has read, the newest first: the first is of the second newest bucket.
type Read = [Option<Record>; MOST];

/// Where a thread stands: the atomic operation that it does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum At {
    Rest,
    LoadHead(Call),
    LoadResets(Call, Head),
    /// Loads the record of the `nth` newest bucket, and goes on to newer ones.
    LoadRecord(Call, View, u8, Read),
    CheckDenial(Call, View, u8),
    LoadNewest(Call, View, u8),
    CheckNewest(Call, View, u8, Record),
    Publish(Call, View, u8, Record),
    /// Claims; a new bucket begins with `Some` older ones that still count.
    Claim(Call, View, Option<u8>),
    ResetLoadsHead,
    ResetLoadsNumber(Head),
    ResetChecksHead(Head, u8),
    Announce(u8),
    ResetLoadsAgain(u8),
    ResetChecksNumber(u8, Head),
    Empty(u8, Head),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Thread {
    at: At,
    left: Calls,
}

/// A state of the ring, its threads, its clock, and the buckets beside it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    head: Head,
    resets: u8,
    slots: Vec<Record>,
    now: u8,
    /// Sorted: which of equal threads is which makes no difference.
    threads: Vec<Thread>,
    /// What was accepted since the last reset, by bucket, oldest first, and the latest time.
    held: Vec<(u8, u8)>,
    latest: u8,
}

impl BucketRing {
    fn window(&self) -> u8 {
        self.buckets * self.width
    }

    fn slots(&self) -> u8 {
        self.buckets + 2
    }

    /// Whether a bucket counts at a time: while its last instant is inside the window.
    fn counts_at(&self, bucket: u8, at: u8) -> bool {
        (bucket + 1) * self.width - 1 + self.window() > at
    }

    /// The time of acceptance, or the wait, when `held` was accepted.
    fn answer(&self, held: &[(u8, u8)], latest: u8, call: Call) -> Result<u8, u8> {
        let at = call.now.max(latest);
        let fits = |time: u8| {
            let counting = held.iter().filter(|held| self.counts_at(held.0, time));
            counting.map(|held| held.1).sum::<u8>() + call.cost <= self.limit
        };
        match fits(at) {
            true => Ok(at),
            false => Err((at..)
                .find(|&time| fits(time))
                .map_or(u8::MAX, |time| time - call.now)),
        }
    }
}

impl Model for BucketRing {
    type State = State;

    fn first(&self) -> State {
        let rest = |&left: &Calls| Thread { at: At::Rest, left };
        let mut threads: Vec<Thread> = self.threads.iter().map(rest).collect();
        threads.sort_unstable();
        let empty = Record {
            emptied: true,
            number: 0,
            accepted: 0,
        };
        State {
            head: Head {
                stamp: 0,
                accepted: 0,
                tag: 0,
                counting: 0,
                index: 0,
            },
            resets: 0,
            slots: vec![empty; self.slots().into()],
            now: 0,
            threads,
            held: Vec::new(),
            latest: 0,
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
            match thread.at {
                At::Rest => self.begin(state, index, &mut steps),
                at => steps.push(self.go_on(state, index, at)),
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

impl BucketRing {
    /// The calls that a thread at rest can begin.
    fn begin(&self, state: &State, index: usize, steps: &mut Vec<Step<State>>) {
        let left = state.threads[index].left;
        let asks = |cost| {
            At::LoadHead(Call {
                now: state.now,
                cost,
            })
        };
        let mut add = |left, at| {
            let mut next = state.clone();
            next.threads[index] = Thread { at, left };
            steps.push(beginning(next, Some(index)));
        };
        if let Some(single) = left.single.checked_sub(1) {
            add(Calls { single, ..left }, asks(1));
        }
        if let Some(whole) = left.whole.checked_sub(1) {
            add(Calls { whole, ..left }, asks(self.limit));
        }
        if let Some(resets) = left.resets.checked_sub(1) {
            add(Calls { resets, ..left }, At::ResetLoadsHead);
        }
    }
}
