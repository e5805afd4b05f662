//! What the store calls that is not its own: limiters, keys, the functions that build and that choose
//! quotas. A store that calls them under a lock can wait for itself.

use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use windowpane_core::clock::ManualClock;
use windowpane_core::{
    BuildError, ChangeQuotas, Cost, Decision, Detailed, Nanos, Quotas, RateLimiter, RequestError,
};
use windowpane_keyed::KeyedLimiter;
use windowpane_mutex_log::MutexLog;

/// The longest that a test waits for a call that must not be blocked.
const PATIENCE: Duration = Duration::from_secs(10);

fn quotas(text: &str) -> Quotas {
    Quotas::parse(text.replace(" ", ",").as_str()).unwrap()
}

/// Puts all keys in one shard.
#[derive(Clone, Default)]
struct OneShard;

struct SameHash;

impl BuildHasher for OneShard {
    type Hasher = SameHash;

    fn build_hasher(&self) -> SameHash {
        SameHash
    }
}

impl Hasher for SameHash {
    fn finish(&self) -> u64 {
        7
    }

    fn write(&mut self, _bytes: &[u8]) {}
}

type Function = Box<dyn FnOnce() + Send>;

/// A function that runs at the next call out.
#[derive(Clone, Default)]
struct Hook(Arc<Mutex<Option<Function>>>);

impl Hook {
    fn set(&self, function: impl FnOnce() + Send + 'static) {
        *self.0.lock().unwrap() = Some(Box::new(function));
    }

    fn run(&self) {
        let function = self.0.lock().unwrap().take();
        if let Some(function) = function {
            function();
        }
    }

    /// Makes `call` in another thread at the next call out.
    fn check(&self, call: impl Fn() + Send + 'static) -> Checked {
        let checked = Checked::default();
        let ends = checked.clone();
        self.set(move || {
            let (done, ended) = mpsc::channel();
            thread::spawn(move || {
                call();
                let _ = done.send(());
            });
            let in_time = ended.recv_timeout(PATIENCE).is_ok();
            ends.ran.store(true, Ordering::SeqCst);
            ends.was_blocked.store(!in_time, Ordering::SeqCst);
        });
        checked
    }
}

/// What came of a [`Hook::check`].
#[derive(Clone, Default)]
struct Checked {
    ran: Arc<AtomicBool>,
    was_blocked: Arc<AtomicBool>,
}

impl Checked {
    fn ran(&self) -> bool {
        self.ran.load(Ordering::SeqCst)
    }

    /// The call out happened, and no lock was held.
    fn passed(&self) -> bool {
        self.ran() && !self.was_blocked.load(Ordering::SeqCst)
    }
}

/// A key whose destructor runs a hook.
#[derive(Clone)]
struct Key {
    name: u32,
    dropped: Hook,
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Key) -> bool {
        self.name == other.name
    }
}

impl Eq for Key {}

impl Drop for Key {
    fn drop(&mut self) {
        self.dropped.run();
    }
}

fn key(name: u32) -> Key {
    let dropped = Hook::default();
    Key { name, dropped }
}

/// A log whose destructor runs a hook.
struct Hooked {
    log: MutexLog,
    dropped: Hook,
}

impl Drop for Hooked {
    fn drop(&mut self) {
        self.dropped.run();
    }
}

impl RateLimiter for Hooked {
    fn quotas(&self) -> Quotas {
        self.log.quotas()
    }

    fn decide_at(&self, now: Nanos, cost: Cost) -> Result<Decision, RequestError> {
        self.log.decide_at(now, cost)
    }

    fn decide_detailed_at(&self, now: Nanos, cost: Cost) -> Result<Detailed, RequestError> {
        self.log.decide_detailed_at(now, cost)
    }

    fn peek_at(&self, now: Nanos, cost: Cost) -> Result<Detailed, RequestError> {
        self.log.peek_at(now, cost)
    }

    fn reset(&self) {
        self.log.reset();
    }

    fn is_idle_at(&self, now: Nanos) -> bool {
        self.log.is_idle_at(now)
    }
}

impl ChangeQuotas for Hooked {
    fn change_at(&mut self, now: Nanos, quotas: &Quotas) -> Result<(), BuildError> {
        self.log.change_at(now, quotas)
    }
}

/// A store, and the hooks of what it calls.
#[derive(Clone)]
struct Rig {
    store: Arc<KeyedLimiter<Key, Hooked, OneShard, ManualClock>>,
    built: Hook,
    dropped: Hook,
}

impl Rig {
    fn new(text: &str) -> Rig {
        let (built, dropped) = (Hook::default(), Hook::default());
        let (at_build, at_drop) = (built.clone(), dropped.clone());
        let build = move |quotas: &Quotas, _now: Nanos| {
            at_build.run();
            Ok(Hooked {
                log: MutexLog::new(quotas.clone()),
                dropped: at_drop.clone(),
            })
        };
        let store = KeyedLimiter::builder_with(quotas(text), build)
            .hasher(OneShard)
            .clock(ManualClock::new(0))
            .build()
            .unwrap();
        let store = Arc::new(store);
        Rig {
            store,
            built,
            dropped,
        }
    }

    fn is_allowed(&self, name: u32, now: Nanos) -> bool {
        let decision = self.store.decide_at(&key(name), now, Cost::ONE);
        decision.unwrap().is_allowed()
    }

    /// A call that takes the lock of every key's shard alone.
    fn insertion(&self) -> impl Fn() + Send + use<> {
        let store = self.store.clone();
        move || assert!(store.decide_at(&key(99), 0, Cost::ONE).is_ok())
    }
}

#[test]
fn peek_builds_no_limiter_under_the_lock_of_its_shard() {
    for (text, now) in [
        // The key is in use, and several quotas count it.
        ("3/1us 5/2us", 500),
        ("3req/1us", 500),
        // The key is idle.
        ("3/1us", 5_000),
        ("3/1us 5/2us", 5_000),
    ] {
        let rig = Rig::new(text);
        assert!(rig.is_allowed(1, 0));
        let checked = rig.built.check(rig.insertion());
        let seen = rig.store.peek_at(&key(1), now, Cost::ONE);
        assert!(checked.passed(), "{text} at {now}");
        assert_eq!(seen, rig.store.decide_detailed_at(&key(1), now, Cost::ONE));
    }
}

#[test]
fn peek_builds_no_limiter_where_its_own_one_tells_all() {
    let rig = Rig::new("2/1us");
    assert!(rig.is_allowed(1, 0));
    let checked = rig.built.check(|| ());
    let seen = rig.store.peek_at(&key(1), 500, Cost::ONE).unwrap();
    assert_eq!((seen.more_after, checked.ran()), (Some(500), false));
    assert!(rig.is_allowed(1, 500));
    // Denied, of several quotas as well.
    let seen = rig.store.peek_at(&key(1), 600, Cost::ONE).unwrap();
    assert_eq!((seen.more_after, checked.ran()), (Some(400), false));
}

/// The quotas change between the two times at which such a peek locks the shard.
#[test]
fn peek_beside_a_change_answers_under_one_set_of_quotas() {
    let rig = Rig::new("3/1us 5/2us");
    assert!(rig.is_allowed(1, 0));
    let store = rig.store.clone();
    let checked = rig.built.check(move || {
        store.set_quotas(quotas("3req/4us")).unwrap();
        assert_eq!(store.refresh_key(&key(1)), Ok(true));
    });
    let seen = rig.store.peek_at(&key(1), 500, Cost::ONE);
    assert!(checked.passed());
    assert_eq!(seen, rig.store.decide_detailed_at(&key(1), 500, Cost::ONE));
    assert_eq!(seen.unwrap().more_after, Some(3_500));
}

/// The key is forgotten between the two times at which such a peek locks the shard.
#[test]
fn peek_beside_a_reset_answers_as_for_an_unknown_key() {
    let rig = Rig::new("3req/1us");
    assert!(rig.is_allowed(1, 0) && rig.is_allowed(1, 100));
    let store = rig.store.clone();
    let checked = rig.built.check(move || store.reset(&key(1)));
    let seen = rig.store.peek_at(&key(1), 500, Cost::ONE);
    assert!(checked.passed() && !rig.store.contains(&key(1)));
    assert_eq!(seen, rig.store.decide_detailed_at(&key(1), 500, Cost::ONE));
    assert_eq!(seen.unwrap().more_after, Some(1_000));
}

/// The quotas change after an unknown key's limiter was built: it is dropped, and another built.
#[test]
fn unused_limiter_and_key_are_dropped_after_the_lock() {
    for of_key in [true, false] {
        let rig = Rig::new("3/1us");
        let checked = Arc::new(Mutex::new(None));
        let inside = checked.clone();
        let (hooks, key) = (rig.clone(), key(1));
        let key_dropped = key.dropped.clone();
        rig.built.set(move || {
            hooks.store.set_quotas(quotas("2/1us")).unwrap();
            let dropped = if of_key { &key_dropped } else { &hooks.dropped };
            *inside.lock().unwrap() = Some(dropped.check(hooks.insertion()));
        });
        let answer = rig.store.decide_detailed_at(&key, 0, Cost::ONE).unwrap();
        assert_eq!(answer.quotas, quotas("2/1us"));
        let checked = checked.lock().unwrap().take().expect("a limiter was built");
        assert!(checked.passed(), "of the key: {of_key}");
    }
}

/// While `clear` drops the first key, that key is asked for again, and evicted by a later reading.
#[test]
fn clear_keeps_the_watermark_of_an_eviction_beside_it() {
    let rig = Rig::new("1/100ns");
    assert!(rig.is_allowed(1, 0) && !rig.is_allowed(1, 50));
    let hooks = rig.clone();
    let checked = rig.dropped.check(move || {
        assert!(hooks.is_allowed(1, 60));
        assert_eq!(hooks.store.sweep_at(160), 1);
    });
    rig.store.clear();
    assert!(checked.passed());
    let again = rig.store.decide_at(&key(1), 70, Cost::ONE);
    assert_eq!(again, Ok(Decision::Allowed { at: 160 }));
}

#[test]
fn clear_drops_keys_and_limiters_after_the_locks() {
    for of_key in [true, false] {
        let rig = Rig::new("1/100ns");
        let key = key(1);
        assert!(
            rig.store
                .decide_at(&key, 0, Cost::ONE)
                .unwrap()
                .is_allowed()
        );
        let dropped = if of_key { &key.dropped } else { &rig.dropped };
        let checked = dropped.check(rig.insertion());
        rig.store.clear();
        assert!(checked.passed(), "of the key: {of_key}");
    }
}

/// The function that chose quotas owns what its caller gave it.
#[test]
fn replaced_tier_function_is_dropped_after_the_lock() {
    struct Owned(Hook);

    impl Drop for Owned {
        fn drop(&mut self) {
            self.0.run();
        }
    }

    let rig = Rig::new("3/1us");
    let dropped = Hook::default();
    let owned = Owned(dropped.clone());
    rig.store.set_tiers(move |_| {
        let _used = &owned;
        quotas("2/1us")
    });
    let store = rig.store.clone();
    let checked = dropped.check(move || assert_eq!(store.quotas(&key(5)), quotas("1/1us")));
    rig.store.set_quotas(quotas("1/1us")).unwrap();
    assert!(checked.passed());
}

/// A sweep evicts a key that owns the sweeper: its thread cannot wait for its own end.
#[test]
fn sweeper_can_be_dropped_by_its_own_thread() {
    let rig = Rig::new("1/100ns");
    let key = key(1);
    let allowed = rig.store.decide_at(&key, 0, Cost::ONE).unwrap();
    assert!(allowed.is_allowed());
    let sweeper = rig.store.sweep_every(Duration::from_millis(1)).unwrap();
    let (done, ended) = mpsc::channel();
    key.dropped.set(move || {
        drop(sweeper);
        let _ = done.send(());
    });
    rig.store.clock().set(100);
    assert_eq!(ended.recv_timeout(PATIENCE), Ok(()));
}
