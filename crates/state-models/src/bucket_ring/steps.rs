//! The steps of a thread inside a call, one atomic operation each.

use super::{At, BucketRing, Call, Fault, Head, MOST, Read, Record, State, View};
use crate::check::Step;

impl BucketRing {
    fn counts_resets(&self) -> bool {
        self.bug != Some(Fault::ResetsUncounted)
    }

    fn offset(&self, resets: u8) -> u8 {
        if self.counts_resets() { resets } else { 0 }
    }

    /// The head's own number of resets is the announced one, or one less.
    fn view(&self, head: Head, announced: u8) -> View {
        let own = announced.wrapping_sub(announced.wrapping_sub(head.tag) & 1);
        let resets = self.offset(own);
        let time = head.stamp.wrapping_sub(resets);
        View { head, time, resets }
    }

    fn newest(&self, view: View) -> u8 {
        view.time / self.width
    }

    /// What was accepted after `earlier` of it had been.
    fn since(&self, head: Head, earlier: u8) -> u8 {
        (head.accepted + self.counts - earlier) % self.counts
    }

    /// The slot of the `nth` newest bucket's record.
    fn slot(&self, head: Head, nth: u8) -> usize {
        ((head.index + 1 + self.slots() - nth) % self.slots()).into()
    }

    /// The record of the head's bucket.
    fn record(&self, view: View) -> Record {
        let View { head, resets, .. } = view;
        let emptied = head.counting == 0;
        let bucket = if emptied { 0 } else { self.newest(view) };
        Record {
            emptied,
            number: bucket.wrapping_add(resets),
            accepted: head.accepted,
        }
    }

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
            At::LoadHead(call) => At::LoadResets(call, state.head),
            At::LoadResets(call, head) => {
                let view = self.view(head, state.resets);
                match head.counting {
                    0 => self.decided(call, view, [None; MOST]),
                    // One record more than buckets count: what was accepted before them.
                    counting => At::LoadRecord(call, view, counting + 1, [None; MOST]),
                }
            }
            At::LoadRecord(call, view, nth, mut read) => {
                read[usize::from(nth) - 2] = Some(state.slots[self.slot(view.head, nth)]);
                match nth {
                    2 => self.decided(call, view, read),
                    _ => At::LoadRecord(call, view, nth - 1, read),
                }
            }
            At::CheckDenial(call, view, wait) => {
                if state.head != view.head && self.bug != Some(Fault::NoSecondLoad) {
                    return At::LoadHead(call);
                }
                let expected = self.answer(&state.held, state.latest, call);
                if expected != Err(wait) {
                    *wrong = Some(format!(
                        "denied for {wait}, where the buckets say {expected:?}"
                    ));
                }
                At::Rest
            }
            At::LoadNewest(call, view, kept) => {
                let found = state.slots[usize::from(view.head.index)];
                let record = self.record(view);
                let is_early = found.number == record.number && found.emptied == record.emptied;
                match self.bug {
                    _ if found == record => At::Claim(call, view, Some(kept)),
                    Some(Fault::TakesEarlyRecords) if is_early => At::Claim(call, view, Some(kept)),
                    Some(Fault::PublishesBlindly) => At::Publish(call, view, kept, found),
                    Some(Fault::WaitsForPublisher) if view.head.index > 0 => {
                        At::LoadNewest(call, view, kept)
                    }
                    _ => At::CheckNewest(call, view, kept, found),
                }
            }
            At::CheckNewest(call, view, kept, found) => match state.head == view.head {
                true => At::Publish(call, view, kept, found),
                false => At::LoadHead(call),
            },
            At::Publish(call, view, kept, found) => {
                let record = self.record(view);
                let slot = &mut state.slots[usize::from(view.head.index)];
                if *slot != found {
                    return At::LoadNewest(call, view, kept);
                }
                *slot = record;
                At::Claim(call, view, Some(kept))
            }
            At::Claim(call, view, kept) => self.claim(state, call, view, kept, wrong),
            _ => self.resetting(state, at),
        }
    }

    /// The exchange of the head.
    fn claim(
        &self,
        state: &mut State,
        call: Call,
        view: View,
        kept: Option<u8>,
        wrong: &mut Option<String>,
    ) -> At {
        if state.head != view.head {
            return At::LoadHead(call);
        }
        let at = call.now.max(view.time);
        let expected = self.answer(&state.held, state.latest, call);
        if expected != Ok(at) {
            *wrong = Some(format!(
                "allowed at {at}, where the buckets say {expected:?}"
            ));
        }
        let head = view.head;
        state.head = Head {
            stamp: head.stamp.wrapping_add(at.wrapping_sub(view.time)),
            accepted: (head.accepted + call.cost) % self.counts,
            tag: head.tag,
            counting: kept.map_or(head.counting, |kept| kept + 1),
            index: match kept {
                None => head.index,
                Some(_) => (head.index + 1) % self.slots(),
            },
        };
        state.latest = at;
        state.held.retain(|held| self.counts_at(held.0, at));
        match state.held.last_mut() {
            Some(last) if last.0 == at / self.width => last.1 += call.cost,
            _ => state.held.push((at / self.width, call.cost)),
        }
        At::Rest
    }

    /// What a call decides on the records that it has read.
    fn decided(&self, call: Call, view: View, read: Read) -> At {
        let at = call.now.max(view.time);
        let newest = self.newest(view);
        // The buckets that count by the head, newest first: each with what was accepted in it.
        let mut held: Vec<(u8, u8)> = Vec::new();
        let mut newer = 0;
        for nth in 0..usize::from(view.head.counting) {
            let bucket = match nth {
                0 => newest,
                _ => {
                    let record = read[nth - 1].map_or(0, |record| record.number);
                    // What is read while the head moves can be nonsense, but no panic.
                    let age = newest.wrapping_add(view.resets).wrapping_sub(record);
                    newest.saturating_sub(age)
                }
            };
            let before = read[nth].map_or(0, |record| record.accepted);
            let since = self.since(view.head, before);
            held.push((bucket.min(100), since.saturating_sub(newer)));
            newer = since;
        }
        held.reverse();
        let is_new = at / self.width != newest || view.head.counting == 0;
        // A head that has moved can have a time that is nonsense: it is found out later.
        match self.answer(&held, view.time.min(100), call) {
            Err(wait) => At::CheckDenial(call, view, wait),
            Ok(_) if is_new => {
                let kept = held
                    .iter()
                    .filter(|held| self.counts_at(held.0, at.min(100)));
                let kept = u8::try_from(kept.count()).unwrap_or(u8::MAX);
                match self.bug {
                    Some(Fault::RollsUnpublished) => At::Claim(call, view, Some(kept)),
                    _ => At::LoadNewest(call, view, kept),
                }
            }
            Ok(_) => At::Claim(call, view, None),
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
                    counting: 0,
                    tag: if self.counts_resets() { number & 1 } else { 0 },
                    ..head
                };
                state.held.clear();
                state.latest = 0;
                At::Rest
            }
            _ => At::Rest,
        }
    }
}
