//! The parts of headers that depend on the quotas alone, written once and cached.

use std::sync::RwLock;

use bytes::Bytes;
use http::HeaderValue;
use sfv::{Integer, ListSerializer, StringRef, key_ref};
use windowpane_core::{Nanos, Quota, Quotas, Unit};

use crate::headers::Draft;
use crate::policy::Policies;
use crate::rejection::Rejection;

const SECOND: Nanos = 1_000_000_000;

/// The largest integer of a structured field.
pub(crate) const MAX_INTEGER: u64 = 999_999_999_999_999;

/// The parts of the headers that depend on these quotas alone.
#[derive(Debug)]
pub(crate) struct Written {
    quotas: Quotas,
    policy: Option<HeaderValue>,
    items: Vec<(usize, Box<[u8]>)>,
    /// The name of each quota, and the default body of a denial by it.
    denials: Vec<(Box<str>, Bytes)>,
}

impl Written {
    pub(crate) fn new(
        policies: &Policies,
        quotas: &Quotas,
        unit: Option<&str>,
        draft: Draft,
    ) -> Written {
        let (remains, ..) = draft.parameters();
        let item = |(index, _)| {
            let mut list = ListSerializer::new();
            let _ = list.bare_item(StringRef::from_str(&policies.name(quotas, index)).ok()?);
            let start = list.finish()? + remains;
            Some((index, start.into_bytes().into()))
        };
        let policy = policy(policies, quotas, unit);
        Written {
            quotas: quotas.clone(),
            // An empty list has no field: every quota is too large for one.
            policy: policy.and_then(|list| HeaderValue::try_from(list).ok()),
            items: tellable(quotas).filter_map(item).collect(),
            denials: (0..quotas.len())
                .map(|index| {
                    let rejection = Rejection::Denied {
                        policy: policies.name(quotas, index).into_owned(),
                        quota: quotas[index],
                        // No part of the body.
                        retry_after: None,
                        others: Vec::new(),
                    };
                    let name = policies.name(quotas, index).into();
                    (name, rejection.problem().into())
                })
                .collect(),
        }
    }

    /// Returns the name of a quota, and the default body of a denial by it.
    pub(crate) fn denial(&self, index: usize) -> Option<(&str, Bytes)> {
        let (name, body) = self.denials.get(index)?;
        Some((name, body.clone()))
    }

    /// `RateLimit-Policy`; `None` if every quota is too large for a field.
    pub(crate) fn policy(&self) -> Option<HeaderValue> {
        self.policy.clone()
    }

    /// Returns, for each quota that a field can hold, its index and its item in `RateLimit` up to the
    /// remaining number.
    pub(crate) fn items(&self) -> impl Iterator<Item = (usize, &[u8])> {
        self.items.iter().map(|(index, start)| (*index, &start[..]))
    }
}

/// `RateLimit-Policy`. A window that is not whole seconds has no `w`, which is optional: any
/// number there would be wrong. The quota's default name contains it.
fn policy(policies: &Policies, quotas: &Quotas, unit: Option<&str>) -> Option<String> {
    let mut list = ListSerializer::new();
    for (index, quota) in tellable(quotas) {
        let name = policies.name(quotas, index);
        let mut item = list.bare_item(StringRef::from_str(&name).ok()?);
        item = item.parameter(key_ref("q"), integer(quota.limit()));
        let unit = match quota.unit() {
            Unit::Requests => Some("requests"),
            _ => unit,
        };
        if let Some(unit) = unit {
            item = item.parameter(key_ref("qu"), StringRef::from_str(unit).ok()?);
        }
        if quota.window().is_multiple_of(SECOND) {
            let _ = item.parameter(key_ref("w"), integer(quota.window() / SECOND));
        }
    }
    list.finish()
}

/// The quotas whose limit a structured field can express, with their indices.
fn tellable(quotas: &Quotas) -> impl Iterator<Item = (usize, &Quota)> {
    quotas
        .iter()
        .enumerate()
        .filter(|(_, quota)| quota.limit() <= MAX_INTEGER)
}

fn integer(number: u64) -> Integer {
    Integer::try_from(number).unwrap_or(Integer::MAX)
}

/// The most quotas that are cached: most services have no more tiers.
const MOST: usize = 8;

/// A cache of the parts written for the latest quotas.
#[derive(Debug, Default)]
pub(crate) struct Kept(RwLock<Vec<Written>>);

impl Kept {
    /// Passes the cached parts for these quotas to `then`, or the result of `write`, which replaces
    /// the oldest. It never waits: while another thread changes the cache, it is not used.
    pub(crate) fn with(
        &self,
        quotas: &Quotas,
        write: impl FnOnce() -> Written,
        then: impl FnOnce(&Written),
    ) {
        let are_these = |written: &&Written| written.quotas == *quotas;
        if let Ok(kept) = self.0.try_read()
            && let Some(written) = kept.iter().find(are_these)
        {
            return then(written);
        }
        let written = write();
        then(&written);
        if let Ok(mut kept) = self.0.try_write()
            && !kept.iter().any(|kept| are_these(&kept))
        {
            if kept.len() == MOST {
                kept.remove(0);
            }
            kept.push(written);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quotas(limit: usize) -> Quotas {
        Quotas::parse([format!("{limit}/60s").as_str()]).unwrap()
    }

    /// Returns the policy of quotas, and whether it had to be written.
    fn tell(kept: &Kept, limit: usize) -> (String, bool) {
        let (mut told, mut was_written) = (String::new(), false);
        let quotas = quotas(limit);
        let write = || {
            was_written = true;
            Written::new(&Policies::default(), &quotas, None, Draft::V10)
        };
        kept.with(&quotas, write, |written| {
            told = written.policy().unwrap().to_str().unwrap().to_owned();
        });
        (told, was_written)
    }

    #[test]
    fn what_is_kept_is_of_the_quotas_asked_for_and_bounded() {
        let kept = Kept::default();
        // More quotas than are kept, each asked for twice.
        for limit in 1..=3 * MOST {
            let told = format!("\"{limit}/60s\";q={limit};w=60");
            assert_eq!(tell(&kept, limit), (told.clone(), true));
            assert_eq!(tell(&kept, limit), (told, false));
            assert!(kept.0.read().unwrap().len() <= MOST);
        }
        // The last ones are still kept, the first are written again.
        assert!(!tell(&kept, 2 * MOST + 1).1);
        assert!(tell(&kept, 1).1);
    }

    #[test]
    fn nobody_waits_for_one_who_changes_what_is_kept() {
        let kept = Kept::default();
        let _ = tell(&kept, 1);
        let changing = kept.0.write().unwrap();
        assert_eq!(tell(&kept, 1), ("\"1/60s\";q=1;w=60".into(), true));
        drop(changing);
        assert!(!tell(&kept, 1).1);
    }
}
