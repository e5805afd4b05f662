//! One client through a contestant, with the oracle beside.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rand::distr::Distribution;
use rand::distr::weighted::WeightedIndex;
use rand::rngs::StdRng;
use windowpane_core::{Cost, Nanos, Quota, RateLimiter};
use windowpane_lab_contestants::{Cannot, Contestant, Instance, Told};
use windowpane_lab_ground::clock::{LabClock, SimulatedClock};
use windowpane_mutex_log::MutexLog;

use super::Verdict;
use crate::definitions::{Balancing, Servers};
use crate::traffic::{Request, Traffic};

/// A request that is still to be decided, the earliest first; of the same time the first made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Due {
    at: Nanos,
    made: u64,
    cost: Cost,
    /// How often it was denied.
    denied: u32,
}

/// The requests of one client in the order in which they are made, those made again among them.
struct Queue<'a> {
    first: std::iter::Peekable<std::slice::Iter<'a, (u64, Request)>>,
    again: BinaryHeap<Reverse<Due>>,
    made: u64,
}

impl Queue<'_> {
    fn next(&mut self) -> Option<Due> {
        let again = self.again.peek().map(|Reverse(due)| due.at);
        let first = self.first.peek().map(|(_, request)| request.at);
        if again.is_some_and(|again| first.is_none_or(|first| again < first)) {
            return self.again.pop().map(|Reverse(due)| due);
        }
        let (made, request) = *self.first.next()?;
        Some(Due {
            at: request.at,
            made,
            cost: request.cost,
            denied: 0,
        })
    }

    fn again(&mut self, due: Due, at: Nanos) {
        self.made += 1;
        self.again.push(Reverse(Due {
            at,
            made: self.made,
            cost: due.cost,
            denied: due.denied + 1,
        }));
    }
}

/// The servers that hold a client's limit between them.
struct Fleet {
    servers: Vec<Box<dyn Instance>>,
    /// `None`: in turn.
    weighted: Option<WeightedIndex<u32>>,
    random: StdRng,
}

impl Fleet {
    /// Built at the traffic's zero, whenever the client comes: limiters that count windows from
    /// when they were built count them from there, as the others do.
    fn new(
        contestant: &dyn Contestant,
        quota: Quota,
        servers: &Servers,
        random: StdRng,
    ) -> Result<Fleet, Cannot> {
        SimulatedClock::set(0);
        let limit = quota.limit() / u64::from(servers.count);
        let part = Quota::from_nanos(limit, quota.window(), quota.unit())
            .map_err(|error| Cannot(error.to_string()))?;
        let build = |_| contestant.build(part, LabClock::Simulated);
        Ok(Fleet {
            servers: (0..servers.count).map(build).collect::<Result<_, _>>()?,
            weighted: match &servers.balancing {
                Balancing::InTurn(_) => None,
                Balancing::Weighted(weights) => {
                    let index = WeightedIndex::new(weights.iter().copied());
                    Some(index.map_err(|error| Cannot(error.to_string()))?)
                }
            },
            random,
        })
    }

    fn decide(&mut self, due: &Due) -> Result<Told, Cannot> {
        let server = match &self.weighted {
            // In turn over the requests of all clients: `made` counts them.
            None => (due.made % self.servers.len() as u64) as usize,
            Some(weighted) => weighted.sample(&mut self.random),
        };
        SimulatedClock::set(due.at);
        self.servers[server].decide_cost(due.cost)
    }
}

/// The time in which a client is denied and should not be.
#[derive(Default)]
struct WronglyDenied {
    /// The stretch that is open now: from the first false denial to when a wait told is over, which
    /// is not before a limiter that tells none is asked again.
    open: Option<(Nanos, Nanos)>,
}

impl WronglyDenied {
    /// A false denial, and the wait told with it.
    fn denied(&mut self, at: Nanos, wait: Option<Nanos>, verdict: &mut Verdict) {
        self.until(at, verdict);
        let end = at.saturating_add(wait.unwrap_or(0));
        self.open = match self.open {
            Some((start, known)) => Some((start, known.max(end))),
            None => Some((at, end)),
        };
    }

    /// Counts what was over by `at`; the stretch goes on if its wait does.
    fn until(&mut self, at: Nanos, verdict: &mut Verdict) {
        if let Some((start, end)) = self.open
            && end < at
        {
            self.count(start, end, verdict);
        }
    }

    /// Something was accepted at `at`, or rightly denied: the oracle would deny from here on, or
    /// both would allow.
    fn over(&mut self, at: Nanos, verdict: &mut Verdict) {
        if let Some((start, end)) = self.open {
            self.count(start, end.min(at), verdict);
        }
    }

    fn count(&mut self, start: Nanos, end: Nanos, verdict: &mut Verdict) {
        let time = end - start;
        verdict.wrongly_denied += time;
        verdict.longest_wrong_denial = verdict.longest_wrong_denial.max(time);
        self.open = None;
    }
}

/// Runs one client's requests through the contestant.
///
/// # Errors
/// [`Cannot`] if it cannot express the quota or a cost, or tells no wait where it is needed.
pub(super) fn follow(
    contestant: &dyn Contestant,
    traffic: &Traffic,
    requests: &[(u64, Request)],
    random: StdRng,
) -> Result<Verdict, Cannot> {
    let mut fleet = Fleet::new(contestant, traffic.quota, &traffic.servers, random)?;
    let shadow: MutexLog = MutexLog::new(traffic.quota);
    let limit = traffic.quota.limit();
    let denied = traffic.when_denied;
    let mut queue = Queue {
        first: requests.iter().peekable(),
        again: BinaryHeap::new(),
        // Behind all that the traffic has.
        made: traffic.requests.len() as u64,
    };
    let mut verdict = Verdict::default();
    let mut wrongly = WronglyDenied::default();
    let mut last = 0;
    while let Some(due) = queue.next() {
        last = due.at;
        let oracle = shadow
            .peek_at(due.at, due.cost)
            .is_ok_and(|answer| answer.is_allowed());
        let told = fleet.decide(&due)?;
        verdict.requests += 1;
        verdict.retries += u64::from(due.denied > 0);
        if told.allowed {
            let used = shadow.record_at(due.at, due.cost)[0];
            verdict.worst_overshoot = verdict.worst_overshoot.max(used.saturating_sub(limit));
            verdict.allowed += 1;
            verdict.false_allows += u64::from(!oracle);
            wrongly.over(due.at, &mut verdict);
            continue;
        }
        if oracle {
            verdict.false_denies += 1;
            wrongly.denied(due.at, told.retry_after, &mut verdict);
        } else {
            wrongly.over(due.at, &mut verdict);
        }
        if due.denied < denied.at_most {
            let wait =
                match (denied.retry_every, denied.retry_after_told) {
                    (Some(every), _) => Some(every.0),
                    (None, true) => Some(told.retry_after.ok_or_else(|| {
                        Cannot("it tells no wait that clients could honour".into())
                    })?),
                    (None, false) => None,
                };
            if let Some(wait) = wait {
                queue.again(due, due.at.saturating_add(wait));
            }
        }
    }
    wrongly.over(Nanos::MAX, &mut verdict);
    let first = requests.first().map_or(0, |(_, request)| request.at);
    verdict.client_time = last - first + traffic.quota.window();
    Ok(verdict)
}
