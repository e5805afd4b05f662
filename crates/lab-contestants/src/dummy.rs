//! A dummy rival and a dummy limiter of ours: one entry each is enough for every list.

use std::sync::atomic::{AtomicU64, Ordering};

use windowpane_core::{Cost, Quota, Quotas};
use windowpane_lab_ground::clock::LabClock;
use windowpane_mutex_log::MutexLog;

use crate::keyed::{DecideKeyed, Demand, KeyedAdapter, KeyedInfo, LabKey};
use crate::ours::ours;
use crate::registry::BuildOptions;
use crate::soaked::RoundClock;
use crate::table::{Entry, Table};
use crate::{Adapter, Cannot, ContestClock, Decide, Info, Origin, Rule, SHARED_CLOCK};

/// All that a rival's file holds: it allows as many requests as its limit, ever.
struct Dummy;

impl Adapter for Dummy {
    const INFO: Info = Info {
        name: "dummy-rival",
        origin: Origin::Rival,
        rule: Rule::Other,
        keeps_quota: true,
        costs_take_long: false,
        about: "a count that never goes down",
        clock: SHARED_CLOCK,
        cannot: "windows",
        memory: "one word",
        memory_at_most: Some(|_| 8),
    };

    fn on_clock<C: ContestClock>(quota: Quota, _: C) -> Result<impl Decide + 'static, Cannot> {
        Ok(Count(AtomicU64::new(quota.limit())))
    }
}

impl KeyedAdapter for Dummy {
    const INFO: KeyedInfo = KeyedInfo {
        name: "dummy-rival",
        origin: Origin::Rival,
        about: "one count for all keys",
        hasher: "none",
        cannot: "keys",
        bytes_at_most: |_| 8,
    };

    fn on_clock<K: LabKey, C: ContestClock>(
        demand: Demand,
        _: C,
    ) -> Result<impl DecideKeyed<K> + 'static, Cannot> {
        Ok(Count(AtomicU64::new(demand.quota.limit())))
    }
}

struct Count(AtomicU64);

impl Count {
    fn take(&self) -> bool {
        let left = |left: u64| left.checked_sub(1);
        let taken = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, left);
        taken.is_ok()
    }
}

impl Decide for Count {
    fn decide(&self) -> bool {
        self.take()
    }
}

impl<K> DecideKeyed<K> for Count {
    fn decide(&self, _: &K) -> bool {
        self.take()
    }
}

ours! {
    mutex_log {
        name: "dummy-of-ours",
        limiter: |quotas, _| <MutexLog>::new(quotas.clone()),
        many_keys: limiter MutexLog,
        in_a_store: "a log a key",
        rule: Rule::Exact,
        promise: Promise::NEVER_ABOVE,
        costs_take_long: false,
        lock_free: false,
        target: 9.0,
        about: "the oracle under another name",
        cannot: "",
        memory: "as the oracle's",
        memory_at_most: |limit| 16 * limit + 256,
        bytes_of_a_key: |limit| 16 * limit + 512,
    }
}

static RIVALS: &[Entry] = &[Entry {
    one_key: &Dummy,
    many_keys: &[&Dummy],
    code: None,
    algorithm: None,
    lock_free: true,
    exhibit: None,
}];

static DUMMIES: Table = Table {
    composed: &[],
    ours: OURS,
    rivals: RIVALS,
};

fn quota() -> Quota {
    "3/10s".parse().unwrap()
}

#[test]
fn one_entry_puts_a_dummy_into_every_list() {
    let one_key: Vec<&str> = DUMMIES
        .contestants()
        .iter()
        .map(|one| one.info().name)
        .collect();
    assert_eq!(one_key, ["dummy-of-ours", "dummy-rival"]);
    let many_keys: Vec<&str> = DUMMIES
        .stores()
        .iter()
        .map(|store| store.info().name)
        .collect();
    assert_eq!(many_keys, ["store/dummy-of-ours", "dummy-rival"]);
    let replayed: Vec<&str> = DUMMIES.algorithms().map(|ours| ours.info.name).collect();
    assert_eq!(replayed, ["dummy-of-ours"]);
    let soaked: Vec<&str> = DUMMIES.soaked().map(|soaked| soaked.name).collect();
    assert_eq!(soaked, ["dummy-of-ours", "keyed dummy-of-ours"]);
    let targets: Vec<f64> = DUMMIES
        .algorithms()
        .filter_map(|ours| ours.target)
        .collect();
    assert_eq!(targets, [9.0]);
    let ours = DUMMIES.entry("dummy-of-ours").unwrap();
    assert!(ours.info().keeps_quota && ours.info().is_exact());
    assert!(ours.code.unwrap().many_keys.contains("MutexLog"));
    assert!(DUMMIES.entry("dummy-rival").unwrap().info().keeps_quota);
}

#[test]
fn every_list_builds_a_dummy_that_keeps_its_limit() {
    for contestant in DUMMIES.contestants() {
        let built = contestant.build(quota(), LabClock::Simulated).unwrap();
        assert_eq!(built.batch(5), 3, "{}", contestant.info().name);
    }
    let demand = Demand {
        quota: quota(),
        keys: 1,
        cap: 1,
    };
    for store in DUMMIES.stores() {
        let built = store.of_words(demand, LabClock::Simulated).unwrap();
        assert_eq!(built.batch(&[7], &[0; 5]), 3, "{}", store.info().name);
    }
    let quotas = Quotas::from(quota());
    for algorithm in DUMMIES.algorithms() {
        let store = (algorithm.store)(&quotas, BuildOptions::default()).unwrap();
        let allowed =
            (0..5).filter(|now| store.decide_at(7, *now, Cost::ONE).unwrap().is_allowed());
        assert_eq!(allowed.count(), 3);
    }
    for soaked in DUMMIES.soaked() {
        let subject = (soaked.build)(&quotas, RoundClock::default()).unwrap();
        let allowed = (0..5).filter_map(|now| subject.decide_at(7, now, Cost::ONE));
        assert_eq!(allowed.count(), 3, "{}", soaked.name);
    }
}
