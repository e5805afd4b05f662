//! What a sequential limiter would answer, as the checker asks it.

use std::sync::Arc;

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use todc_utils::specifications::Specification;
use windowpane_core::{Cost, Detailed, Nanos, Quota, Quotas, RateLimiter, RequestError, Unit};
use windowpane_lab_contestants::registry::{self, BuildOptions};

/// What one history is made with; a seed makes it again.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Setup {
    /// The limiter that explains the answers when it is called in order.
    judge: &'static str,
    pub(crate) quotas: Quotas,
    /// The calls of each thread.
    pub(crate) calls: Vec<Vec<Call>>,
}

/// One call, before it has an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Call {
    Acquire { now: Nanos, cost: Cost },
    Peek { now: Nanos, cost: Cost },
    Reset,
}

/// What came of a call.
pub(crate) type Answer = Option<Result<Detailed, RequestError>>;

impl Call {
    pub(crate) fn on(self, limiter: &dyn RateLimiter) -> Answer {
        match self {
            Call::Acquire { now, cost } => Some(limiter.decide_detailed_at(now, cost)),
            Call::Peek { now, cost } => Some(limiter.peek_at(now, cost)),
            Call::Reset => {
                limiter.reset();
                None
            }
        }
    }
}

impl Setup {
    /// Few permits, short windows, times near each other and now and then earlier: most calls
    /// matter to the others.
    pub(crate) fn random(seed: u64, judge: &'static str, threads: usize) -> Setup {
        let mut random = SmallRng::seed_from_u64(seed);
        let quotas = (0..random.random_range(1..=2)).map(|_| {
            let limit = random.random_range(1..=4);
            let window = 60 * random.random_range(1..=4);
            Quota::from_nanos(limit, window, Unit::Permits).expect("a sensible quota")
        });
        let quotas = Quotas::new(quotas.collect::<Vec<_>>()).expect("at least one");
        let mut clock: Nanos = 1_000;
        let calls = (0..threads)
            .map(|_| {
                (0..random.random_range(2..=6))
                    .map(|_| {
                        clock += random.random_range(0..60);
                        // Another thread's reading may be a little older.
                        let now = clock - random.random_range(0..40);
                        let cost = Cost::new(random.random_range(1..=2)).expect("at least 1");
                        match random.random_range(0..20) {
                            0..=15 => Call::Acquire { now, cost },
                            16..=18 => Call::Peek { now, cost },
                            _ => Call::Reset,
                        }
                    })
                    .collect()
            })
            .collect();
        Setup {
            judge,
            quotas,
            calls,
        }
    }

    /// One or two permits, and a clock that stands: many threads take, look and reset.
    pub(crate) fn standing(seed: u64, judge: &'static str, threads: usize) -> Setup {
        let mut random = SmallRng::seed_from_u64(seed);
        let limit = random.random_range(1..=2);
        // A window that a word of one quota can hold.
        let quota = Quota::from_nanos(limit, 1_000_000, Unit::Permits).expect("a sensible quota");
        let now = 5_000_000;
        let calls = (0..threads)
            .map(|_| {
                let call = |_| match random.random_range(0..10) {
                    0..=5 => Call::Acquire {
                        now,
                        cost: Cost::ONE,
                    },
                    6 => Call::Peek {
                        now,
                        cost: Cost::ONE,
                    },
                    _ => Call::Reset,
                };
                (0..3).map(call).collect()
            })
            .collect();
        Setup {
            judge,
            quotas: quota.into(),
            calls,
        }
    }

    pub(crate) fn options(&self) -> BuildOptions {
        BuildOptions::default()
    }

    /// For one key of a store: what `judge` says.
    pub(crate) fn of_a_key(judge: &'static str, quotas: Quotas) -> Setup {
        Setup {
            judge,
            quotas,
            calls: Vec::new(),
        }
    }

    fn judge(&self) -> Box<dyn RateLimiter> {
        let judge = registry::find(self.judge).expect("a limiter of ours");
        (judge.build)(&self.quotas, self.options()).expect("what could be built can be again")
    }
}

/// A call with its answer, and what it was made with.
#[derive(Clone, Debug)]
pub(crate) struct Answered {
    pub(crate) setup: Arc<Setup>,
    pub(crate) call: Call,
    pub(crate) answer: Answer,
}

/// The sequential limiter. Its state is what it has accepted since the last reset, in order: the
/// rest changes nothing.
pub(crate) struct Sequential;

impl Specification for Sequential {
    type State = Vec<Call>;
    type Operation = Answered;

    fn init() -> Vec<Call> {
        Vec::new()
    }

    fn apply(answered: &Answered, accepted: &Vec<Call>) -> (bool, Vec<Call>) {
        let limiter = answered.setup.judge();
        for call in accepted {
            call.on(&*limiter);
        }
        let mut after = accepted.clone();
        let right = answered.call.on(&*limiter) == answered.answer;
        if right {
            match (answered.call, &answered.answer) {
                (Call::Reset, _) => after.clear(),
                (Call::Acquire { .. }, Some(Ok(told))) if told.is_allowed() => {
                    after.push(answered.call);
                }
                _ => {}
            }
        }
        (right, after)
    }
}
