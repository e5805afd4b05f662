//! The kinds of answer of a key's limiter: the decision alone, and what is reported beside it.

use windowpane_core::{
    Answer, Clock, Cost, Decision, Detailed, Nanos, PerQuota, Quota, Quotas, RateLimiter,
    RequestError, more,
};

use crate::limiter::UNRECORDED;
use crate::time::Kept;

/// A way to ask.
pub(crate) trait Ask {
    /// What is answered.
    type Answer;

    /// Asks a key's limiter.
    fn ask<L: RateLimiter, C: Clock>(
        &self,
        limiter: &L,
        clock: &C,
    ) -> Result<Self::Answer, RequestError>;

    /// The cost asked for.
    fn cost(&self) -> Cost;

    /// The decision in an answer.
    fn decision(answer: &Self::Answer) -> Decision;

    /// The answer of a limiter that has accepted nothing before, given by a clock that is `by`
    /// ahead of the caller's, on the caller's clock. Such a limiter denies only where no wait helps.
    fn told_later(answer: Self::Answer, by: Nanos) -> Self::Answer;

    /// The answer with an allowance that is recorded nowhere.
    fn unrecorded(answer: Self::Answer, quotas: &Quotas) -> Self::Answer;
}

/// For the decision alone.
pub(crate) struct Plain(pub(crate) Cost);

impl Ask for Plain {
    type Answer = Decision;

    #[inline]
    fn ask<L: RateLimiter, C: Clock>(
        &self,
        limiter: &L,
        clock: &C,
    ) -> Result<Decision, RequestError> {
        limiter.decide_with(clock, self.0)
    }

    fn cost(&self) -> Cost {
        self.0
    }

    #[inline]
    fn decision(answer: &Decision) -> Decision {
        *answer
    }

    fn told_later(answer: Decision, _by: Nanos) -> Decision {
        answer
    }

    fn unrecorded(answer: Decision, _quotas: &Quotas) -> Decision {
        match answer {
            Decision::Allowed { .. } => Decision::Allowed { at: UNRECORDED },
            Decision::Denied(_) => answer,
        }
    }
}

/// For the decision, and of a denial the quota.
pub(crate) struct Named(pub(crate) Cost);

impl Ask for Named {
    type Answer = (Decision, Option<Quota>);

    #[inline]
    fn ask<L: RateLimiter, C: Clock>(
        &self,
        limiter: &L,
        clock: &C,
    ) -> Result<Self::Answer, RequestError> {
        let decision = limiter.decide_with(clock, self.0)?;
        let quota = match decision {
            Decision::Allowed { .. } => None,
            Decision::Denied(denial) => Some(limiter.quota(denial.quota())),
        };
        Ok((decision, quota))
    }

    fn cost(&self) -> Cost {
        self.0
    }

    #[inline]
    fn decision(answer: &Self::Answer) -> Decision {
        answer.0
    }

    fn told_later(answer: Self::Answer, _by: Nanos) -> Self::Answer {
        answer
    }

    fn unrecorded((decision, quota): Self::Answer, quotas: &Quotas) -> Self::Answer {
        (Plain::unrecorded(decision, quotas), quota)
    }
}

/// For the decision and what remains after it.
pub(crate) struct Remaining(pub(crate) Cost);

impl Ask for Remaining {
    type Answer = Detailed;

    fn ask<L: RateLimiter, C: Clock>(
        &self,
        limiter: &L,
        clock: &C,
    ) -> Result<Detailed, RequestError> {
        limiter.decide_detailed_with(clock, self.0)
    }

    fn cost(&self) -> Cost {
        self.0
    }

    fn decision(answer: &Detailed) -> Decision {
        answer.decision()
    }

    fn told_later(answer: Detailed, _by: Nanos) -> Detailed {
        answer
    }

    fn unrecorded(answer: Detailed, quotas: &Quotas) -> Detailed {
        let decision = Plain::unrecorded(answer.decision(), quotas);
        let left = PerQuota::from_slice(answer.remaining_per_quota());
        Detailed::new(decision, quotas, left)
    }
}

/// For a whole [`Answer`].
pub(crate) struct InDetail(pub(crate) Cost);

impl Ask for InDetail {
    type Answer = Answer;

    fn ask<L: RateLimiter, C: Clock>(
        &self,
        limiter: &L,
        clock: &C,
    ) -> Result<Answer, RequestError> {
        let clock = Kept::new(clock);
        let detailed = limiter.decide_detailed_with(&clock, self.0)?;
        Ok(answer(limiter, detailed, clock.reading()))
    }

    fn cost(&self) -> Cost {
        self.0
    }

    fn decision(answer: &Answer) -> Decision {
        answer.detailed.decision()
    }

    fn told_later(answer: Answer, by: Nanos) -> Answer {
        let more_after = answer.more_after.map(|wait| wait.saturating_add(by));
        answer.with_more_after(more_after)
    }

    fn unrecorded(answer: Answer, quotas: &Quotas) -> Answer {
        let detailed = Remaining::unrecorded(answer.detailed, quotas);
        Answer::new(detailed, answer.quotas).with_more_after(answer.more_after)
    }
}

fn answer<L: RateLimiter>(limiter: &L, detailed: Detailed, now: Nanos) -> Answer {
    let more_after = more::more_after(limiter, now, &detailed);
    Answer::new(detailed, limiter.quotas()).with_more_after(more_after)
}

/// A peek, as far as the key's shard has to be locked for it.
pub(crate) enum Peeked {
    /// The whole answer.
    Whole(Answer),
    /// All but `more_after`. The limiter is idle, so one that has accepted nothing gives that; the
    /// request would be recorded under `at`.
    Idle { answer: Answer, at: Nanos },
    /// All but `more_after`, which takes a limiter that has accepted nothing.
    NeedsFresh(Answer),
}

/// Peeks at a limiter. `fresh` has accepted nothing, if there is one.
pub(crate) fn peek<L: RateLimiter, C: Clock>(
    limiter: &L,
    clock: &Kept<C>,
    cost: Cost,
    fresh: Option<&L>,
) -> Result<Peeked, RequestError> {
    let detailed = limiter.peek_with(clock, cost)?;
    let now = clock.reading();
    let Decision::Allowed { at } = detailed.decision() else {
        return Ok(Peeked::Whole(answer(limiter, detailed, now)));
    };
    let remaining = detailed.remaining();
    let mut answer = Answer::new(detailed, limiter.quotas());
    // More will remain when something leaves, were it the request itself.
    if limiter.is_idle_at(now) {
        return Ok(Peeked::Idle { answer, at });
    }
    let fresh = fresh.filter(|fresh| fresh.quotas() == answer.quotas);
    let mut needs_fresh = false;
    let like_new = || {
        needs_fresh = fresh.is_none();
        fresh.map(Lent)
    };
    let limiter = Lent(limiter);
    answer.more_after = more::more_after_charging(&limiter, now, (at, cost), remaining, like_new);
    Ok(match needs_fresh {
        true => Peeked::NeedsFresh(answer),
        false => Peeked::Whole(answer),
    })
}

/// The answer to a peek of `cost`. `peek` locks the key's shard for each call; limiters are built and
/// dropped while no shard is locked, and only where a peek cannot do without.
pub(crate) fn peek_whole<L: RateLimiter, C: Clock, E>(
    clock: &Kept<C>,
    cost: Cost,
    peek: impl Fn(Option<&L>) -> Result<Peeked, E>,
    build: impl Fn(&Quotas, Nanos) -> Option<L>,
) -> Result<Answer, E> {
    let mut fresh: Option<L> = None;
    loop {
        match peek(fresh.as_ref())? {
            Peeked::Whole(answer) => return Ok(answer),
            Peeked::Idle { mut answer, at } => {
                let now = clock.reading();
                fresh = fresh.filter(|fresh| fresh.quotas() == answer.quotas);
                fresh = fresh.or_else(|| build(&answer.quotas, now));
                answer.more_after = fresh.and_then(|fresh| {
                    let detailed = fresh.decide_detailed_at(at, cost).ok()?;
                    more::more_after(&fresh, now, &detailed)
                });
                return Ok(answer);
            }
            // Once, unless the quotas are changed meanwhile.
            Peeked::NeedsFresh(answer) => {
                fresh = build(&answer.quotas, clock.reading());
                if fresh.is_none() {
                    return Ok(answer);
                }
            }
        }
    }
}

/// A borrowed limiter. What is dropped under the lock of a shard is this and not the limiter.
struct Lent<'l, L>(&'l L);

impl<L: RateLimiter> RateLimiter for Lent<'_, L> {
    fn quotas(&self) -> Quotas {
        self.0.quotas()
    }

    fn decide_at(&self, now: Nanos, cost: Cost) -> Result<Decision, RequestError> {
        self.0.decide_at(now, cost)
    }

    fn decide_detailed_at(&self, now: Nanos, cost: Cost) -> Result<Detailed, RequestError> {
        self.0.decide_detailed_at(now, cost)
    }

    fn peek_at(&self, now: Nanos, cost: Cost) -> Result<Detailed, RequestError> {
        self.0.peek_at(now, cost)
    }

    fn reset(&self) {
        self.0.reset();
    }

    fn is_idle_at(&self, now: Nanos) -> bool {
        self.0.is_idle_at(now)
    }
}
