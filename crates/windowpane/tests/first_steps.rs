//! The first lines of a new user do what they look like.

use std::fmt::Debug;
use std::time::Duration;

use windowpane::{AcquireError, CasRing, Changeable, Limiter, ManualClock, Quota};

#[test]
fn is_ok_serves_ten_of_a_thousand() {
    let limiter = Limiter::<CasRing, _>::on_clock("10/1s", ManualClock::new(0)).unwrap();
    let mut served = 0;
    for _ in 0..1_000 {
        if limiter.try_acquire().is_ok() {
            served += 1;
        }
    }
    assert_eq!(served, 10);
    limiter.clock().advance(Duration::from_secs(1));
    assert!(limiter.try_acquire_many(10).is_ok());
}

#[test]
#[cfg(feature = "keyed")]
fn is_ok_serves_three_of_ten_for_each_key() {
    let limiter = windowpane::KeyedLimiter::<String>::builder("3/60s".parse::<Quota>().unwrap());
    let limiter = limiter.clock(ManualClock::new(0)).build().unwrap();
    for key in ["alice", "bob"] {
        let mut served = 0;
        for _ in 0..10 {
            if limiter.try_acquire(key).is_ok() {
                served += 1;
            }
        }
        assert_eq!(served, 3, "{key}");
    }
}

#[test]
#[cfg(feature = "keyed")]
fn a_key_alone_names_the_default_store() {
    let limiter = windowpane::KeyedLimiter::<String>::new("1/60s").unwrap();
    assert!(limiter.try_acquire("alice").is_ok());
    assert!(limiter.try_acquire("alice").is_err());
}

#[test]
fn the_default_limiter_takes_every_form_of_quotas() {
    const QUOTA: Quota = Quota::per_minute(100);
    for limiter in [
        windowpane::limiter("100/60s"),
        windowpane::limiter(QUOTA),
        windowpane::limiter([QUOTA]),
        windowpane::limiter(["100/60s"]),
    ] {
        let limiter: Limiter = limiter.unwrap();
        assert_eq!(limiter.quotas()[..], [QUOTA]);
    }
    assert_eq!(
        windowpane::limiter("100/60s, 10/1s")
            .unwrap()
            .quotas()
            .len(),
        2
    );
    let error = windowpane::limiter("100 per minute").unwrap_err();
    assert!(error.to_string().contains("such as 100/60s"), "{error}");
}

#[test]
fn a_denial_says_when_to_come_back_and_why() {
    let limiter = Limiter::<CasRing, _>::on_clock("100/60s, 1/1s", ManualClock::new(0)).unwrap();
    limiter.try_acquire().unwrap();
    let error = limiter.try_acquire().unwrap_err();
    assert_eq!(
        error.to_string(),
        "denied by the quota of 1/1s: retry after 1s"
    );
    let never = limiter.try_acquire_many(2).unwrap_err();
    assert!(matches!(never, AcquireError::NeverFits { .. }), "{never}");
}

/// Structs that hold a limiter derive `Debug`, and threads share it.
#[test]
fn limiters_have_debug_and_are_shared_by_threads() {
    fn check<T: Debug + Send + Sync>(name: &str, limiter: &T) {
        let text = format!("{limiter:?}");
        assert!(text.starts_with(name), "{text}");
    }
    check("Limiter", &windowpane::limiter("1/1s").unwrap());
    let changeable: Limiter<Changeable<CasRing>> =
        windowpane::changeable_limiter("1/1s", 2).unwrap();
    check("Limiter", &changeable);
    check("Queue", &changeable.queued());
    #[cfg(feature = "keyed")]
    check(
        "KeyedLimiter",
        &windowpane::KeyedLimiter::<String>::new("1/1s").unwrap(),
    );
    #[cfg(feature = "mutex-log")]
    check(
        "Limiter",
        &Limiter::<windowpane::MutexLog>::new("1/1s").unwrap(),
    );
    #[cfg(feature = "packed-counter")]
    check(
        "OneWordLimiter",
        Limiter::<windowpane::PackedCounter>::new("1/1s")
            .unwrap()
            .algorithm(),
    );
}
