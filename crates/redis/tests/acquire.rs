//! The calls of a program: `Ok` only if the caller may go on.

mod support;

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use support::{Server, limiter, store};
use windowpane_core::{
    AcquireError, Answer, Cost, Decision, KeyedRateLimiter, Quota, Quotas, StoreError,
};
use windowpane_redis::{Algorithm, Gcra, Log, RedisLimiter, Store, TwoCounter, WhenUnavailable};

/// A store at an address where no server listens.
fn unreachable() -> Store {
    let options = Store::at("redis://127.0.0.1:1/").unwrap();
    options.connect_in_background()
}

async fn a_used_up_quota_denies<A: Algorithm>(server: &Server) {
    let limiter = limiter::<A>(&server.url(), &["3/60s"]).await;
    let before = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let allowed = limiter.try_acquire("k").await.unwrap();
    let second = Duration::from_secs(1);
    let since = allowed.at().unwrap() + second;
    assert!(
        since >= before && since <= before + 10 * second,
        "{since:?}"
    );
    assert_eq!(allowed.cost(), 1);
    let (allowed, status) = limiter.try_acquire_detailed("k", 2).await.unwrap();
    assert_eq!((allowed.cost(), status.remaining()), (2, 0));
    assert_eq!(status.remaining_per_quota(), [0]);

    let error = limiter.try_acquire("k").await.unwrap_err();
    let denied = error.denied().unwrap_or_else(|| panic!("{error}"));
    assert_eq!(denied.quota(), Quota::per_minute(3));
    // The sliding-window counter weights the previous window, so it can deny for two.
    let two_windows = Duration::from_secs(120);
    assert!(denied.retry_after() > Duration::ZERO && denied.retry_after() <= two_windows);
    let many = limiter.try_acquire_many("k", 3).await.unwrap_err();
    assert!(many.denied().is_some(), "{many}");
    let rejected = limiter.try_acquire_detailed("k", 1).await.unwrap_err();
    assert!(rejected.error().denied().is_some());
    let status = rejected.status().unwrap();
    assert_eq!(
        (status.remaining(), status.more_after().is_some()),
        (0, true)
    );
    let peeked = limiter.peek("k", 1).await.unwrap_err();
    assert!(peeked.error().denied().is_some());

    limiter.reset("k").await.unwrap();
    let (_, status) = limiter.peek("k", 1).await.unwrap();
    assert_eq!(status.remaining(), 2);
    assert!(limiter.try_acquire_many("k", 3).await.is_ok());
    limiter.reset("k").await.unwrap();
}

#[tokio::test]
async fn a_used_up_quota_denies_in_each_algorithm() {
    let Some(server) = Server::start() else {
        return;
    };
    a_used_up_quota_denies::<Log>(&server).await;
    a_used_up_quota_denies::<TwoCounter>(&server).await;
    a_used_up_quota_denies::<Gcra>(&server).await;
}

/// A request at a limit of 0 has no `retry_after`, and yet it is not allowed.
async fn a_limit_of_zero_is_an_error<A: Algorithm>(server: &Server) {
    let limiter = limiter::<A>(&server.url(), &["0/60s"]).await;
    let error = limiter.try_acquire("k").await.unwrap_err();
    let zero = AcquireError::LimitIsZero {
        quota: Quota::per_minute(0),
        index: 0,
    };
    assert_eq!(error, zero);
    let rejected = limiter.try_acquire_detailed("k", 5).await.unwrap_err();
    assert_eq!(*rejected.error(), zero);
    assert_eq!(rejected.status().unwrap().remaining(), 0);
}

#[tokio::test]
async fn a_limit_of_zero_is_an_error_in_each_algorithm() {
    let Some(server) = Server::start() else {
        return;
    };
    a_limit_of_zero_is_an_error::<Log>(&server).await;
    a_limit_of_zero_is_an_error::<TwoCounter>(&server).await;
    a_limit_of_zero_is_an_error::<Gcra>(&server).await;
}

/// Both are found without the store.
#[tokio::test]
async fn a_wrong_cost_is_an_error_under_each_policy() {
    for policy in [
        WhenUnavailable::Error,
        WhenUnavailable::Allow,
        WhenUnavailable::Deny,
    ] {
        let limiter = RedisLimiter::<Log>::builder(unreachable(), "100/60s, 5/1s");
        let limiter = limiter.when_unavailable(policy).build().unwrap();
        let none = limiter.try_acquire_many("k", 0).await;
        assert_eq!(none, Err(AcquireError::ZeroCost));
        let rejected = limiter.peek("k", 0).await.unwrap_err();
        assert_eq!(*rejected.error(), AcquireError::ZeroCost);
        let never = AcquireError::NeverFits {
            cost: 6,
            quota: Quota::per_second(5),
            index: 1,
        };
        assert_eq!(limiter.try_acquire_many("k", 6).await, Err(never.clone()));
        let rejected = limiter.try_acquire_detailed("k", 6).await.unwrap_err();
        assert_eq!((rejected.error(), rejected.status()), (&never, None));
    }
}

#[tokio::test]
async fn an_unavailable_store_is_an_error_by_default() {
    let limiter = RedisLimiter::<Log>::new(unreachable(), "5/60s").unwrap();
    let unavailable = |error: AcquireError| matches!(error, AcquireError::Unavailable { .. });
    assert!(unavailable(limiter.try_acquire("k").await.unwrap_err()));
    assert!(unavailable(
        limiter.try_acquire_many("k", 2).await.unwrap_err()
    ));
    let rejected = limiter.try_acquire_detailed("k", 2).await.unwrap_err();
    assert_eq!(rejected.status(), None);
    assert!(unavailable(rejected.into()));
    assert!(unavailable(limiter.peek("k", 2).await.unwrap_err().into()));
    assert!(unavailable(limiter.reset("k").await.unwrap_err()));
}

#[tokio::test]
async fn the_policy_allow_allows_without_a_record() {
    let limiter = RedisLimiter::<Log>::builder(unreachable(), "5/60s");
    let limiter = limiter.when_unavailable(WhenUnavailable::Allow);
    let limiter = limiter.build().unwrap();
    for _ in 0..10 {
        let allowed = limiter.try_acquire_many("k", 3).await.unwrap();
        assert_eq!((allowed.at(), allowed.cost()), (None, 3));
        // The store is unavailable, so this shows that it is not asked.
        limiter.settle("k", allowed, 1).await.unwrap();
    }
    // A peek asks no policy.
    assert!(limiter.peek("k", 3).await.is_err());
    limiter.change_quotas("0/60s").unwrap();
    let zero = limiter.try_acquire("k").await.unwrap_err();
    assert!(matches!(zero, AcquireError::LimitIsZero { .. }), "{zero}");
}

#[tokio::test]
async fn the_policy_deny_denies_until_the_next_attempt() {
    let limiter = RedisLimiter::<Log>::builder(unreachable(), "5/60s");
    let limiter = limiter.when_unavailable(WhenUnavailable::Deny);
    let limiter = limiter.build().unwrap();
    let error = limiter.try_acquire("k").await.unwrap_err();
    let AcquireError::DeniedByPolicy {
        retry_after,
        reason,
    } = error
    else {
        panic!("no quota denied: {error}");
    };
    let delays = Duration::from_millis(50)..=Duration::from_millis(500);
    assert!(delays.contains(&retry_after), "{retry_after:?}");
    // The decision as a value says what made it, and so does its result.
    let decided = limiter.decide("k", Cost::ONE).await.unwrap();
    assert_eq!(
        decided.by.to_string(),
        format!("the policy, because the store is unavailable: {reason}")
    );
    let result = decided.into_result(Cost::ONE);
    let error = AcquireError::from(result.unwrap_err());
    assert!(
        matches!(error, AcquireError::DeniedByPolicy { .. }),
        "{error}"
    );
}

/// A local store that answers the same to every call.
struct Fixed(Result<Decision, StoreError>);

impl KeyedRateLimiter<str> for Fixed {
    fn quotas(&self, _key: &str) -> Quotas {
        Quotas::parse("2/60s").unwrap()
    }

    fn decide(&self, _key: &str, _cost: Cost) -> Result<Decision, StoreError> {
        self.0.clone()
    }

    fn decide_detailed(&self, key: &str, cost: Cost) -> Result<Answer, StoreError> {
        let quotas = self.quotas(key);
        let left = std::iter::once(1).collect();
        Ok(Answer::new(
            windowpane_core::Detailed::new(self.decide(key, cost)?, &quotas, left),
            quotas,
        ))
    }

    fn peek_detailed(&self, key: &str, cost: Cost) -> Result<Answer, StoreError> {
        self.decide_detailed(key, cost)
    }

    fn reset(&self, _key: &str) {}
}

#[tokio::test]
async fn the_policy_local_answers_as_the_local_limiter() {
    let limiter = |answer| {
        let local = WhenUnavailable::Local(Arc::new(Fixed(answer)));
        let limiter = RedisLimiter::<Log>::builder(unreachable(), "5/60s");
        limiter.when_unavailable(local).build().unwrap()
    };
    let allows = limiter(Ok(Decision::Allowed { at: 1_000 }));
    let (allowed, status) = allows.try_acquire_detailed("k", 1).await.unwrap();
    // The record is the local limiter's, under its own clock.
    assert_eq!((allowed.at(), status.remaining()), (None, 1));
    assert_eq!(status.quotas().to_string(), "2/60s");
    let full = limiter(Err(StoreError::Full { keys: 7 }));
    let error = full.try_acquire("k").await.unwrap_err();
    assert_eq!(error, AcquireError::Full { keys: 7 });
}

/// A settled charge frees its permits for other processes, too.
#[tokio::test]
async fn a_settled_charge_frees_permits() {
    let Some(server) = Server::start() else {
        return;
    };
    let limiter = RedisLimiter::<Log>::new(store(&server.url()).await, "100/60s").unwrap();
    let allowed = limiter.try_acquire_many("k", 80).await.unwrap();
    assert!(limiter.try_acquire_many("k", 40).await.is_err());
    limiter.settle("k", allowed, 30).await.unwrap();
    assert!(limiter.try_acquire_many("k", 70).await.is_ok());
    assert!(limiter.try_acquire("k").await.is_err());
}

#[tokio::test]
async fn a_denial_from_the_deny_cache_is_an_error() {
    let Some(server) = Server::start() else {
        return;
    };
    let limiter = RedisLimiter::<Log>::new(store(&server.url()).await, "1/60s").unwrap();
    assert!(limiter.try_acquire("k").await.is_ok());
    assert!(
        limiter
            .try_acquire("k")
            .await
            .unwrap_err()
            .denied()
            .is_some()
    );
    let rejected = limiter.try_acquire_detailed("k", 1).await.unwrap_err();
    assert!(rejected.error().denied().is_some());
    assert_eq!(rejected.status().unwrap().remaining(), 0);
    assert_eq!(limiter.stats().denied_by_cache, 1);
}
