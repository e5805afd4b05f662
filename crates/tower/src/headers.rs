//! The headers of a response that describe quotas.

use std::time::{SystemTime, UNIX_EPOCH};

use http::{HeaderMap, HeaderName, HeaderValue};
use smallvec::SmallVec;
use windowpane_core::{Answer, Denial, Nanos, Quotas, Unit};

use crate::observe::HAS_CLOCK;
use crate::policy::Policies;
use crate::written::{Kept, MAX_INTEGER, Written};

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

/// The headers that are sent, beside `Retry-After`.
#[derive(Debug)]
pub(crate) struct Headers {
    /// `RateLimit-Policy` and `RateLimit`.
    pub(crate) draft: bool,
    /// The `X-RateLimit-*` trio.
    pub(crate) trio: Option<Reset>,
    /// The draft's `qu` of quotas that count permits.
    pub(crate) permit_unit: Option<String>,
    /// The parts that are equal in every answer.
    pub(crate) kept: Kept,
}

/// Seconds, rounded up and at least 1: to wait that long is never too short.
pub(crate) fn whole_seconds(wait: Nanos) -> u64 {
    wait.div_ceil(SECOND).max(1)
}

impl Headers {
    /// Adds the headers of an answer. Those of another layer stay: the draft's are lists and grow;
    /// of two `X-RateLimit-*` trios, the one with less remaining is kept.
    pub(crate) fn tell(&self, headers: &mut HeaderMap, policies: &Policies, answer: &Answer) {
        let denied = answer.detailed.decision().denied();
        if self.draft {
            self.written(policies, &answer.quotas, |written| {
                append(headers, RATELIMIT_POLICY, written.policy());
                append(headers, RATELIMIT, state(written, answer, denied));
            });
        }
        if let Some(reset) = self.trio {
            tell_trio(headers, reset, answer, denied);
        }
    }

    /// Adds the headers of quotas without a decision.
    pub(crate) fn tell_policy(
        &self,
        headers: &mut HeaderMap,
        policies: &Policies,
        quotas: &Quotas,
    ) {
        if self.draft {
            self.written(policies, quotas, |written| {
                append(headers, RATELIMIT_POLICY, written.policy());
            });
        }
    }

    fn written(&self, policies: &Policies, quotas: &Quotas, tell: impl FnOnce(&Written)) {
        let unit = self.permit_unit.as_deref();
        let write = || Written::new(policies, quotas, unit);
        self.kept.with(quotas, write, tell);
    }
}

/// `RateLimit`. `t`, when there will be more, stands with the quotas that bind (the limiter reports it
/// for them) and with the one that denied.
fn state(written: &Written, answer: &Answer, denied: Option<Denial>) -> Option<HeaderValue> {
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
            line.extend_from_slice(b";t=");
            push(&mut line, whole_seconds(wait));
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
fn tell_trio(headers: &mut HeaderMap, reset: Reset, answer: &Answer, denied: Option<Denial>) {
    let quotas = &answer.quotas;
    let told = match denied {
        Some(denied) => Some(denied.quota()),
        None => (0..quotas.len()).find(|index| binds(quotas, answer, *index)),
    };
    let left = answer.detailed.remaining_per_quota();
    let Some((told, remaining)) = told.and_then(|told| Some((quotas.get(told)?, left.get(told)?)))
    else {
        return;
    };
    let other = headers.get(X_REMAINING);
    let other = other.and_then(|other| other.to_str().ok()?.parse::<u64>().ok());
    if other.is_some_and(|other| other <= *remaining) {
        return;
    }
    headers.insert(X_LIMIT, told.limit().into());
    headers.insert(X_REMAINING, (*remaining).into());
    headers.remove(X_RESET);
    let wait = match denied {
        Some(denied) => denied.retry_after_nanos(),
        None => answer.more_after,
    };
    if let Some(wait) = wait.map(whole_seconds) {
        let wait = match reset {
            Reset::Seconds => wait,
            // Without a clock there is no time of day to report.
            Reset::UnixTime if !HAS_CLOCK => return,
            Reset::UnixTime => {
                let now = SystemTime::now().duration_since(UNIX_EPOCH);
                // Rounded up as the wait is, so that it is never too early.
                now.map_or(0, |now| now.as_secs() + 1).saturating_add(wait)
            }
        };
        headers.insert(X_RESET, wait.into());
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
