//! The client on a server that works.

mod support;

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use support::{Server, cost, limiter, quotas, store, used};
use windowpane_core::{
    AcquireError, Answer, AsyncKeyedRateLimiter, AsyncKeyedSettle, Charge, Cost, Decision,
    KeyedRateLimiter, Quotas, RateLimiter, RequestError, StoreError,
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
            let answer = limiter.decide_detailed("k", Cost::ONE).await.unwrap();
            allowed += u32::from(answer.detailed.is_allowed());
        }
        allowed
    };
    assert_eq!(all().await, 3, "{}", A::NAME);
    assert_eq!(
        limiter
            .peek_detailed("other", cost(3))
            .await
            .unwrap()
            .detailed
            .remaining(),
        0
    );
    assert!(
        limiter
            .peek_detailed("other", cost(3))
            .await
            .unwrap()
            .detailed
            .is_allowed()
    );
    assert_eq!(
        server.check_lives(Duration::from_secs(60)),
        1,
        "a peek creates no key"
    );
    limiter.reset("k").await.unwrap();
    assert_eq!(server.check_lives(Duration::from_secs(60)), 0);
    assert_eq!(all().await, 3);
    let counts = limiter.stats();
    assert_eq!(
        (counts.allowed, counts.denied, counts.unavailable),
        (6, 4, 0)
    );
    limiter.reset("k").await.unwrap();
}

#[tokio::test]
async fn a_limit_holds_and_is_reset() {
    let Some(server) = Server::start() else {
        return;
    };
    every_algorithm_keeps_a_limit::<Log>(&server).await;
    every_algorithm_keeps_a_limit::<TwoCounter>(&server).await;
    every_algorithm_keeps_a_limit::<Gcra>(&server).await;
}

/// A wait is right on the server's clock.
#[tokio::test]
async fn a_caller_that_waits_as_returned_is_allowed() {
    let Some(server) = Server::start() else {
        return;
    };
    let limiter = limiter::<Log>(&server.url(), &["2/300ms", "5/1s"]).await;
    let mut allowed = 0;
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(2_500) {
        let answer = limiter.decide_detailed("k", Cost::ONE).await.unwrap();
        match answer.detailed.decision() {
            Decision::Allowed { .. } => allowed += 1,
            Decision::Denied(denied) => {
                let wait = denied.retry_after().unwrap();
                tokio::time::sleep(wait).await;
                let answer = limiter.decide_detailed("k", Cost::ONE).await.unwrap();
                assert!(answer.detailed.is_allowed(), "after {wait:?}");
                allowed += 1;
            }
        }
    }
    // 5 in each of two and a half seconds, none of them wasted.
    assert!((12..=15).contains(&allowed), "{allowed}");
    server.check_lives(Duration::from_secs(1));
}

/// A key expires when nothing of it counts any more, and not sooner.
#[tokio::test]
async fn an_idle_key_expires() {
    let Some(server) = Server::start() else {
        return;
    };
    let window = Duration::from_millis(200);
    let store = store(&server.url()).await;
    let log = RedisLimiter::<Log>::new(store.clone(), quotas(&["2/200ms"])).unwrap();
    let counter = RedisLimiter::<TwoCounter>::new(store.clone(), quotas(&["2/200ms"])).unwrap();
    let gcra = RedisLimiter::<Gcra>::new(store, quotas(&["2/200ms"])).unwrap();
    for _ in 0..2 {
        assert!(log.decide_detailed("k", Cost::ONE).await.is_ok());
        assert!(counter.decide_detailed("k", Cost::ONE).await.is_ok());
        assert!(gcra.decide_detailed("k", Cost::ONE).await.is_ok());
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
    let sent = limiter.store().stats().sent;
    let error = limiter.decide_detailed("k", cost(6)).await.unwrap_err();
    let never = RequestError::NeverFits {
        cost: cost(6),
        quota: 0,
        limit: 5,
    };
    assert_eq!(error, StoreError::Request(never));
    assert_eq!(limiter.store().stats().sent, sent);
    // A limit of 0 denies, and no wait helps.
    let denied = limiter.decide_detailed("k", Cost::ONE).await.unwrap();
    let denied_by = denied.detailed.decision().denied().unwrap();
    assert_eq!((denied_by.quota(), denied_by.retry_after()), (1, None));
    assert_eq!(limiter.stats().never_fits, 1);
    // What is denied creates no key.
    assert_eq!(server.check_lives(Duration::from_secs(60)), 0);
}

#[tokio::test]
async fn the_deny_cache_denies_without_a_round_trip() {
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
    let sent = store.stats().sent;
    for _ in 0..2 {
        let again = limiter.decide("k", cost(2)).await.unwrap();
        assert_eq!(again.by, By::DenyCache);
        assert!(!again.answer.detailed.is_allowed());
        assert_eq!(again.answer.detailed.remaining_per_quota(), [1]);
    }
    assert_eq!(store.stats().sent, sent, "no round trip");
    // A larger cost may have to wait longer, so the store decides it.
    let more = limiter.decide("k", cost(3)).await.unwrap();
    assert!(more.by == By::Store && !more.answer.detailed.is_allowed());
    // A smaller cost may fit, so the store decides it.
    let less = limiter.decide("k", Cost::ONE).await.unwrap();
    assert!(less.by == By::Store && less.answer.detailed.is_allowed());
    assert_eq!(limiter.stats().denied_by_cache, 2);
    // The cache denies nothing that the store would allow.
    let mut by_cache = 0;
    for _ in 0..6 {
        let decided = limiter.decide("k", cost(3)).await.unwrap();
        by_cache += u32::from(decided.by == By::DenyCache);
        if let Some(wait) = decided.answer.detailed.decision().retry_after() {
            tokio::time::sleep(wait.min(Duration::from_millis(150))).await;
        }
    }
    assert!(by_cache >= 1);
    // A remembered denial ends when permits become free.
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
async fn a_denial_under_way_does_not_outlive_new_quotas() {
    let Some(server) = Server::start() else {
        return;
    };
    let store = store(&server.url()).await;
    let limiter = RedisLimiter::<Log>::new(store, quotas(&["1/60s"])).unwrap();
    let first = limiter.decide("k", Cost::ONE).await.unwrap();
    assert!(first.answer.detailed.is_allowed());
    server.suspend();
    let sent = limiter.store().stats().sent;
    let under_way = tokio::spawn({
        let limiter = limiter.clone();
        async move { limiter.decide("k", Cost::ONE).await }
    });
    while limiter.store().stats().sent == sent {
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
async fn a_charge_settled_at_less_frees_permits() {
    let Some(server) = Server::start() else {
        return;
    };
    let store = store(&server.url()).await;
    let limiter = RedisLimiter::<Log>::new(store, quotas(&["100/60s"])).unwrap();
    let first = limiter.try_acquire_many("k", 100).await.unwrap();
    for by in [By::Store, By::DenyCache] {
        let denied = limiter.decide("k", cost(40)).await.unwrap();
        assert!(denied.by == by && !denied.answer.detailed.is_allowed());
    }
    limiter.settle("k", first, 60).await.unwrap();
    let allowed = limiter.decide("k", cost(40)).await.unwrap();
    assert!(allowed.answer.detailed.is_allowed(), "{allowed:?}");
    server.check_lives(Duration::from_secs(60));
}

/// Sends a call and drops it before the server answers.
async fn cancelled<T>(server: &Server, call: impl Future<Output = T>) {
    server.suspend();
    let ended = tokio::time::timeout(Duration::from_millis(50), call).await;
    server.resume();
    assert!(ended.is_err(), "a suspended server answers nothing");
}

/// The caller drops the call that frees permits, and the store frees them.
#[tokio::test]
async fn a_cancelled_call_that_frees_permits_forgets_the_denial() {
    let Some(server) = Server::start() else {
        return;
    };
    let store = store(&server.url()).await;
    let limiter = RedisLimiter::<Log>::new(store, quotas(&["100/60s"])).unwrap();
    // From here on the server knows the script, so that one command settles.
    let other = limiter.try_acquire_many("other", 2).await.unwrap();
    limiter.settle("other", other, 1).await.unwrap();
    for settles in [true, false] {
        limiter.reset("k").await.unwrap();
        let first = limiter.try_acquire_many("k", 100).await.unwrap();
        for by in [By::Store, By::DenyCache] {
            let denied = limiter.decide("k", cost(40)).await.unwrap();
            assert!(denied.by == by && !denied.answer.detailed.is_allowed());
        }
        match settles {
            true => cancelled(&server, limiter.settle("k", first, 60)).await,
            false => cancelled(&server, limiter.reset("k")).await,
        }
        // One connection: this is answered after the call that was dropped.
        let free = limiter.peek_detailed("k", cost(40)).await.unwrap();
        assert!(free.detailed.is_allowed(), "{free:?}");
        let decided = limiter.decide("k", cost(40)).await.unwrap();
        assert!(decided.answer.detailed.is_allowed(), "{decided:?}");
    }
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
            // The peek comes *before* the next answer of the cache. If the cache still denies then,
            // the store must have denied.
            let peeked = plain.peek_detailed("k", Cost::ONE).await.unwrap();
            let after = cached.decide("k", Cost::ONE).await.unwrap();
            if after.by == By::DenyCache {
                assert!(!peeked.detailed.is_allowed(), "{peeked:?} {after:?}");
                agreed += 1;
            }
        }
    }
    assert!(agreed > 100, "{agreed}");
    server.check_lives(Duration::from_millis(20));
}

async fn settles<A: windowpane_redis::Settles>(server: &Server) {
    let limiter = limiter::<A>(&server.url(), &["100/60s"]).await;
    let first = limiter.try_acquire_many("k", 40).await.unwrap();
    let second = limiter.try_acquire_many("k", 40).await.unwrap();
    limiter.settle("k", first, 10).await.unwrap();
    assert_eq!(used(&limiter, "k").await, 50, "{}", A::NAME);
    limiter.settle("k", second, u64::MAX).await.unwrap();
    let full = limiter.decide_detailed("k", Cost::ONE).await.unwrap();
    assert!(!full.detailed.is_allowed() && full.detailed.remaining() == 0);
    assert_eq!(limiter.stats().settled, 2);
    // What is not there changes nothing and creates no key.
    let gone = limiter.try_acquire_many("l", 40).await.unwrap();
    limiter.reset("l").await.unwrap();
    limiter.settle("l", gone, 7).await.unwrap();
    assert_eq!(limiter.stats().settled, 2);
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
    let other = RedisLimiter::<Log>::builder(one.store().clone(), "2/60s").prefix("other");
    let other = other.build().unwrap();
    let counter = limiter::<TwoCounter>(&server.url(), &["2/60s"]).await;
    for limiter in [&one, &two] {
        let answer = limiter.decide_detailed("k}{", Cost::ONE).await.unwrap();
        assert!(answer.detailed.is_allowed());
    }
    assert!(
        !one.decide_detailed("k}{", Cost::ONE)
            .await
            .unwrap()
            .detailed
            .is_allowed()
    );
    assert!(
        one.decide_detailed("", Cost::ONE)
            .await
            .unwrap()
            .detailed
            .is_allowed()
    );
    assert!(
        other
            .decide_detailed("k}{", cost(2))
            .await
            .unwrap()
            .detailed
            .is_allowed()
    );
    assert!(
        counter
            .decide_detailed("k}{", cost(2))
            .await
            .unwrap()
            .detailed
            .is_allowed()
    );
    assert_eq!(one.key_in_store("k"), "windowpane:log:{k}");
    server.check_lives(Duration::from_secs(60));
}

/// Every mistake in the options is an error of `build`.
#[tokio::test]
async fn wrong_options_are_errors_of_build() {
    let store = Store::at("redis://127.0.0.1:1/")
        .unwrap()
        .connect_in_background();
    let builder = |quotas: &str| RedisLimiter::<Gcra>::builder(store.clone(), quotas);
    let braces = builder("1/1s").prefix("a{b}").build().unwrap_err();
    assert!(
        matches!(braces, ConfigError::BraceInPrefix { .. }),
        "{braces}"
    );
    let malformed = builder("1 a second").deny_cache(usize::MAX).build();
    let malformed = malformed.unwrap_err();
    assert!(malformed.to_string().contains("1 a second"), "{malformed}");
    let two = builder("1/1s, 5/60s").build().unwrap_err();
    assert!(
        matches!(two, ConfigError::TooManyQuotas { given: 2, .. }),
        "{two}"
    );
    // A clone is as good as the limiter, and options are of one limiter only.
    let first = builder("1/1s").build().unwrap();
    let second = first.clone();
    second.change_quotas("2/1s").unwrap();
    assert_eq!(first.quotas().to_string(), "2/1s");
    assert!(second.change_quotas("2 a second").is_err());
    assert_eq!(first.quotas().to_string(), "2/1s");
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

    fn decide(&self, _key: &str, cost: Cost) -> Result<Decision, StoreError> {
        let now = self.start.elapsed().as_nanos() as u64;
        Ok(self.log.decide_at(now, cost)?)
    }

    fn decide_detailed(&self, _key: &str, cost: Cost) -> Result<Answer, StoreError> {
        let now = self.start.elapsed().as_nanos() as u64;
        let detailed = self.log.decide_detailed_at(now, cost)?;
        Ok(Answer::new(detailed, self.log.quotas()))
    }

    fn peek_detailed(&self, _key: &str, cost: Cost) -> Result<Answer, StoreError> {
        let now = self.start.elapsed().as_nanos() as u64;
        let detailed = self.log.peek_at(now, cost)?;
        Ok(Answer::new(detailed, self.log.quotas()))
    }

    fn reset(&self, _key: &str) {
        self.log.reset();
    }
}

/// Four policies, and an unavailable store is never taken for a denial.
#[tokio::test]
async fn each_policy_answers_when_the_store_does_not() {
    // No server listens there.
    let store = Store::at("redis://127.0.0.1:1/")
        .unwrap()
        .connect_in_background();
    let all = quotas(&["8/60s", "4req/60s"]);
    let local = Arc::new(Alone {
        log: MutexLog::new(share(&all, NonZeroU32::new(2).unwrap())),
        start: Instant::now(),
    });
    let limiter = |policy| {
        let limiter = RedisLimiter::<Log>::builder(store.clone(), all.clone());
        limiter.when_unavailable(policy).build().unwrap()
    };

    let errs = limiter(WhenUnavailable::Error);
    let error = errs.decide("k", Cost::ONE).await.unwrap_err();
    assert!(matches!(error, StoreError::Unavailable { .. }), "{error}");
    assert_eq!(errs.stats().unavailable, 1);

    let denies = limiter(WhenUnavailable::Deny);
    let denied = denies.decide("k", Cost::ONE).await.unwrap();
    assert!(matches!(denied.by, By::Policy { .. }));
    let wait = denied.answer.detailed.decision().retry_after().unwrap();
    let delays = Duration::from_millis(50)..=Duration::from_millis(500);
    assert!(delays.contains(&wait), "until the next attempt: {wait:?}");
    // No quota denied, so the error names none.
    let error = denies.try_acquire("k").await.unwrap_err();
    assert!(
        matches!(error, AcquireError::DeniedByPolicy { .. }),
        "{error}"
    );

    let allows = limiter(WhenUnavailable::Allow);
    for _ in 0..20 {
        let allowed = allows.decide("k", cost(3)).await.unwrap();
        assert!(matches!(allowed.by, By::Policy { .. }));
        assert_eq!(allowed.answer.detailed.remaining_per_quota(), [5, 3]);
        // Without a record there is nothing to settle, and the store is not asked to.
        let decision = allowed.answer.detailed.decision();
        let charge = decision.at().map(|at| Charge::new(at, cost(3))).unwrap();
        AsyncKeyedSettle::settle(&allows, "k", charge, 1)
            .await
            .unwrap();
    }
    assert_eq!(allows.stats().allowed_by_policy, 20);
    // What could never fit cannot now either.
    let never = allows.decide("k", cost(9)).await.unwrap_err();
    assert!(matches!(never, StoreError::Request(_)), "{never}");

    let asks = limiter(WhenUnavailable::Local(local));
    let mut allowed = 0;
    for _ in 0..5 {
        let decided = asks.decide("k", Cost::ONE).await.unwrap();
        allowed += u32::from(decided.answer.detailed.is_allowed());
    }
    assert_eq!(allowed, 2, "half of 4 requests");
    // More than this machine's share of 4, and yet it is not an error of the caller.
    let large = asks.decide("k", cost(5)).await.unwrap();
    assert!(!large.answer.detailed.is_allowed());
    assert_eq!(asks.stats().denied_by_policy, 4);
}

/// A machine's share of a small limit is 0. That is not a denial for ever: the store will allow.
#[tokio::test]
async fn a_local_share_of_zero_denies_for_now() {
    let store = Store::at("redis://127.0.0.1:1/")
        .unwrap()
        .connect_in_background();
    let all = quotas(&["3/60s"]);
    let local = Arc::new(Alone {
        log: MutexLog::new(share(&all, NonZeroU32::new(4).unwrap())),
        start: Instant::now(),
    });
    let limiter = RedisLimiter::<Log>::builder(store, all);
    let limiter = limiter.when_unavailable(WhenUnavailable::Local(local));
    let limiter = limiter.build().unwrap();
    let decided = limiter.decide("k", Cost::ONE).await.unwrap();
    let wait = decided.answer.detailed.decision().retry_after();
    assert!(wait.is_some(), "{decided:?}");
}

#[tokio::test]
async fn a_limit_of_zero_denies_for_ever_under_each_policy() {
    let store = Store::at("redis://127.0.0.1:1/")
        .unwrap()
        .connect_in_background();
    let all = quotas(&["5/60s", "0/60s"]);
    let local = Arc::new(Alone {
        log: MutexLog::new(quotas(&["5/60s"])),
        start: Instant::now(),
    });
    for policy in [
        WhenUnavailable::Allow,
        WhenUnavailable::Deny,
        WhenUnavailable::Local(local),
    ] {
        let limiter = RedisLimiter::<Log>::builder(store.clone(), all.clone());
        let limiter = limiter.when_unavailable(policy.clone()).build().unwrap();
        let decided = limiter.decide("k", Cost::ONE).await.unwrap();
        let denied = decided.answer.detailed.decision().denied().unwrap();
        assert_eq!(
            (denied.quota(), denied.retry_after()),
            (1, None),
            "{policy:?}"
        );
    }
}

/// The local limiter's times are of another clock. A record of the store under the same number stays
/// as it is.
#[tokio::test]
async fn a_local_allowance_is_not_settled_in_the_store() {
    let Some(mut server) = Server::start() else {
        return;
    };
    let all = quotas(&["100/60s"]);
    let store = store(&server.url()).await;
    let local = Arc::new(Alone {
        log: MutexLog::new(all.clone()),
        start: Instant::now(),
    });
    let limiter = RedisLimiter::<Log>::builder(store.clone(), all);
    let limiter = limiter.when_unavailable(WhenUnavailable::Local(local));
    let limiter = limiter.build().unwrap();
    server.kill();
    while store.is_connected() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let decided = limiter.decide("k", cost(40)).await.unwrap();
    let charge = decided
        .answer
        .detailed
        .decision()
        .at()
        .map(|at| Charge::new(at, cost(40)))
        .unwrap();
    // The store is unavailable still. Nothing is to be settled there, so that does not matter.
    AsyncKeyedSettle::settle(&limiter, "k", charge, 10)
        .await
        .unwrap();
}

#[tokio::test]
async fn a_malformed_address_is_printed_without_its_password() {
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

/// A loop of calls that the deny cache answers leaves other tasks their turn.
#[tokio::test]
async fn denied_calls_in_a_loop_starve_no_other_task() {
    let Some(server) = Server::start() else {
        return;
    };
    let store = store(&server.url()).await;
    let limiter = RedisLimiter::<Log>::new(store, "1/60s").unwrap();
    assert!(limiter.try_acquire("k").await.is_ok());
    assert!(limiter.try_acquire("k").await.is_err());
    let (turns, seen) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let other = tokio::spawn({
        let turns = turns.clone();
        async move {
            loop {
                turns.fetch_add(1, Ordering::SeqCst);
                tokio::task::yield_now().await;
            }
        }
    });
    let denied = tokio::spawn({
        let (turns, seen) = (turns.clone(), seen.clone());
        async move {
            for _ in 0..10_000 {
                assert!(limiter.try_acquire("k").await.is_err());
            }
            seen.store(turns.load(Ordering::SeqCst), Ordering::SeqCst);
            limiter.stats().denied_by_cache
        }
    });
    assert_eq!(denied.await.unwrap(), 10_000);
    other.abort();
    let turns = seen.load(Ordering::SeqCst);
    assert!(turns > 10, "{turns}");
}

#[tokio::test]
async fn keys_of_a_tier_have_its_quotas() {
    let Some(server) = Server::start() else {
        return;
    };
    let store = store(&server.url()).await;
    let is_team = Arc::new(AtomicU32::new(0));
    let of_key = {
        let is_team = is_team.clone();
        move |key: &str| match key.split_once(':')?.0 {
            "team" => Some(0),
            "company" => Some(1),
            "none" => Some(2),
            _ => (is_team.load(Ordering::SeqCst) == 1).then_some(0),
        }
    };
    let limiter = RedisLimiter::<Log>::builder(store.clone(), "1/60s")
        .tiers(["2/60s, 9/61s", "3/60s"], of_key)
        .build()
        .unwrap();
    for (key, limit) in [("k", 1), ("team:a", 2), ("company:b", 3), ("none:c", 1)] {
        let mut allowed = 0;
        for _ in 0..5 {
            allowed += u32::from(limiter.try_acquire(key).await.is_ok());
        }
        assert_eq!(allowed, limit, "{key}");
    }
    let of_team = AsyncKeyedRateLimiter::quotas(&limiter, "team:a");
    assert_eq!(of_team.to_string(), "2/60s and 9/61s");
    // A denial that is remembered under other quotas does not hold.
    assert!(limiter.try_acquire("user:d").await.is_ok());
    assert!(limiter.try_acquire("user:d").await.is_err());
    is_team.store(1, Ordering::SeqCst);
    assert!(
        limiter.try_acquire("user:d").await.is_ok(),
        "2 since, 1 used"
    );
    let broken = RedisLimiter::<Gcra>::builder(store, "1/60s").tiers(["2/60s, 9/61s"], |_| None);
    let error = broken.build().unwrap_err();
    assert!(
        matches!(error, ConfigError::TooManyQuotas { .. }),
        "{error}"
    );
}
