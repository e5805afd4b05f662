//! The client on a server that works.

mod support;

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::{Duration, Instant};

use support::{Server, cost, limiter, quotas, store, used};
use windowpane_core::{
    AcquireError, Answer, AsyncKeyedRateLimiter, AsyncKeyedSettle, Charge, Cost, Decision,
    KeyedRateLimiter, Quotas, RateLimiter, StoreError,
};
use windowpane_mutex_log::MutexLog;
use windowpane_redis::{
    Algorithm, By, ConfigError, Gcra, Log, RedisLimiter, Store, TwoCounter, WhenUnavailable, share,
};

async fn every_algorithm_keeps_a_limit<A: Algorithm>(server: &Server) {
    let limiter = limiter::<A>(&server.url(), &["3/60s"]).await;
    let all = || async {
        let mut allowed = 0;
        for _ in 0..5 {
            let answer = limiter.acquire_detailed("k", Cost::ONE).await.unwrap();
            allowed += u32::from(answer.detailed.is_allowed());
        }
        allowed
    };
    assert_eq!(all().await, 3, "{}", A::NAME);
    assert_eq!(
        limiter
            .peek("other", cost(3))
            .await
            .unwrap()
            .detailed
            .remaining(),
        0
    );
    assert!(
        limiter
            .peek("other", cost(3))
            .await
            .unwrap()
            .detailed
            .is_allowed()
    );
    assert_eq!(
        server.check_lives(Duration::from_secs(60)),
        1,
        "a look creates no key"
    );
    limiter.reset("k").await.unwrap();
    assert_eq!(server.check_lives(Duration::from_secs(60)), 0);
    assert_eq!(all().await, 3);
    let counts = limiter.counts();
    assert_eq!(
        (counts.allowed, counts.denied, counts.unavailable),
        (6, 4, 0)
    );
    limiter.reset("k").await.unwrap();
}

#[tokio::test]
async fn a_limit_is_kept_seen_and_reset() {
    let Some(server) = Server::start() else {
        return;
    };
    every_algorithm_keeps_a_limit::<Log>(&server).await;
    every_algorithm_keeps_a_limit::<TwoCounter>(&server).await;
    every_algorithm_keeps_a_limit::<Gcra>(&server).await;
}

/// The waits are right on the server's clock: a moment before it is denied, and then allowed.
#[tokio::test]
async fn who_waits_as_told_is_allowed() {
    let Some(server) = Server::start() else {
        return;
    };
    let limiter = limiter::<Log>(&server.url(), &["2/300ms", "5/1s"]).await;
    let mut allowed = 0;
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(2_500) {
        let answer = limiter.acquire_detailed("k", Cost::ONE).await.unwrap();
        match answer.detailed.decision() {
            Decision::Allowed { .. } => allowed += 1,
            Decision::Denied(denied) => {
                let wait = denied.retry_after().unwrap();
                tokio::time::sleep(wait).await;
                let answer = limiter.acquire_detailed("k", Cost::ONE).await.unwrap();
                assert!(answer.detailed.is_allowed(), "after {wait:?}");
                allowed += 1;
            }
        }
    }
    // 5 in each of two and a half seconds, none of them wasted.
    assert!((12..=15).contains(&allowed), "{allowed}");
    server.check_lives(Duration::from_secs(1));
}

/// A key goes when nothing of it counts any more, and not sooner.
#[tokio::test]
async fn an_idle_key_goes_by_itself() {
    let Some(server) = Server::start() else {
        return;
    };
    let window = Duration::from_millis(200);
    let store = store(&server.url()).await;
    let log = RedisLimiter::<Log>::new(store.clone(), quotas(&["2/200ms"])).unwrap();
    let counter = RedisLimiter::<TwoCounter>::new(store.clone(), quotas(&["2/200ms"])).unwrap();
    let gcra = RedisLimiter::<Gcra>::new(store, quotas(&["2/200ms"])).unwrap();
    for _ in 0..2 {
        assert!(log.acquire_detailed("k", Cost::ONE).await.is_ok());
        assert!(counter.acquire_detailed("k", Cost::ONE).await.is_ok());
        assert!(gcra.acquire_detailed("k", Cost::ONE).await.is_ok());
    }
    assert_eq!(server.check_lives(window), 3);
    tokio::time::sleep(2 * window + Duration::from_millis(20)).await;
    assert_eq!(server.check_lives(window), 0);
}

#[tokio::test]
async fn a_cost_that_never_fits_is_not_sent() {
    let Some(server) = Server::start() else {
        return;
    };
    let limiter = limiter::<Log>(&server.url(), &["5/60s", "0/1s", "100/60s"]).await;
    let sent = limiter.store().counts().sent;
    let error = limiter.acquire_detailed("k", cost(6)).await.unwrap_err();
    let never = AcquireError::NeverFits {
        cost: cost(6),
        quota: 0,
        limit: 5,
    };
    assert_eq!(error, StoreError::Request(never));
    assert_eq!(limiter.store().counts().sent, sent);
    // A limit of 0 denies, and no wait helps.
    let denied = limiter.acquire_detailed("k", Cost::ONE).await.unwrap();
    let denied_by = denied.detailed.decision().denied().unwrap();
    assert_eq!((denied_by.quota(), denied_by.retry_after()), (1, None));
    assert_eq!(limiter.counts().never_fits, 1);
    // What is denied creates no key.
    assert_eq!(server.check_lives(Duration::from_secs(60)), 0);
}

#[tokio::test]
async fn the_deny_cache_denies_without_a_round_trip_until_the_store_would_allow() {
    let Some(server) = Server::start() else {
        return;
    };
    let store = store(&server.url()).await;
    let limiter = RedisLimiter::<Log>::new(store.clone(), quotas(&["3/400ms"])).unwrap();
    assert!(
        limiter
            .decide("k", cost(2))
            .await
            .unwrap()
            .answer
            .detailed
            .is_allowed()
    );
    let denied = limiter.decide("k", cost(2)).await.unwrap();
    assert!(denied.by == By::Store && !denied.answer.detailed.is_allowed());
    let sent = store.counts().sent;
    for _ in 0..2 {
        let again = limiter.decide("k", cost(2)).await.unwrap();
        assert_eq!(again.by, By::DenyCache);
        assert!(!again.answer.detailed.is_allowed());
        assert_eq!(again.answer.detailed.remaining_per_quota(), [1]);
    }
    assert_eq!(store.counts().sent, sent, "no round trip");
    // More may have to wait for longer, and is told for how long.
    let more = limiter.decide("k", cost(3)).await.unwrap();
    assert!(more.by == By::Store && !more.answer.detailed.is_allowed());
    // Less may fit, so it is asked for.
    let less = limiter.decide("k", Cost::ONE).await.unwrap();
    assert!(less.by == By::Store && less.answer.detailed.is_allowed());
    assert_eq!(limiter.counts().denied_by_cache, 2);
    // Never denied here when the store would allow: as told, whoever said it.
    let mut by_cache = 0;
    for _ in 0..6 {
        let decided = limiter.decide("k", cost(3)).await.unwrap();
        by_cache += u32::from(decided.by == By::DenyCache);
        if let Some(wait) = decided.answer.detailed.decision().retry_after() {
            tokio::time::sleep(wait.min(Duration::from_millis(150))).await;
        }
    }
    assert!(by_cache >= 1);
    // What makes room is not held back by what is remembered.
    limiter.reset("k").await.unwrap();
    assert!(
        limiter
            .decide("k", cost(3))
            .await
            .unwrap()
            .answer
            .detailed
            .is_allowed()
    );
    assert!(
        !limiter
            .decide("k", cost(3))
            .await
            .unwrap()
            .answer
            .detailed
            .is_allowed()
    );
    limiter.change_quotas(quotas(&["6/400ms"])).unwrap();
    assert!(
        limiter
            .decide("k", cost(3))
            .await
            .unwrap()
            .answer
            .detailed
            .is_allowed()
    );
    server.check_lives(Duration::from_millis(400));
}

/// The store denies a call under quotas that are changed before its answer comes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_denial_under_way_does_not_outlive_what_makes_room() {
    let Some(server) = Server::start() else {
        return;
    };
    let store = store(&server.url()).await;
    let limiter = RedisLimiter::<Log>::new(store, quotas(&["1/60s"])).unwrap();
    let first = limiter.decide("k", Cost::ONE).await.unwrap();
    assert!(first.answer.detailed.is_allowed());
    server.suspend();
    let sent = limiter.store().counts().sent;
    let under_way = tokio::spawn({
        let limiter = limiter.clone();
        async move { limiter.decide("k", Cost::ONE).await }
    });
    while limiter.store().counts().sent == sent {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    limiter.change_quotas(quotas(&["2/60s"])).unwrap();
    server.resume();
    let denied = under_way.await.unwrap().unwrap();
    assert!(denied.by == By::Store && !denied.answer.detailed.is_allowed());
    let raised = limiter.decide("k", Cost::ONE).await.unwrap();
    assert!(
        raised.by == By::Store && raised.answer.detailed.is_allowed(),
        "{raised:?}"
    );
    server.check_lives(Duration::from_secs(60));
}

#[tokio::test]
async fn a_charge_settled_at_less_makes_room_at_once() {
    let Some(server) = Server::start() else {
        return;
    };
    let store = store(&server.url()).await;
    let limiter = RedisLimiter::<Log>::new(store, quotas(&["100/60s"])).unwrap();
    let first = limiter.acquire_detailed("k", cost(100)).await.unwrap();
    let charge = Charge::of(first.detailed.decision(), cost(100)).unwrap();
    for by in [By::Store, By::DenyCache] {
        let denied = limiter.decide("k", cost(40)).await.unwrap();
        assert!(denied.by == by && !denied.answer.detailed.is_allowed());
    }
    limiter.settle("k", charge, 60).await.unwrap();
    let allowed = limiter.decide("k", cost(40)).await.unwrap();
    assert!(allowed.answer.detailed.is_allowed(), "{allowed:?}");
    server.check_lives(Duration::from_secs(60));
}

/// A denial of the cache is never one that the store would allow, whenever it is asked.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_deny_cache_never_outlasts_the_stores_denial() {
    let Some(server) = Server::start() else {
        return;
    };
    let store = store(&server.url()).await;
    let cached = RedisLimiter::<Log>::new(store, quotas(&["1/20ms"])).unwrap();
    let plain = limiter::<Log>(&server.url(), &["1/20ms"]).await;
    let (mut agreed, start) = (0, Instant::now());
    while start.elapsed() < Duration::from_millis(1_500) {
        let decided = cached.decide("k", Cost::ONE).await.unwrap();
        if decided.by == By::DenyCache {
            // Looked at in the store *before* the next answer of the cache: if the cache still
            // denies afterwards, the store must have denied.
            let looked = plain.peek("k", Cost::ONE).await.unwrap();
            let after = cached.decide("k", Cost::ONE).await.unwrap();
            if after.by == By::DenyCache {
                assert!(!looked.detailed.is_allowed(), "{looked:?} {after:?}");
                agreed += 1;
            }
        }
    }
    assert!(agreed > 100, "{agreed}");
    server.check_lives(Duration::from_millis(20));
}

async fn settles<A: windowpane_redis::Settles>(server: &Server) {
    let limiter = limiter::<A>(&server.url(), &["100/60s"]).await;
    let charge = |answer: &Answer, estimate| Charge::of(answer.detailed.decision(), estimate);
    let first = limiter.acquire_detailed("k", cost(40)).await.unwrap();
    let first = charge(&first, cost(40)).unwrap();
    let second = limiter.acquire_detailed("k", cost(40)).await.unwrap();
    let second = charge(&second, cost(40)).unwrap();
    limiter.settle("k", first, 10).await.unwrap();
    assert_eq!(used(&limiter, "k").await, 50, "{}", A::NAME);
    limiter.settle("k", second, u64::MAX).await.unwrap();
    let full = limiter.acquire_detailed("k", Cost::ONE).await.unwrap();
    assert!(!full.detailed.is_allowed() && full.detailed.remaining() == 0);
    assert_eq!(limiter.counts().settled, 2);
    // What is not there changes nothing and creates no key.
    let gone = limiter.acquire_detailed("l", cost(40)).await.unwrap();
    limiter.reset("l").await.unwrap();
    let gone = charge(&gone, cost(40)).unwrap();
    limiter.settle("l", gone, 7).await.unwrap();
    assert_eq!(limiter.counts().settled, 2);
    assert_eq!(server.check_lives(Duration::from_secs(60)), 1);
    limiter.reset("k").await.unwrap();
}

#[tokio::test]
async fn a_charge_is_settled_at_what_it_cost() {
    let Some(server) = Server::start() else {
        return;
    };
    settles::<Log>(&server).await;
    settles::<TwoCounter>(&server).await;
}

/// Two stores, two limiters, one quota; another prefix, algorithm or key shares nothing with it.
#[tokio::test]
async fn limiters_of_one_prefix_share_and_others_do_not() {
    let Some(server) = Server::start() else {
        return;
    };
    let one = limiter::<Log>(&server.url(), &["2/60s"]).await;
    let two = limiter::<Log>(&server.url(), &["2/60s"]).await;
    let other = limiter::<Log>(&server.url(), &["2/60s"])
        .await
        .prefix("other")
        .unwrap();
    let counter = limiter::<TwoCounter>(&server.url(), &["2/60s"]).await;
    for limiter in [&one, &two] {
        let answer = limiter.acquire_detailed("k}{", Cost::ONE).await.unwrap();
        assert!(answer.detailed.is_allowed());
    }
    assert!(
        !one.acquire_detailed("k}{", Cost::ONE)
            .await
            .unwrap()
            .detailed
            .is_allowed()
    );
    assert!(
        one.acquire_detailed("", Cost::ONE)
            .await
            .unwrap()
            .detailed
            .is_allowed()
    );
    assert!(
        other
            .acquire_detailed("k}{", cost(2))
            .await
            .unwrap()
            .detailed
            .is_allowed()
    );
    assert!(
        counter
            .acquire_detailed("k}{", cost(2))
            .await
            .unwrap()
            .detailed
            .is_allowed()
    );
    assert_eq!(one.key_in_store("k"), "windowpane:log:{k}");
    let braces = other.prefix("a{b}").unwrap_err();
    assert!(matches!(braces, ConfigError::BraceInPrefix { .. }));
    server.check_lives(Duration::from_secs(60));
}

/// A local limiter for when the store is gone, with the clock of the test's machine.
struct Alone {
    log: MutexLog,
    start: Instant,
}

impl KeyedRateLimiter<str> for Alone {
    fn quotas(&self, _key: &str) -> Quotas {
        self.log.quotas()
    }

    fn acquire(&self, _key: &str, cost: Cost) -> Result<Decision, StoreError> {
        let now = self.start.elapsed().as_nanos() as u64;
        Ok(self.log.acquire_at(now, cost)?)
    }

    fn acquire_detailed(&self, _key: &str, cost: Cost) -> Result<Answer, StoreError> {
        let now = self.start.elapsed().as_nanos() as u64;
        let detailed = self.log.acquire_detailed_at(now, cost)?;
        Ok(Answer {
            detailed,
            more_after: None,
            quotas: self.log.quotas(),
        })
    }

    fn peek(&self, _key: &str, cost: Cost) -> Result<Answer, StoreError> {
        let now = self.start.elapsed().as_nanos() as u64;
        let detailed = self.log.peek_at(now, cost)?;
        Ok(Answer {
            detailed,
            more_after: None,
            quotas: self.log.quotas(),
        })
    }

    fn reset(&self, _key: &str) {
        self.log.reset();
    }
}

/// Denied, allowed, asked locally and told: four policies, and none is taken for a denial.
#[tokio::test]
async fn each_policy_answers_when_the_store_does_not() {
    // Nobody listens there, and no server is needed for that.
    let store = Store::at("redis://127.0.0.1:1/")
        .unwrap()
        .connect_in_background();
    let all = quotas(&["8/60s", "4req/60s"]);
    let local = Arc::new(Alone {
        log: MutexLog::new(share(&all, NonZeroU32::new(2).unwrap())),
        start: Instant::now(),
    });
    let limiter = |policy| {
        let limiter = RedisLimiter::<Log>::new(store.clone(), all.clone()).unwrap();
        limiter.when_unavailable(policy)
    };

    let tells = limiter(WhenUnavailable::Tell);
    let told = tells.decide("k", Cost::ONE).await.unwrap_err();
    assert!(matches!(told, StoreError::Unavailable { .. }), "{told}");
    assert_eq!(tells.counts().unavailable, 1);

    let denies = limiter(WhenUnavailable::Deny);
    let denied = denies.decide("k", Cost::ONE).await.unwrap();
    assert!(matches!(denied.by, By::Policy { .. }));
    let wait = denied.answer.detailed.decision().retry_after();
    assert_eq!(
        wait,
        Some(Duration::from_millis(100)),
        "until the store is tried again"
    );

    let allows = limiter(WhenUnavailable::Allow);
    for _ in 0..20 {
        let allowed = allows.decide("k", cost(3)).await.unwrap();
        assert!(matches!(allowed.by, By::Policy { .. }));
        assert_eq!(allowed.answer.detailed.remaining_per_quota(), [5, 3]);
        // Nothing was recorded, so there is nothing to settle, and nobody to settle it with.
        assert_eq!(
            allowed.answer.detailed.decision(),
            Decision::Allowed { at: 0 }
        );
    }
    assert_eq!(allows.counts().allowed_by_policy, 20);
    // What could never fit cannot now either.
    let never = allows.decide("k", cost(9)).await.unwrap_err();
    assert!(matches!(never, StoreError::Request(_)), "{never}");

    let asks = limiter(WhenUnavailable::Ask(local));
    let mut allowed = 0;
    for _ in 0..5 {
        let decided = asks.decide("k", Cost::ONE).await.unwrap();
        allowed += u32::from(decided.answer.detailed.is_allowed());
    }
    assert_eq!(allowed, 2, "half of 4 requests");
    // More than this machine's share of 4, and yet no mistake of the caller's.
    let large = asks.decide("k", cost(5)).await.unwrap();
    assert!(!large.answer.detailed.is_allowed());
    assert_eq!(asks.counts().denied_by_policy, 4);
}

#[tokio::test]
async fn an_address_that_is_none_is_told_without_its_password() {
    let error = Store::at("rediss//user:secret@host")
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("expected one such as redis://") && !error.contains("secret"),
        "{error}"
    );
    let options = Store::at("redis://user:secret@127.0.0.1:1/").unwrap();
    let options = options.deadline(Duration::from_millis(20));
    assert!(!format!("{options:?}").contains("secret"));
    let error = options
        .connect_within(Duration::from_millis(50))
        .await
        .unwrap_err();
    assert!(!error.to_string().contains("secret"), "{error}");
}
