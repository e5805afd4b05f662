//! Cold path: the key is not in the first line. It is found later in its probe sequence, or inserted.
//!
//! No two entries may hold one key, though any number of threads insert it at the same time, and
//! entries of its probe sequence fall idle, are taken by other keys and are swept. So an insertion has
//! two steps:
//!
//! 1. It *claims* an entry of the probe sequence that is empty or whose key is idle. That is one
//!    exchange of the whole entry, which fails if that key is charged meanwhile.
//! 2. It makes a full probe, from the first entry on. If it meets an entry that *holds* the key, it
//!    charges that one and drops its claim. If it meets several claims of the key, it drops all but
//!    the first in the sequence, its own included. Then it charges the first one and makes it held, in
//!    one exchange. If that was another thread's claim, that thread will find the key held.
//!
//! *At most one entry holds a key*: a thread makes a claim held only if it knew of the claim before its
//! full probe began, met no entry that holds the key, and dropped every other claim that it met. Let
//! two claims be made, and let both come to be held. Between each claim and its probe stands a
//! sequentially consistent fence, and one of the two fences is the first. So the probe behind the other
//! fence meets the first one's claim, or what became of it. If that is held already, there is no second.
//! If it is still a claim, the probe drops one of the two. A dropped claim is never held, since its
//! number is never used again for its key.
//!
//! *No thread waits*: a claim whose thread sleeps or died is finished or dropped by the next thread that
//! inserts the key. Until then, or until a sweep, it only keeps its entry from other keys. An exchange
//! fails only if another thread's succeeds.
//!
//! *The eviction watermark*: a thread that forgets an idle key first raises the watermark to the time
//! from which on the key's state decides as an empty one does. A key is inserted at the watermark or at
//! the caller's time, whichever is later. So a clock that steps back, also between threads, gains
//! nothing from a forgotten key.

use windowpane_core::one_word::{self, OneWordRule, Verdict};
use windowpane_core::sync::{Ordering, fence};
use windowpane_core::{Cost, Decision, Denial, Nanos, RequestError, StoreError};

use super::entry::{Entry, Fingerprint, Seen};
use super::known::{Answered, answered, never};
use super::places::{BLOCK, Way};
use super::table::FlatTable;

/// An entry of a probe sequence, as it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) nth: usize,
    pub(super) entry: Entry,
}

/// An entry that is free to take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    /// Its block in the probe sequence.
    block: usize,
    /// The time since which its key is idle; 0 if it is empty.
    idle_from: Nanos,
    pub(super) found: Found,
}

impl Room {
    /// The nearer block is better. In a block an empty entry is best, then the key that is idle for
    /// longest. So keys that come back soon after an idle time are seldom forgotten.
    fn is_better(&self, than: &Room) -> bool {
        (self.block, self.idle_from) < (than.block, than.idle_from)
    }
}

/// What a full probe has met.
pub(super) struct Round {
    /// The entry that holds the key; the probe ends there.
    pub(super) held: Option<Found>,
    /// The first claim of the key.
    pub(super) claim: Option<Found>,
    /// The best free entry for the key: an empty one, or one whose key is idle.
    pub(super) room: Option<Room>,
    /// Whether all other claims of the key that it met are dropped.
    alone: bool,
    /// The number of entries examined.
    examined: usize,
}

impl Round {
    /// Whether there is a free entry in a block before that of the `nth` entry.
    fn has_room_before(&self, nth: usize) -> bool {
        self.room.is_some_and(|room| room.block < nth / BLOCK)
    }

    /// Takes an entry as the free one if it is idle and better than the one found before.
    fn consider(&mut self, found: Found, idle_from: Option<Nanos>) {
        let room = idle_from.map(|idle_from| Room {
            block: found.nth / BLOCK,
            idle_from,
            found,
        });
        if let Some(room) = room
            && self.room.is_none_or(|best| room.is_better(&best))
        {
            self.room = Some(room);
        }
    }
}

impl<R: OneWordRule, C, S> FlatTable<R, S, C> {
    /// Decides where the fast path gave no verdict. It also makes the errors.
    #[cold]
    #[inline(never)]
    pub(super) fn find_or_insert(
        &self,
        key: Fingerprint,
        now: Nanos,
        cost: Cost,
    ) -> Result<Answered, StoreError> {
        let Some(charge) = one_word::check(&self.rule.quota(), cost)? else {
            return Ok(never());
        };
        let way = &self.places.way_of(key);
        let mut examined = 0;
        let answered = self.rounds(way, now, charge, &mut examined);
        self.counts.examined(way.key, examined);
        answered
    }

    fn rounds(
        &self,
        way: &Way,
        now: Nanos,
        charge: u64,
        examined: &mut usize,
    ) -> Result<Answered, StoreError> {
        let mut own: Option<Found> = None;
        // The claim that was there before the round began.
        let mut known: Option<Found> = None;
        loop {
            if known.is_some() {
                fence(Ordering::SeqCst);
            }
            let round = self.go_round(way, now, true);
            *examined += round.examined;
            if let Some(held) = round.held {
                self.drop_claim(way, own);
                let slot = self.places.on(way, held.nth);
                if let Some(judged) = self.charge(slot, way.key, held.entry, now, charge)? {
                    return Ok(answered(judged));
                }
                // Forgotten since: all over again.
                (own, known) = (None, None);
                continue;
            }
            let Some(first) = round.claim else {
                let Some(room) = round.room else {
                    return self.refuse(way, now, charge);
                };
                // Who would get an error, or be denied, leaves nothing.
                let answered = self.fresh(now, charge)?;
                if !answered.0.is_allowed() {
                    return Ok(answered);
                }
                known = self.claim(way, room.found);
                own = known;
                continue;
            };
            if known != Some(first) || !round.alone {
                known = Some(first);
                continue;
            }
            match self.fresh(now, charge) {
                Ok(answered @ (Decision::Allowed { .. }, word)) => {
                    let held = Entry::held(way.key, word);
                    if first.entry.replace(self.places.on(way, first.nth), held) {
                        return Ok(answered);
                    }
                    known = None;
                }
                answered => {
                    self.drop_claim(way, own);
                    return Ok(answered?);
                }
            }
        }
    }

    /// Goes the whole way of a key; if `inserting`, drops all claims of it but the first.
    pub(super) fn go_round(&self, way: &Way, now: Nanos, inserting: bool) -> Round {
        let mut round = Round {
            held: None,
            claim: None,
            room: None,
            alone: true,
            examined: 0,
        };
        // No unknown key is decided earlier than at the floor, so what is idle then may go.
        let now = now.max(self.floor.load(Ordering::Relaxed));
        for nth in 0..self.places.on_a_way() {
            let entry = Entry::load(self.places.on(way, nth));
            let found = Found { nth, entry };
            round.examined += 1;
            match entry.seen_by(way.key) {
                Seen::Held => {
                    round.held = Some(found);
                    break;
                }
                Seen::Claimed if round.claim.is_none() => round.claim = Some(found),
                Seen::Claimed if inserting => round.alone &= self.drop_claim(way, Some(found)),
                Seen::Claimed => {}
                Seen::Empty => round.consider(found, Some(0)),
                Seen::Others if round.has_room_before(nth) => {}
                Seen::Others => round.consider(found, self.idle_from(entry, now)),
            }
        }
        round
    }

    /// Claims `room` for a key, unless that has changed.
    fn claim(&self, way: &Way, room: Found) -> Option<Found> {
        let counts = self.counts.of(way.key);
        let entry = Entry::claimed(way.key, counts.claim());
        let evicted = self.forget(self.places.on(way, room.nth), room.entry, entry);
        match evicted {
            Some(was_held) => {
                if was_held {
                    counts.evicted();
                }
                Some(Found {
                    nth: room.nth,
                    entry,
                })
            }
            None => {
                counts.dropped();
                None
            }
        }
    }

    /// Takes back a claim, if it is still there; whether it was.
    fn drop_claim(&self, way: &Way, claim: Option<Found>) -> bool {
        let dropped = claim.is_some_and(|Found { nth, entry }| {
            entry.replace(self.places.on(way, nth), Entry::EMPTY)
        });
        if dropped {
            self.counts.of(way.key).dropped();
        }
        dropped
    }

    /// What a key is answered of which nothing is known, and the word after that.
    pub(super) fn fresh(&self, now: Nanos, charge: u64) -> Result<Answered, RequestError> {
        let at = now.max(self.floor.load(Ordering::Relaxed));
        let verdict = self.rule.decide(0, at, charge)?;
        let decision = match verdict {
            Verdict::Allowed { at, .. } => Decision::Allowed { at },
            // The wait is on the caller's clock, which may be behind.
            Verdict::Denied { retry_after } => {
                Decision::Denied(Denial::new(0, Some(retry_after.saturating_add(at - now))))
            }
        };
        Ok((decision, verdict.word_after(0)))
    }
}
