//! Fast path: the key is in the first line of its probe sequence. Nearly all decisions take it.
//!
//! A denial holds at the load of the entry, an allowance at its exchange. The memory orders of both, and
//! why they suffice, stand beside them in `entry.rs`.

use windowpane_core::one_word::{self, OneWordRule, Verdict};
use windowpane_core::sync::{AtomicU128, SPINS_ONE_WORD, back_off};
use windowpane_core::{Cost, Decision, Denial, Nanos, RequestError};

use super::entry::{Entry, Fingerprint};
use super::table::FlatTable;

/// A decision, and the key's word after it.
pub(super) type Answered = (Decision, u64);

/// A verdict, and the word that it is about.
pub(super) type Judged = (Verdict, u64);

/// The decision, and the word after it.
pub(super) fn answered((verdict, word): Judged) -> Answered {
    (verdict.decision(), verdict.word_after(word))
}

/// The decision of a limit of 0.
pub(super) fn never() -> Answered {
    (Decision::Denied(Denial::new(0, None)), 0)
}

impl<R: OneWordRule, C, S> FlatTable<R, S, C> {
    /// The fast path: the verdict about a key that is found in the first line, and the word before it.
    /// `None` for all else, errors included; nothing was charged then.
    // The slow path makes the errors: with them here, the caller would copy each result through memory.
    // Always inlined: it is used twice, so the compiler would call it, with results in memory again.
    #[inline(always)]
    pub(super) fn at_once(&self, key: Fingerprint, now: Nanos, cost: Cost) -> Option<Judged> {
        let charge = one_word::check(&self.rule.quota(), cost).ok()??;
        let look = |slot| (slot, Entry::load(slot));
        let mut first_line = self.places.first_line(key).map(look);
        let (slot, entry) = first_line.find(|(_, entry)| entry.holds(key))?;
        self.charge(slot, key, entry, now, charge).ok()?
    }

    /// The verdict about the key that was read to hold `slot`, and the word before it; `None` if it
    /// holds it no more.
    #[inline]
    pub(super) fn charge(
        &self,
        slot: &AtomicU128,
        key: Fingerprint,
        entry: Entry,
        now: Nanos,
        charge: u64,
    ) -> Result<Option<Judged>, RequestError> {
        match self.attempt(slot, key, entry, now, charge)? {
            Some(judged) => Ok(Some(judged)),
            None => self.after_a_loss(slot, key, now, charge),
        }
    }

    /// The same, of a slot that another thread has just changed. Apart, since it is rare and long.
    #[inline(never)]
    fn after_a_loss(
        &self,
        slot: &AtomicU128,
        key: Fingerprint,
        now: Nanos,
        charge: u64,
    ) -> Result<Option<Judged>, RequestError> {
        loop {
            back_off(SPINS_ONE_WORD);
            let entry = Entry::load(slot);
            if !entry.holds(key) {
                return Ok(None);
            }
            if let Some(judged) = self.attempt(slot, key, entry, now, charge)? {
                return Ok(Some(judged));
            }
        }
    }

    /// One attempt; `None` if the slot has changed, or without a cause.
    #[inline]
    fn attempt(
        &self,
        slot: &AtomicU128,
        key: Fingerprint,
        entry: Entry,
        now: Nanos,
        charge: u64,
    ) -> Result<Option<Judged>, RequestError> {
        let verdict = self.rule.decide(entry.word(), now, charge)?;
        let done = match verdict {
            Verdict::Allowed { word, .. } => entry.charge(slot, Entry::held(key, word)),
            Verdict::Denied { .. } => true,
        };
        Ok(done.then_some((verdict, entry.word())))
    }
}
