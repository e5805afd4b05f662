//! The steps of a thread inside a call, one atomic operation each.

use super::{At, Call, Entry, FlatTable, Found, Known, Probe, Seeded, State, Word};
use crate::check::Step;

/// A key of which nothing is known.
const FRESH: Word = Word { index: 0, count: 0 };

impl FlatTable {
    /// The one step of a thread inside a call.
    pub(super) fn go_on(&self, state: &State, index: usize, at: At) -> Step<State> {
        let mut next = state.clone();
        let mut wrong = None;
        let then = self.after(&mut next, at, &mut wrong);
        next.threads[index].at = then;
        Step {
            in_call: true,
            ends: then == At::Rest,
            actor: Some(index),
            wrong,
            state: next,
        }
    }

    /// Does the atomic operation at which a thread stands, and returns where it stands afterwards.
    fn after(&self, state: &mut State, at: At, wrong: &mut Option<String>) -> At {
        match at {
            At::Rest => At::Rest,
            At::Look(call, nth) => match state.entries[usize::from(nth)] {
                Entry::Held(key, word) if key == call.key => {
                    self.charge(state, call, nth, word, wrong)
                }
                _ if nth == 0 => At::Look(call, 1),
                _ => again(call),
            },
            At::Reload(call, nth) => match state.entries[usize::from(nth)] {
                Entry::Held(key, word) if key == call.key => {
                    self.charge(state, call, nth, word, wrong)
                }
                _ => again(call),
            },
            At::Charge(call, nth, word) => {
                let held = Entry::Held(call.key, word);
                let slot = &mut state.entries[usize::from(nth)];
                if *slot != held && self.bug != Some(Seeded::ChargesBlindly) {
                    return At::Reload(call, nth);
                }
                match self.decide(word, call.now) {
                    None => again(call),
                    Some(after) => {
                        *slot = Entry::Held(call.key, after);
                        self.accept(state, call, call.now, wrong);
                        At::Rest
                    }
                }
            }
            At::LoadWatermark(call, known) => {
                let probe = Probe {
                    at: call.now.max(state.watermark),
                    claim: None,
                    room: None,
                    alone: true,
                };
                At::LoadEntry(call, known, probe, 0)
            }
            At::LoadEntry(call, known, probe, nth) => {
                self.load_entry(state, call, known, probe, nth, wrong)
            }
            At::DropOther(call, known, mut probe, found) => {
                let dropped = replace(state, found, Entry::Empty);
                probe.alone &= dropped;
                self.go_to(call, known, probe, found.nth + 1)
            }
            At::DropOwn(call, own, then) => {
                replace(state, own, Entry::Empty);
                match then {
                    Some((nth, word)) => At::Charge(call, nth, word),
                    None => At::Rest,
                }
            }
            At::RaiseWatermark(call, room) => {
                if let Entry::Held(_, word) = room.entry
                    && self.bug != Some(Seeded::KeepsWatermark)
                {
                    state.watermark = state.watermark.max(self.idle_from(word));
                }
                At::Claim(call, room)
            }
            At::Claim(call, room) => {
                state.claims += 1;
                let claimed = Entry::Claimed(call.key, state.claims);
                let is_there = replace(state, room, claimed);
                if !is_there && self.bug == Some(Seeded::EvictsBlindly) {
                    state.entries[usize::from(room.nth)] = claimed;
                } else if !is_there {
                    return again(call);
                }
                let own = Found {
                    nth: room.nth,
                    entry: claimed,
                };
                let known = Known {
                    own: Some(own),
                    first: Some(own),
                };
                match self.bug {
                    Some(Seeded::HoldsAtOnce) => At::LoadWatermarkAgain(call, known, own),
                    _ => At::LoadWatermark(call, known),
                }
            }
            At::LoadWatermarkAgain(call, known, first) => {
                At::Hold(call, known, first, call.now.max(state.watermark))
            }
            At::Hold(call, known, first, at) => {
                let Some(word) = self.decide(FRESH, at) else {
                    return At::Rest;
                };
                if !replace(state, first, Entry::Held(call.key, word)) {
                    return At::LoadWatermark(
                        call,
                        Known {
                            first: None,
                            ..known
                        },
                    );
                }
                self.accept(state, call, at, wrong);
                let holds =
                    |entry: &&Entry| matches!(entry, Entry::Held(key, _) if *key == call.key);
                if state.entries.iter().filter(holds).count() > 1 {
                    *wrong = Some(format!("two entries hold key {}", call.key));
                }
                At::Rest
            }
        }
    }

    /// One entry of a full probe.
    fn load_entry(
        &self,
        state: &State,
        call: Call,
        known: Known,
        mut probe: Probe,
        nth: u8,
        wrong: &mut Option<String>,
    ) -> At {
        let entry = state.entries[usize::from(nth)];
        let found = Found { nth, entry };
        match entry {
            Entry::Held(key, word) if key == call.key => {
                let then = self.charge(state, call, nth, word, wrong);
                return match (known.own, then) {
                    (None, then) => then,
                    (Some(own), At::Charge(..)) => At::DropOwn(call, own, Some((nth, word))),
                    (Some(own), _) => At::DropOwn(call, own, None),
                };
            }
            Entry::Claimed(key, _) if key == call.key => match probe.claim {
                None => probe.claim = Some(found),
                Some(_) if self.bug == Some(Seeded::LeavesClaims) => {}
                Some(_) => return At::DropOther(call, known, probe, found),
            },
            Entry::Claimed(..) => {}
            Entry::Empty => consider(&mut probe, found),
            Entry::Held(_, word) if self.idle_from(word) <= probe.at => consider(&mut probe, found),
            Entry::Held(..) => {}
        }
        self.go_to(call, known, probe, nth + 1)
    }

    /// The next entry of a probe, or what follows from all of it.
    fn go_to(&self, call: Call, known: Known, probe: Probe, nth: u8) -> At {
        if nth < 2 {
            return At::LoadEntry(call, known, probe, nth);
        }
        match (probe.claim, probe.room) {
            // The table is full: an error.
            (None, None) => At::Rest,
            (None, Some(room)) => At::RaiseWatermark(call, room),
            (Some(first), _) if known.first == Some(first) && probe.alone => {
                At::LoadWatermarkAgain(call, known, first)
            }
            (Some(first), _)
                if self.bug == Some(Seeded::WaitsForClaimer) && known.own != Some(first) =>
            {
                At::LoadWatermark(call, known)
            }
            (first, _) => At::LoadWatermark(call, Known { first, ..known }),
        }
    }

    /// A charge of a word that was just loaded; a denial takes effect there.
    fn charge(
        &self,
        state: &State,
        call: Call,
        nth: u8,
        word: Word,
        wrong: &mut Option<String>,
    ) -> At {
        if self.decide(word, call.now).is_some() {
            return At::Charge(call, nth, word);
        }
        let truth = state.never_forgotten[usize::from(call.key)];
        if self.decide(truth, call.now).is_some() {
            *wrong = Some(format!(
                "key {} is denied at {}, with {truth:?}",
                call.key, call.now
            ));
        }
        At::Rest
    }

    /// Charges the key that is never forgotten, too.
    fn accept(&self, state: &mut State, call: Call, at: u8, wrong: &mut Option<String>) {
        let truth = &mut state.never_forgotten[usize::from(call.key)];
        match self.decide(*truth, at) {
            Some(after) => *truth = after,
            None => {
                *wrong = Some(format!(
                    "key {} is allowed at {at}, with {truth:?}",
                    call.key
                ))
            }
        }
    }
}

/// From the beginning, with nothing known.
fn again(call: Call) -> At {
    let known = Known {
        own: None,
        first: None,
    };
    At::LoadWatermark(call, known)
}

/// Puts `next` in the place of what was found, if it is still there.
fn replace(state: &mut State, found: Found, next: Entry) -> bool {
    let slot = &mut state.entries[usize::from(found.nth)];
    let is_there = *slot == found.entry;
    if is_there {
        *slot = next;
    }
    is_there
}

/// Takes an entry for the room that is looked for, unless a nearer block has some.
fn consider(probe: &mut Probe, found: Found) {
    probe.room = probe.room.or(Some(found));
}
