//! What loom alone would not try, and why the models can be trusted all the same.
#![cfg(windowpane_loom)]

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use loom::sync::atomic::AtomicU64;
use windowpane_core::sync::{Atomic, Ordering};

/// One model at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Everything that `seen` answers in some schedule.
fn all_of<T: Ord + Send + 'static>(seen: fn() -> T) -> BTreeSet<T> {
    let all = Arc::new(Mutex::new(BTreeSet::new()));
    let inside = all.clone();
    loom::model(move || {
        let answer = seen();
        inside.lock().unwrap().insert(answer);
    });
    std::mem::take(&mut *all.lock().unwrap())
}

/// One thread loads; the other loads and then exchanges. What does the first see?
fn load_beside_load_and_exchange() -> u64 {
    let word = Arc::new(Atomic::new(0_u64));
    let other = word.clone();
    let thread = loom::thread::spawn(move || {
        let found = other.load(Ordering::Relaxed);
        let _ = other.compare_exchange(found, 1, Ordering::Relaxed, Ordering::Relaxed);
    });
    let seen = word.load(Ordering::Relaxed);
    thread.join().unwrap();
    seen
}

/// The same without the facade.
fn bare_load_beside_load_and_exchange() -> u64 {
    let word = Arc::new(AtomicU64::new(0));
    let other = word.clone();
    let thread = loom::thread::spawn(move || {
        let found = other.load(Ordering::Relaxed);
        let _ = other.compare_exchange(found, 1, Ordering::Relaxed, Ordering::Relaxed);
    });
    let seen = word.load(Ordering::Relaxed);
    thread.join().unwrap();
    seen
}

#[test]
fn the_facade_tries_a_load_after_anothers_load_and_exchange() {
    let _alone = alone();
    assert_eq!(all_of(load_beside_load_and_exchange), [0, 1].into());
}

/// If this fails, loom has learnt it, and `Loads` in the facade can go.
#[test]
fn loom_alone_does_not() {
    let _alone = alone();
    assert_eq!(all_of(bare_load_beside_load_and_exchange), [0].into());
}

/// loom's issue 166: whether the first thread loads its own key once more must not matter to what
/// the second can see.
fn issue_166(loads_again: bool) -> (u64, u64) {
    let (key, value) = (Arc::new(Atomic::new(0_u64)), Arc::new(Atomic::new(0_u64)));
    let change = |word: &Atomic<u64>, by: u64| word.fetch_add(by, Ordering::AcqRel);
    let (other_key, other_value) = (key.clone(), value.clone());
    let thread = loom::thread::spawn(move || {
        change(&other_key, 1);
        change(&other_value, 1);
        change(&other_value, 1);
        if loads_again {
            other_key.load(Ordering::Acquire);
        }
        change(&other_key, 1);
    });
    let seen = (value.load(Ordering::Acquire), key.load(Ordering::Acquire));
    thread.join().unwrap();
    seen
}

#[test]
fn a_redundant_load_hides_nothing() {
    let _alone = alone();
    let with = all_of(|| issue_166(true));
    assert_eq!(with, all_of(|| issue_166(false)));
    // Once a value is seen, the key that went before it is too.
    let all = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 1), (2, 2)];
    assert_eq!(with, all.into());
}
