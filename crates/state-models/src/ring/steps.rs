//! The steps of a thread inside a call, one atomic operation each.

use super::{At, Bug, Call, Head, Ring, Slot, State, Then, View};
use crate::check::Step;

impl Ring {
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
            At::LoadHead(call) => At::LoadResets(call, state.head),
            At::LoadResets(call, head) => At::IsPublished(call, self.view(head, state.resets)),
            At::IsPublished(call, view) => {
                let (index, lap) = self.position(view.head, 1);
                let published =
                    state.slots[index].lap == lap || self.bug == Some(Bug::ClaimsUnpublished);
                let (_, filled) = self.effective(call, view);
                match (self.limit - call.cost >= filled, published) {
                    (true, true) => At::LoadOwnSlot(call, view),
                    (true, false) => At::LoadMissing(call, view, 0, Then::Claim),
                    (false, true) => At::LoadDeciding(call, view),
                    (false, false) => At::LoadDecidingSlowly(call, view),
                }
            }
            At::LoadDeciding(call, view) => {
                let (index, _) = self.position(view.head, self.limit - call.cost + 1);
                let age = view.head.stamp.wrapping_sub(state.slots[index].stamp);
                self.by_age(call, view, age, At::LoadOwnSlot(call, view))
            }
            At::LoadDecidingSlowly(call, view) => {
                let (index, lap) = self.position(view.head, self.limit - call.cost + 1);
                let slot = state.slots[index];
                let age = if slot.lap == lap {
                    view.head.stamp.wrapping_sub(slot.stamp)
                } else {
                    0
                };
                self.by_age(call, view, age, At::LoadMissing(call, view, 0, Then::Claim))
            }
            At::CheckDenial(call, view, wait) => {
                if state.head != view.head && self.bug != Some(Bug::NoSecondLoad) {
                    return At::LoadHead(call);
                }
                let log = self.of_log(state, call);
                if log != Err(wait) {
                    *wrong = Some(format!("denied for {wait}, where the log says {log:?}"));
                }
                At::Rest
            }
            At::LoadOwnSlot(call, view) => {
                At::Claim(call, view, state.slots[usize::from(view.head.index)])
            }
            At::Claim(call, view, found) => {
                if state.head != view.head {
                    return At::LoadHead(call);
                }
                let claimed = self.claimed(call, view);
                let log = self.of_log(state, call);
                if log != Ok(claimed.time) {
                    *wrong = Some(format!(
                        "allowed at {}, where the log says {log:?}",
                        claimed.time
                    ));
                }
                state.head = claimed.head;
                state.latest = claimed.time;
                state.log.retain(|time| time + self.window > claimed.time);
                state.log.extend((0..call.cost).map(|_| claimed.time));
                At::WriteOwnSlot(call, view, found)
            }
            At::WriteOwnSlot(call, view, found) => {
                let claimed = self.claimed(call, view);
                let slot = &mut state.slots[usize::from(view.head.index)];
                if *slot == found {
                    *slot = Slot {
                        lap: view.head.lap,
                        stamp: claimed.head.stamp,
                    };
                }
                match call.cost {
                    1 => At::Rest,
                    _ => At::LoadMissing(call, claimed, 0, Then::End),
                }
            }
            At::LoadMissing(call, view, missing, then) => {
                if missing == self.capacity {
                    return self.publish(call, view, missing, then);
                }
                let (index, lap) = self.position(view.head, missing + 1);
                let slot = state.slots[index];
                if slot.lap == lap {
                    return self.publish(call, view, missing, then);
                }
                match (slot.lap == self.lap_before(lap), self.bug) {
                    (_, Some(Bug::WaitsForClaimer)) if then == Then::Claim => {
                        At::LoadMissing(call, view, missing, then)
                    }
                    (true, _) => self.missing(call, view, missing + 1, then),
                    (false, Some(Bug::LateWriteHangs)) => self.moved(call, then),
                    (false, _) => At::CheckMissing(call, view, missing, then),
                }
            }
            At::CheckMissing(call, view, missing, then) => match state.head == view.head {
                true => self.missing(call, view, missing + 1, then),
                false => self.moved(call, then),
            },
            At::LoadUnpublished(call, view, nth, then) => {
                let (index, lap) = self.position(view.head, nth);
                let found = state.slots[index];
                match (found.lap == lap, self.bug) {
                    (true, _) => self.publish(call, view, nth - 1, then),
                    (false, Some(Bug::HelpsBlindly)) => At::Publish(call, view, nth, found, then),
                    (false, _) => At::CheckUnpublished(call, view, nth, found, then),
                }
            }
            At::CheckUnpublished(call, view, nth, found, then) => match state.head == view.head {
                true => At::Publish(call, view, nth, found, then),
                false => self.moved(call, then),
            },
            At::Publish(call, view, nth, found, then) => {
                let (index, lap) = self.position(view.head, nth);
                if state.slots[index] != found {
                    return At::LoadUnpublished(call, view, nth, then);
                }
                let stamp = view.head.stamp;
                state.slots[index] = Slot { lap, stamp };
                self.publish(call, view, nth - 1, then)
            }
            _ => self.resetting(state, at),
        }
    }

    /// The steps of a reset.
    fn resetting(&self, state: &mut State, at: At) -> At {
        match at {
            // Before the mend a reset announced nothing.
            At::ResetLoadsHead if !self.counts_resets() => At::Empty(0, state.head),
            At::ResetLoadsHead => At::ResetLoadsNumber(state.head),
            At::ResetLoadsNumber(head) => At::ResetChecksHead(head, state.resets),
            At::ResetChecksHead(head, announced) => match state.head == head {
                false => At::ResetLoadsHead,
                true if head.tag != announced & 1 => At::ResetLoadsAgain(announced),
                true => At::Announce(announced),
            },
            At::Announce(announced) => match state.resets == announced {
                false => At::ResetLoadsHead,
                true => {
                    state.resets = announced.wrapping_add(1);
                    At::ResetLoadsAgain(state.resets)
                }
            },
            At::ResetLoadsAgain(number) => At::ResetChecksNumber(number, state.head),
            At::ResetChecksNumber(number, head) => {
                match state.resets != number || head.tag == number & 1 {
                    true => At::Rest,
                    false => At::Empty(number, head),
                }
            }
            At::Empty(number, head) => {
                if state.head != head {
                    return match self.counts_resets() {
                        true => At::ResetLoadsAgain(number),
                        false => At::ResetLoadsHead,
                    };
                }
                state.head = Head {
                    stamp: self.offset(number),
                    filled: 0,
                    tag: if self.counts_resets() { number & 1 } else { 0 },
                    ..head
                };
                state.log.clear();
                state.latest = 0;
                At::Rest
            }
            _ => At::Rest,
        }
    }

    /// A denial if the deciding permit, `age` older than the head, is in the window; else `fits`.
    fn by_age(&self, call: Call, view: View, age: u8, fits: At) -> At {
        let (at, _) = self.effective(call, view);
        // Saturating, as in the ring: a head that has moved can make the age nonsense.
        let age = age.saturating_add(at - view.time);
        match age < self.window {
            true => At::CheckDenial(
                call,
                view,
                (self.window - age).saturating_add(at - call.now),
            ),
            false => fits,
        }
    }

    fn missing(&self, call: Call, view: View, missing: u8, then: Then) -> At {
        match missing < self.capacity {
            true => At::LoadMissing(call, view, missing, then),
            false => self.publish(call, view, missing, then),
        }
    }

    /// Publishes the `nth` newest permit and all newer ones next.
    fn publish(&self, call: Call, view: View, nth: u8, then: Then) -> At {
        match (nth, then) {
            (1.., _) => At::LoadUnpublished(call, view, nth, then),
            (0, Then::Claim) => At::LoadOwnSlot(call, view),
            (0, Then::End) => At::Rest,
        }
    }

    fn moved(&self, call: Call, then: Then) -> At {
        match then {
            Then::Claim => At::LoadHead(call),
            Then::End => At::Rest,
        }
    }
}
