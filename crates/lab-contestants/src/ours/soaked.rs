//! The limiters of ours and their stores in use by several threads, and what each promises.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use windowpane_core::one_word::{ChangeRule, OneWordRule};
use windowpane_core::{
    BuildError, ChangeQuotas, Changeable, Clock, Cost, Decision, KeyedRateLimiter, Limiter, Nanos,
    Quotas, RateLimiter, StoreError,
};
use windowpane_keyed::{DefaultHasher, FlatTable, KeyedLimiter, SharedRule};

use crate::registry::BuildOptions;

/// The largest limit of a round; the smallest is 1.
pub const LARGEST_LIMIT: u64 = 40;

/// What a limiter promises under concurrent use, changes of quotas and clocks that step back.
#[derive(Clone, Copy, Debug)]
pub struct Promise {
    /// No window holds more than this many times the limit: 1 where it never admits too much.
    pub times_the_limit: u64,
    /// After this many windows without a request everything is free.
    pub idle_after: u64,
    /// Whether it holds several quotas at once.
    pub quotas_at_once: bool,
}

impl Promise {
    /// The promise of one that never admits too much and holds several quotas.
    pub const NEVER_ABOVE: Promise = Promise {
        times_the_limit: 1,
        idle_after: 2,
        quotas_at_once: true,
    };

    /// Returns the promise of one word, which may admit up to twice the limit.
    pub const fn up_to_twice(idle_after: u64) -> Promise {
        Promise {
            times_the_limit: 2,
            idle_after,
            quotas_at_once: false,
        }
    }

    /// Returns the promise where quotas never change: all is free after a window.
    pub const fn of_fixed_quotas(self) -> Promise {
        Promise {
            idle_after: 2,
            ..self
        }
    }
}

/// A limiter of ours, or a store that holds it, as it is soaked.
#[derive(Clone, Copy, Debug)]
pub struct Soaked {
    /// The name in the table of a soak.
    pub name: &'static str,
    /// The promise that is watched.
    pub promise: Promise,
    /// Builds it.
    pub build: Build,
}

/// A limiter or a store of them, in use by several threads.
pub trait Subject: Sync {
    /// Asks for `key`; the time an accepted request was recorded under.
    fn decide_at(&self, key: u32, now: Nanos, cost: Cost) -> Option<Nanos>;

    /// Changes the quotas at what the round's clock reads once no other call is made; whether it
    /// could.
    fn change(&self, quotas: &Quotas) -> bool;

    /// Forgets what was accepted for `key`.
    fn reset(&self, key: u32);

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
    pub fn step(&self, by: Nanos) -> Nanos {
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

/// Keys that a store has room for: fewer than most rounds have.
const ROOM: usize = 20;

/// Builds one limiter, whatever the key.
pub(crate) fn one<L: ChangeQuotas + 'static>(
    make: impl Fn(&Quotas, BuildOptions) -> Result<L, BuildError>,
    quotas: &Quotas,
    clock: RoundClock,
) -> Result<Box<dyn Subject>, BuildError> {
    let limiter = make(quotas, BuildOptions::default())?;
    let limiter = Limiter::with_clock(Changeable::new(limiter), clock);
    Ok(Box::new(One(limiter)))
}

/// Builds a store with a limiter a key.
pub(crate) fn keyed<L: ChangeQuotas + 'static>(
    make: impl Fn(&Quotas, BuildOptions) -> Result<L, BuildError> + Send + Sync + 'static,
    quotas: &Quotas,
    clock: RoundClock,
) -> Result<Box<dyn Subject>, BuildError> {
    let make = move |quotas: &Quotas, start| make(quotas, BuildOptions::starting_at(start));
    let store = KeyedLimiter::<u32, L>::builder_with(quotas.clone(), make);
    Ok(Box::new(Keyed(store.max_keys(ROOM).clock(clock).build()?)))
}

/// Builds a store with a word a key.
pub(crate) fn keyed_rule<R: ChangeRule + 'static>(
    quotas: &Quotas,
    clock: RoundClock,
) -> Result<Box<dyn Subject>, BuildError> {
    let store = KeyedLimiter::<u32, SharedRule<R>>::builder(quotas.clone());
    Ok(Box::new(Keyed(store.max_keys(ROOM).clock(clock).build()?)))
}

/// Builds a flat table.
pub(crate) fn flat<R: OneWordRule + 'static>(
    quotas: &Quotas,
    clock: RoundClock,
) -> Result<Box<dyn Subject>, BuildError> {
    let table = FlatTable::<R>::builder(quotas.clone(), ROOM)
        .clock(clock)
        .build()?;
    Ok(Box::new(Flat(table)))
}

/// One limiter, whatever the key.
struct One<L>(Limiter<Changeable<L>, RoundClock>);

impl<L: ChangeQuotas> Subject for One<L> {
    fn decide_at(&self, _key: u32, now: Nanos, cost: Cost) -> Option<Nanos> {
        match self.0.algorithm().decide_at(now, cost) {
            Ok(Decision::Allowed { at }) => Some(at),
            _ => None,
        }
    }

    fn change(&self, quotas: &Quotas) -> bool {
        self.0.change(quotas.clone()).is_ok()
    }

    fn reset(&self, _key: u32) {
        self.0.reset();
    }

    fn has_all_at(&self, now: Nanos) -> Result<(), String> {
        let quotas = self.0.quotas();
        let least = quotas.iter().map(|quota| quota.limit()).min().unwrap_or(0);
        let all = Cost::new(least).expect("limits are above 0");
        match self.0.algorithm().decide_at(now, all) {
            Ok(decision) if decision.is_allowed() => Ok(()),
            other => Err(format!(
                "after an idle time a cost of {least} under {quotas} is not allowed: {other:?}"
            )),
        }
    }
}

/// A store with a limiter a key.
struct Keyed<L>(KeyedLimiter<u32, L, DefaultHasher, RoundClock>);

impl<L: ChangeQuotas> Subject for Keyed<L> {
    fn decide_at(&self, key: u32, now: Nanos, cost: Cost) -> Option<Nanos> {
        match self.0.decide_at(&key, now, cost) {
            Ok(Decision::Allowed { at }) => Some(at),
            _ => None,
        }
    }

    fn change(&self, quotas: &Quotas) -> bool {
        self.0.set_quotas(quotas.clone()).is_ok() && self.0.refresh().is_ok()
    }

    fn reset(&self, key: u32) {
        self.0.reset(&key);
    }

    fn has_all_at(&self, now: Nanos) -> Result<(), String> {
        let quotas = self.0.quotas(&0);
        all_is_free(&quotas, now, |key, at, all| self.0.decide_at(&key, at, all))?;
        match self.0.keys() {
            keys if keys <= ROOM => Ok(()),
            keys => Err(format!("{keys} keys are held where {ROOM} is the cap")),
        }
    }

    fn evictions(&self) -> u64 {
        self.0.stats().evictions
    }
}

/// A flat table: its quotas stay.
struct Flat<R>(FlatTable<R, DefaultHasher, RoundClock>);

impl<R: OneWordRule> Subject for Flat<R> {
    fn decide_at(&self, key: u32, now: Nanos, cost: Cost) -> Option<Nanos> {
        match self.0.decide_at(&key, now, cost) {
            Ok(Decision::Allowed { at }) => Some(at),
            _ => None,
        }
    }

    fn change(&self, _quotas: &Quotas) -> bool {
        false
    }

    fn reset(&self, key: u32) {
        self.0.reset(&key);
    }

    fn has_all_at(&self, now: Nanos) -> Result<(), String> {
        let quotas = self.0.quotas(&0);
        all_is_free(&quotas, now, |key, at, all| self.0.decide_at(&key, at, all))?;
        match (self.0.len(), self.0.entries()) {
            (keys, entries) if keys <= entries => Ok(()),
            (keys, entries) => Err(format!("{keys} keys are held in {entries} entries")),
        }
    }

    fn evictions(&self) -> u64 {
        self.0.stats().evictions
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
