//! Who is soaked, and what each promises.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use windowpane_baselines::GcraRule;
use windowpane_baselines::{FixedWindow, Gcra};
use windowpane_bucket_ring::BucketRing;
use windowpane_cas_ring::CasRing;
use windowpane_core::one_word::OneWordRule;
use windowpane_core::{
    BuildError, ChangeQuotas, Changeable, Clock, Cost, Decision, KeyedRateLimiter, Limiter, Nanos,
    Quotas, RateLimiter, StoreError,
};
use windowpane_keyed::{DefaultHasher, FlatTable, ForKeys, KeyedLimiter, SharedRule};
use windowpane_mutex_log::MutexLog;
use windowpane_packed_counter::{PackedCounter, TwoWindowRule};

/// The largest limit of a round; the smallest is 1.
pub(super) const LARGEST_LIMIT: u64 = 40;

/// What a subject promises.
#[derive(Clone, Copy, Debug)]
pub struct Promise {
    /// Its name.
    pub name: &'static str,
    /// No window holds more than so many times the limit: 1 where it never admits too much.
    pub times_the_limit: u64,
    /// After so many windows without a request everything is free.
    pub idle_after: u64,
    /// Whether it holds several quotas at once.
    pub quotas_at_once: bool,
}

/// A limiter or a store of them, in use by several threads.
pub trait Subject: Sync {
    /// Asks for `key`; the time an accepted request was recorded under.
    fn acquire_at(&self, key: u32, now: Nanos, cost: Cost) -> Option<Nanos>;

    /// Changes the quotas at what the round's clock reads once no other call is made; whether it
    /// could.
    fn change(&self, quotas: &Quotas) -> bool;

    /// Whether everything is free at `now`, after everything has left.
    ///
    /// # Errors
    /// What is not.
    fn has_all_at(&self, now: Nanos) -> Result<(), String>;

    /// Keys that made room for others.
    fn evictions(&self) -> u64 {
        0
    }
}

/// A round's clock: its threads step it on.
#[derive(Clone, Debug, Default)]
pub struct RoundClock(Arc<AtomicU64>);

impl RoundClock {
    /// Steps it on and reads what it showed before.
    pub(super) fn step(&self, by: Nanos) -> Nanos {
        self.0.fetch_add(by, Ordering::Relaxed)
    }
}

impl Clock for RoundClock {
    fn now(&self) -> Nanos {
        self.0.load(Ordering::Relaxed)
    }
}

/// Builds a subject.
pub type Build = fn(&Quotas, RoundClock) -> Result<Box<dyn Subject>, BuildError>;

/// Every limiter of ours, all keys being one to them, and the stores.
pub static SUBJECTS: &[(Promise, Build)] = &[
    (never_above("mutex-log"), |quotas, clock| {
        one(<MutexLog>::new(quotas.clone()), clock)
    }),
    (never_above("cas-ring"), |quotas, clock| {
        one(
            CasRing::with_capacity(quotas.clone(), LARGEST_LIMIT)?,
            clock,
        )
    }),
    (never_above("bucket-ring"), |quotas, clock| {
        one(BucketRing::new(quotas.clone())?, clock)
    }),
    (up_to_twice("packed-counter", 2), |quotas, clock| {
        one(PackedCounter::new(quotas.clone())?, clock)
    }),
    // What was used of a limit comes back at the rate of the one it was lowered to. A reading that
    // is a little late makes it more.
    (up_to_twice("gcra", 2 * LARGEST_LIMIT), |quotas, clock| {
        one(Gcra::new(quotas.clone())?, clock)
    }),
    (up_to_twice("fixed-window", 2), |quotas, clock| {
        one(FixedWindow::new(quotas.clone())?, clock)
    }),
    (never_above("keyed mutex-log"), keyed::<MutexLog>),
    (
        up_to_twice("keyed packed-counter", 2),
        keyed::<SharedRule<TwoWindowRule>>,
    ),
    (up_to_twice("flat packed-counter", 2), flat::<TwoWindowRule>),
    // Its quotas stay, so all is free after a window.
    (up_to_twice("flat gcra", 2), flat::<GcraRule>),
];

/// Keys that a store has room for: fewer than most rounds have.
const ROOM: usize = 20;

/// One that never admits too much and holds several quotas.
const fn never_above(name: &'static str) -> Promise {
    Promise {
        name,
        times_the_limit: 1,
        idle_after: 2,
        quotas_at_once: true,
    }
}

/// One word, which may admit up to twice the limit.
const fn up_to_twice(name: &'static str, idle_after: u64) -> Promise {
    Promise {
        name,
        times_the_limit: 2,
        idle_after,
        quotas_at_once: false,
    }
}

fn one<L: ChangeQuotas + 'static>(
    limiter: L,
    clock: RoundClock,
) -> Result<Box<dyn Subject>, BuildError> {
    let limiter = Limiter::with_clock(Changeable::new(limiter), clock);
    Ok(Box::new(One(limiter)))
}

fn keyed<L: ForKeys + ChangeQuotas + 'static>(
    quotas: &Quotas,
    clock: RoundClock,
) -> Result<Box<dyn Subject>, BuildError> {
    let store = KeyedLimiter::<u32, L>::builder(quotas.clone());
    Ok(Box::new(Keyed(store.max_keys(ROOM).clock(clock).build()?)))
}

fn flat<R: OneWordRule + 'static>(
    quotas: &Quotas,
    clock: RoundClock,
) -> Result<Box<dyn Subject>, BuildError> {
    let table = FlatTable::<R, _, _>::with(quotas.clone(), ROOM, clock, DefaultHasher::default())?;
    Ok(Box::new(Flat(table)))
}

/// One limiter, whatever the key.
struct One<L>(Limiter<Changeable<L>, RoundClock>);

impl<L: ChangeQuotas> Subject for One<L> {
    fn acquire_at(&self, _key: u32, now: Nanos, cost: Cost) -> Option<Nanos> {
        match self.0.algorithm().acquire_at(now, cost) {
            Ok(Decision::Allowed { at }) => Some(at),
            _ => None,
        }
    }

    fn change(&self, quotas: &Quotas) -> bool {
        self.0.change(quotas.clone()).is_ok()
    }

    fn has_all_at(&self, now: Nanos) -> Result<(), String> {
        let quotas = self.0.quotas();
        let least = quotas.iter().map(|quota| quota.limit()).min().unwrap_or(0);
        let all = Cost::new(least).expect("limits are above 0");
        match self.0.algorithm().acquire_at(now, all) {
            Ok(decision) if decision.is_allowed() => Ok(()),
            other => Err(format!(
                "after an idle time a cost of {least} under {quotas} is not allowed: {other:?}"
            )),
        }
    }
}

/// A store with a limiter a key.
struct Keyed<L>(KeyedLimiter<u32, L, DefaultHasher, RoundClock>);

impl<L: ForKeys + ChangeQuotas> Subject for Keyed<L> {
    fn acquire_at(&self, key: u32, now: Nanos, cost: Cost) -> Option<Nanos> {
        match self.0.acquire_at(&key, now, cost) {
            Ok(Decision::Allowed { at }) => Some(at),
            _ => None,
        }
    }

    fn change(&self, quotas: &Quotas) -> bool {
        self.0.set_quotas(quotas.clone()).is_ok() && self.0.refresh().is_ok()
    }

    fn has_all_at(&self, now: Nanos) -> Result<(), String> {
        let quotas = self.0.quotas(&0);
        all_is_free(&quotas, now, |key, at, all| {
            self.0.acquire_at(&key, at, all)
        })?;
        match self.0.keys() {
            keys if keys <= ROOM => Ok(()),
            keys => Err(format!("{keys} keys are held where {ROOM} is the cap")),
        }
    }

    fn evictions(&self) -> u64 {
        self.0.evictions()
    }
}

/// A flat table: its quotas stay.
struct Flat<R>(FlatTable<R, RoundClock>);

impl<R: OneWordRule> Subject for Flat<R> {
    fn acquire_at(&self, key: u32, now: Nanos, cost: Cost) -> Option<Nanos> {
        match self.0.acquire_at(&key, now, cost) {
            Ok(Decision::Allowed { at }) => Some(at),
            _ => None,
        }
    }

    fn change(&self, _quotas: &Quotas) -> bool {
        false
    }

    fn has_all_at(&self, now: Nanos) -> Result<(), String> {
        let quotas = self.0.quotas(&0);
        all_is_free(&quotas, now, |key, at, all| {
            self.0.acquire_at(&key, at, all)
        })?;
        match (self.0.len(), self.0.entries()) {
            (keys, entries) if keys <= entries => Ok(()),
            (keys, entries) => Err(format!("{keys} keys are held in {entries} entries")),
        }
    }

    fn evictions(&self) -> u64 {
        self.0.evictions()
    }
}

/// Whether more keys than a store has room for may each use all, one after another: the idle ones
/// make room.
fn all_is_free(
    quotas: &Quotas,
    now: Nanos,
    acquire: impl Fn(u32, Nanos, Cost) -> Result<Decision, StoreError>,
) -> Result<(), String> {
    let least = quotas.iter().map(|quota| quota.limit()).min().unwrap_or(0);
    let all = Cost::new(least).expect("limits are above 0");
    for key in 0..2 * ROOM as u32 {
        let at = now + u64::from(key) * 2 * quotas.longest_window();
        match acquire(key, at, all) {
            Ok(decision) if decision.is_allowed() => {}
            other => {
                return Err(format!(
                    "after an idle time key {key} may not use a cost of {least} under {quotas}: {other:?}"
                ));
            }
        }
    }
    Ok(())
}
