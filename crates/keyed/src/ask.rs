//! The ways to ask a key's limiter: for the decision alone, and for what is told beside it.

use windowpane_core::{
    AcquireError, Answer, Clock, Cost, Decision, Detailed, Nanos, PerQuota, Quotas, RateLimiter,
};

use crate::limiter::UNRECORDED;
use crate::time::Kept;
use crate::wait;

/// A way to ask.
pub(crate) trait Ask {
    /// What is answered.
    type Answer;

    /// Asks a key's limiter.
    fn ask<L: RateLimiter, C: Clock>(
        &self,
        limiter: &L,
        clock: &C,
    ) -> Result<Self::Answer, AcquireError>;

    /// The cost asked for.
    fn cost(&self) -> Cost;

    /// The decision in an answer.
    fn decision(answer: &Self::Answer) -> Decision;

    /// The answer of a limiter that has accepted nothing before, given by a clock that is `by`
    /// ahead of the caller's, told on the caller's. Such a limiter denies only where no wait helps.
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
    ) -> Result<Decision, AcquireError> {
        limiter.acquire_with(clock, self.0)
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

/// For the decision and what remains after it.
pub(crate) struct Remaining(pub(crate) Cost);

impl Ask for Remaining {
    type Answer = Detailed;

    fn ask<L: RateLimiter, C: Clock>(
        &self,
        limiter: &L,
        clock: &C,
    ) -> Result<Detailed, AcquireError> {
        limiter.acquire_detailed_with(clock, self.0)
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

/// For all that [`Answer`] tells.
pub(crate) struct InDetail(pub(crate) Cost);

impl Ask for InDetail {
    type Answer = Answer;

    fn ask<L: RateLimiter, C: Clock>(
        &self,
        limiter: &L,
        clock: &C,
    ) -> Result<Answer, AcquireError> {
        let clock = Kept::new(clock);
        let detailed = limiter.acquire_detailed_with(&clock, self.0)?;
        Ok(answer(limiter, detailed, clock.reading()))
    }

    fn cost(&self) -> Cost {
        self.0
    }

    fn decision(answer: &Answer) -> Decision {
        answer.detailed.decision()
    }

    fn told_later(answer: Answer, by: Nanos) -> Answer {
        Answer {
            more_after: answer.more_after.map(|wait| wait.saturating_add(by)),
            ..answer
        }
    }

    fn unrecorded(answer: Answer, quotas: &Quotas) -> Answer {
        Answer {
            detailed: Remaining::unrecorded(answer.detailed, quotas),
            ..answer
        }
    }
}

fn answer<L: RateLimiter>(limiter: &L, detailed: Detailed, now: Nanos) -> Answer {
    let more_after = wait::more_after(limiter, now, &detailed);
    Answer {
        detailed,
        more_after,
        quotas: limiter.quotas(),
    }
}

/// What a limiter would answer, changing nothing; `like_new` makes one that has accepted nothing, for
/// a clock that reads so much now.
pub(crate) fn look<L: RateLimiter, C: Clock>(
    limiter: &L,
    clock: &C,
    cost: Cost,
    like_new: impl FnOnce(Nanos) -> Option<L>,
) -> Result<Answer, AcquireError> {
    let clock = Kept::new(clock);
    let detailed = limiter.peek_with(&clock, cost)?;
    let now = clock.reading();
    let Decision::Allowed { at } = detailed.decision() else {
        return Ok(answer(limiter, detailed, now));
    };
    // More will remain when something leaves, were it the request itself.
    let more_after = match limiter.is_idle_at(now) {
        true => like_new(now).and_then(|limiter| {
            let detailed = limiter.acquire_detailed_at(at, cost).ok()?;
            wait::more_after(&limiter, now, &detailed)
        }),
        false => {
            let remaining = detailed.remaining();
            let like_new = || like_new(now);
            wait::more_after_charging(limiter, now, (at, cost), remaining, like_new)
        }
    };
    Ok(Answer {
        detailed,
        more_after,
        quotas: limiter.quotas(),
    })
}
