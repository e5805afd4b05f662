//! The protocol of `cas-ring` as it stands in `crates/cas-ring/src/ring.rs`: head, slots, help, publish,
//! and resets that are announced in a word of their own.
//!
//! One quota. Each atomic operation is one step, in sequential consistency. Beside the ring stands the
//! log of what was accepted since the last reset; each answer is compared with the log's at the step
//! where the answer takes effect.

mod steps;

use crate::check::{Model, Step};

/// A ring, what its threads do, and at most one seeded bug.
#[derive(Clone, Debug)]
pub struct Ring {
    /// Permits in a window.
    pub limit: u8,
    /// Slots, at least the limit.
    pub capacity: u8,
    /// In ticks of the clock.
    pub window: u8,
    /// How often the clock moves on. It stands otherwise.
    pub ticks: u8,
    /// Laps after which the tag of a slot comes back; 256 in the shipped ring.
    pub lap_tags: u8,
    /// What each thread does.
    pub threads: Vec<Budget>,
    /// The seeded bug.
    pub bug: Option<Bug>,
}

/// The calls of a thread, in any order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Budget {
    /// Requests of one permit.
    pub single: u8,
    /// Requests of two permits.
    pub double: u8,
    /// Resets.
    pub resets: u8,
}

/// A seeded bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    /// Stamps do not count resets, and a slot of neither lap is taken for a head that has moved: the
    /// ring before it was mended.
    LateWriteHangs,
    /// Stamps do not count resets.
    ResetsUncounted,
    /// A denial does not load the head again.
    NoSecondLoad,
    /// A claim does not wait until the record before is published.
    ClaimsUnpublished,
    /// A helper does not check the head before it writes.
    HelpsBlindly,
    /// A helper waits until the claimer has published.
    WaitsForClaimer,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Head {
    stamp: u8,
    filled: u8,
    tag: u8,
    index: u8,
    lap: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Slot {
    lap: u8,
    stamp: u8,
}

/// A head, with the time that was read from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct View {
    head: Head,
    time: u8,
}

/// A call that decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Call {
    now: u8,
    cost: u8,
}

/// What a helper does afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Then {
    Claim,
    End,
}

/// Where a thread stands: the atomic operation that it does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum At {
    Rest,
    LoadHead(Call),
    LoadResets(Call, Head),
    IsPublished(Call, View),
    LoadDeciding(Call, View),
    LoadDecidingSlowly(Call, View),
    CheckDenial(Call, View, u8),
    LoadOwnSlot(Call, View),
    Claim(Call, View, Slot),
    WriteOwnSlot(Call, View, Slot),
    LoadMissing(Call, View, u8, Then),
    CheckMissing(Call, View, u8, Then),
    LoadUnpublished(Call, View, u8, Then),
    CheckUnpublished(Call, View, u8, Slot, Then),
    Publish(Call, View, u8, Slot, Then),
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
    left: Budget,
}

/// A state of the ring, its threads, its clock, and the log beside it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    head: Head,
    resets: u8,
    slots: Vec<Slot>,
    now: u8,
    /// Sorted: which of equal threads is which makes no difference.
    threads: Vec<Thread>,
    /// The times of what was accepted since the last reset and has not left the window, and the latest.
    log: Vec<u8>,
    latest: u8,
}

impl Ring {
    fn counts_resets(&self) -> bool {
        !matches!(self.bug, Some(Bug::ResetsUncounted | Bug::LateWriteHangs))
    }

    fn offset(&self, resets: u8) -> u8 {
        if self.counts_resets() { resets } else { 0 }
    }

    /// The head's own number of resets is the announced one, or one less.
    fn view(&self, head: Head, announced: u8) -> View {
        let own = announced.wrapping_sub(announced.wrapping_sub(head.tag) & 1);
        let time = head.stamp.wrapping_sub(self.offset(own));
        View { head, time }
    }

    /// The slot and the lap of the `nth` newest permit.
    fn position(&self, head: Head, nth: u8) -> (usize, u8) {
        match head.index.checked_sub(nth) {
            Some(index) => (index.into(), head.lap),
            None => (
                (head.index + self.capacity - nth).into(),
                self.lap_before(head.lap),
            ),
        }
    }

    fn lap_before(&self, lap: u8) -> u8 {
        (lap + self.lap_tags - 1) % self.lap_tags
    }

    /// The time that a call counts as, and how many of the newest permits count then.
    fn effective(&self, call: Call, view: View) -> (u8, u8) {
        let at = call.now.max(view.time);
        match at - view.time >= self.window {
            true => (at, 0),
            false => (at, view.head.filled),
        }
    }

    fn claimed(&self, call: Call, view: View) -> View {
        let (at, kept) = self.effective(call, view);
        let sum = view.head.index + call.cost;
        let wraps = sum >= self.capacity;
        let head = Head {
            stamp: view.head.stamp.wrapping_add(at.wrapping_sub(view.time)),
            filled: (kept + call.cost).min(self.capacity),
            tag: view.head.tag,
            index: sum - if wraps { self.capacity } else { 0 },
            lap: (view.head.lap + u8::from(wraps)) % self.lap_tags,
        };
        View { head, time: at }
    }

    /// The answer of the log: the time of acceptance, or the wait.
    fn of_log(&self, state: &State, call: Call) -> Result<u8, u8> {
        let at = call.now.max(state.latest);
        let counting: Vec<u8> = state
            .log
            .iter()
            .copied()
            .filter(|time| time + self.window > at)
            .collect();
        let spare = usize::from(self.limit - call.cost);
        match counting.len().checked_sub(spare + 1) {
            None => Ok(at),
            Some(deciding) => Err(counting[deciding] + self.window - call.now),
        }
    }
}

impl Model for Ring {
    type State = State;

    fn first(&self) -> State {
        let rest = |&left: &Budget| Thread { at: At::Rest, left };
        let mut threads: Vec<Thread> = self.threads.iter().map(rest).collect();
        threads.sort_unstable();
        let empty = Slot {
            lap: self.lap_tags - 1,
            stamp: 0,
        };
        State {
            head: Head {
                stamp: 0,
                filled: 0,
                tag: 0,
                index: 0,
                lap: 0,
            },
            resets: 0,
            slots: vec![empty; self.capacity.into()],
            now: 0,
            threads,
            log: Vec::new(),
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
                At::Rest => begin(state, index, &mut steps),
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

/// The calls that a thread at rest can begin.
fn begin(state: &State, index: usize, steps: &mut Vec<Step<State>>) {
    let left = state.threads[index].left;
    let now = state.now;
    let calls = [
        (
            left.single,
            Budget {
                single: left.single.saturating_sub(1),
                ..left
            },
            At::LoadHead(Call { now, cost: 1 }),
        ),
        (
            left.double,
            Budget {
                double: left.double.saturating_sub(1),
                ..left
            },
            At::LoadHead(Call { now, cost: 2 }),
        ),
        (
            left.resets,
            Budget {
                resets: left.resets.saturating_sub(1),
                ..left
            },
            At::ResetLoadsHead,
        ),
    ];
    for (_, left, at) in calls.into_iter().filter(|call| call.0 > 0) {
        let mut next = state.clone();
        next.threads[index] = Thread { at, left };
        steps.push(beginning(next, Some(index)));
    }
}
