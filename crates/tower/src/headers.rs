//! The headers of a response that describe quotas.

use std::time::{SystemTime, UNIX_EPOCH};

use http::{HeaderMap, HeaderName, HeaderValue};
use smallvec::SmallVec;
use windowpane_core::{Answer, Cost, Denial, Nanos, Quotas, Unit};

use crate::observe::HAS_CLOCK;
use crate::policy::Names;
use crate::written::{MAX_INTEGER, Written};

const RATELIMIT: HeaderName = HeaderName::from_static("ratelimit");
const RATELIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
const X_LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const X_REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const X_RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");

const SECOND: Nanos = 1_000_000_000;

/// The meaning of `X-RateLimit-Reset`; services differ.
///
/// Both forms say when more will be left, not when everything will: in a sliding window a quota
/// comes back request by request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reset {
    /// Seconds from now.
    Seconds,
    /// Seconds since 1970, by this machine's wall clock. Not sent on `wasm32-unknown-unknown`, which
    /// has none.
    UnixTime,
}

/// The version of draft-ietf-httpapi-ratelimit-headers by which `RateLimit` is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Draft {
    /// Version 10, which clients read: `r` remains, and there is more after `t` seconds.
    #[default]
    V10,
    /// The change proposed to the working group in April 2026: `r` is named `a`, `t` is named `w`, and
    /// `c` is what the request cost. No published version has it yet.
    Proposed2026,
}

impl Draft {
    /// The names of the parameters: what remains, when there is more, the cost.
    pub(crate) const fn parameters(self) -> (&'static str, &'static str, Option<&'static str>) {
        match self {
            Draft::V10 => (";r=", ";t=", None),
            Draft::Proposed2026 => (";a=", ";w=", Some(";c=")),
        }
    }
}

/// The headers that are sent, beside `Retry-After`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Headers {
    /// `RateLimit-Policy` and `RateLimit`.
    pub(crate) draft: Option<Draft>,
    /// The `X-RateLimit-*` trio.
    pub(crate) trio: Option<Reset>,
}

/// The header fields about one limit, ready to be sent.
#[derive(Debug, Default)]
pub(crate) struct Fields {
    policy: Option<HeaderValue>,
    state: Option<HeaderValue>,
    trio: Option<Trio>,
}

/// The values of the `X-RateLimit-*` trio.
#[derive(Debug)]
struct Trio {
    limit: u64,
    remaining: u64,
    reset: Option<u64>,
}

/// Seconds, rounded up and at least 1: to wait that long is never too short.
pub(crate) fn whole_seconds(wait: Nanos) -> u64 {
    wait.div_ceil(SECOND).max(1)
}

impl Headers {
    /// Whether any header is sent that needs what remains.
    pub(crate) fn any(self) -> bool {
        self.draft.is_some() || self.trio.is_some()
    }

    /// Returns the fields of an answer.
    pub(crate) fn of_answer(self, names: &Names, answer: &Answer, cost: Cost) -> Fields {
        let denied = answer.detailed.decision().denied();
        let mut fields = Fields::default();
        if let Some(draft) = self.draft {
            names.written(&answer.quotas, draft, |written| {
                fields.policy = written.policy();
                fields.state = state(written, draft, answer, cost, denied);
            });
        }
        fields.trio = self.trio.and_then(|reset| trio(reset, answer, denied));
        fields
    }

    /// Returns the fields of quotas without a decision.
    pub(crate) fn of_quotas(self, names: &Names, quotas: &Quotas) -> Fields {
        let mut fields = Fields::default();
        if let Some(draft) = self.draft {
            names.written(quotas, draft, |written| fields.policy = written.policy());
        }
        fields
    }
}

impl Fields {
    /// Adds the fields to a response. Those of another limit stay: the draft's are lists and grow; of
    /// two `X-RateLimit-*` trios, the one with less remaining is kept.
    pub(crate) fn add_to(self, headers: &mut HeaderMap) {
        append(headers, RATELIMIT_POLICY, self.policy);
        append(headers, RATELIMIT, self.state);
        if let Some(trio) = self.trio {
            trio.add_to(headers);
        }
    }
}

/// `RateLimit`. `t`, when there will be more, stands with the quotas that bind (the limiter reports it
/// for them) and with the one that denied.
fn state(
    written: &Written,
    draft: Draft,
    answer: &Answer,
    cost: Cost,
    denied: Option<Denial>,
) -> Option<HeaderValue> {
    let (_, when, costs) = draft.parameters();
    let quotas = &answer.quotas;
    // Capacity for two items; most answers have no more.
    let mut line = SmallVec::<[u8; 128]>::new();
    for (index, start) in written.items() {
        // As many as there are quotas, unless a store of one's own errs.
        let Some(&left) = answer.detailed.remaining_per_quota().get(index) else {
            continue;
        };
        if !line.is_empty() {
            line.extend_from_slice(b", ");
        }
        line.extend_from_slice(start);
        push(&mut line, left);
        let more = answer.more_after.filter(|_| binds(quotas, answer, index));
        let retry = denied
            .filter(|denied| denied.quota() == index)
            .and_then(|denied| denied.retry_after_nanos());
        if let Some(wait) = more.or(retry) {
            line.extend_from_slice(when.as_bytes());
            push(&mut line, whole_seconds(wait));
        }
        // A denied request has cost nothing.
        if let (Some(costs), None) = (costs, denied) {
            line.extend_from_slice(costs.as_bytes());
            push(&mut line, quotas[index].charge(cost));
        }
    }
    // An empty list has no field: every quota is too large for one.
    let line = Some(line).filter(|line| !line.is_empty());
    line.and_then(|line| HeaderValue::from_bytes(&line).ok())
}

/// Writes an integer of a structured field.
fn push(line: &mut SmallVec<[u8; 128]>, number: u64) {
    let number = number.min(MAX_INTEGER);
    line.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// The `X-RateLimit-*` trio: of the quota that denied, else of the first that binds.
fn trio(reset: Reset, answer: &Answer, denied: Option<Denial>) -> Option<Trio> {
    let quotas = &answer.quotas;
    let index = match denied {
        Some(denied) => denied.quota(),
        None => (0..quotas.len()).find(|index| binds(quotas, answer, *index))?,
    };
    let wait = match denied {
        Some(denied) => denied.retry_after_nanos(),
        None => answer.more_after,
    };
    Some(Trio {
        limit: quotas.get(index)?.limit(),
        remaining: *answer.detailed.remaining_per_quota().get(index)?,
        reset: wait.map(whole_seconds).and_then(|wait| match reset {
            Reset::Seconds => Some(wait),
            // Without a clock there is no time of day to report.
            Reset::UnixTime if !HAS_CLOCK => None,
            Reset::UnixTime => {
                let now = SystemTime::now().duration_since(UNIX_EPOCH);
                // Rounded up as the wait is, so that it is never too early.
                Some(now.map_or(0, |now| now.as_secs() + 1).saturating_add(wait))
            }
        }),
    })
}

impl Trio {
    fn add_to(&self, headers: &mut HeaderMap) {
        let other = headers.get(X_REMAINING);
        let other = other.and_then(|other| other.to_str().ok()?.parse::<u64>().ok());
        if other.is_some_and(|other| other <= self.remaining) {
            return;
        }
        headers.insert(X_LIMIT, self.limit.into());
        headers.insert(X_REMAINING, self.remaining.into());
        match self.reset {
            Some(reset) => headers.insert(X_RESET, reset.into()),
            None => headers.remove(X_RESET),
        };
    }
}

/// Whether a quota is one of those that bound what remains: more remains only once it has more.
fn binds(quotas: &Quotas, answer: &Answer, index: usize) -> bool {
    let Some(&left) = answer.detailed.remaining_per_quota().get(index) else {
        return false;
    };
    // Requests left are no bound on the cost where permits are counted too, unless none is left.
    let comparable = quotas[index].unit() == Unit::Permits
        || left == 0
        || quotas.iter().all(|quota| quota.unit() == Unit::Requests);
    left == answer.detailed.remaining() && comparable
}

fn append(headers: &mut HeaderMap, name: HeaderName, list: Option<HeaderValue>) {
    if let Some(value) = list {
        headers.append(name, value);
    }
}
