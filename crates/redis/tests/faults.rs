//! Faults of the store. Every call ends within the deadline, nothing is counted twice, and the store
//! decides again within a second of its return.

mod support;

use std::time::{Duration, Instant};

use support::load::Load;
use support::proxy::Proxy;
use support::{
    SLACK, Server, cost, limiter, limiter_within, quotas, store, until_the_store_decides, used,
};
use windowpane_core::{Cost, StoreError};
use windowpane_redis::{By, Gcra, Log, RedisLimiter, Store, TwoCounter, WhenUnavailable};

const WINDOW: Duration = Duration::from_secs(60);
const SECOND: Duration = Duration::from_secs(1);
const DEADLINE: Duration = Duration::from_millis(50);

async fn pause(millis: u64) {
    tokio::time::sleep(Duration::from_millis(millis)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_server_is_unavailable_and_back_within_a_second() {
    let Some(mut server) = Server::start() else {
        return;
    };
    let limiter = limiter_within::<Log>(&server.url(), &["1000000/60s"], DEADLINE).await;
    let load = Load::start(&limiter, "k", 8);
    pause(300).await;
    server.kill();
    pause(500).await;
    assert!(!limiter.store().is_connected());
    let before = load.stop().await;
    assert!(before.allowed() > 100, "{before:?}");
    assert!(before.unavailable() > 10, "{before:?}");
    assert!(before.longest() < DEADLINE + SLACK, "{before:?}");
    // Only those whose call was under way lost anything; the others were not sent.
    assert!(limiter.store().stats().broken <= 8);

    // The server lost its memory, so it counts only what callers see from here on.
    let load = Load::start(&limiter, "k", 8);
    server.restart();
    let recovered = until_the_store_decides(&limiter).await;
    assert!(recovered < SECOND, "{recovered:?}");
    pause(200).await;
    let after = load.stop().await;
    let counts = limiter.store().stats();
    assert!(
        after.allowed() > 100 && after.longest() < DEADLINE + SLACK,
        "{after:?}"
    );
    let doubtful = counts.timeouts + counts.broken;
    let used = used(&limiter, "k").await;
    let seen = after.allowed();
    assert!(
        (seen..=seen + doubtful).contains(&used),
        "{used} {seen} {doubtful}"
    );
    assert!(server.check_lives(WINDOW) >= 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn flushed_scripts_are_sent_again_without_an_error() {
    let Some(server) = Server::start() else {
        return;
    };
    let limiter = limiter::<Log>(&server.url(), &["1000000/60s"]).await;
    let load = Load::start(&limiter, "k", 8);
    let mut connection = server.connection();
    for _ in 0..20 {
        pause(10).await;
        let _: () = redis::cmd("SCRIPT")
            .arg("FLUSH")
            .query(&mut connection)
            .unwrap();
    }
    let seen = load.stop().await;
    assert_eq!(
        seen.unavailable(),
        0,
        "{seen:?} {:?}",
        limiter.store().stats()
    );
    let sent = limiter.store().stats().scripts_sent;
    assert!(sent >= 15, "{sent}");
    let used = used(&limiter, "k").await;
    assert_eq!(used, seen.allowed());
    server.check_lives(WINDOW);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_suspended_server_delays_no_call_beyond_the_deadline() {
    let Some(server) = Server::start() else {
        return;
    };
    let limiter = limiter_within::<Log>(&server.url(), &["1000000/60s"], DEADLINE).await;
    let load = Load::start(&limiter, "k", 8);
    pause(200).await;
    server.suspend();
    pause(400).await;
    let sent = limiter.store().stats().sent;
    pause(1_600).await;
    let counts = limiter.store().stats();
    // The connection was dropped after 200 ms without an answer; since then nothing was sent.
    assert_eq!(counts.sent, sent);
    assert!(counts.not_sent > 100, "{counts:?}");
    server.resume();
    let recovered = until_the_store_decides(&limiter).await;
    assert!(recovered < SECOND, "{recovered:?}");
    pause(200).await;
    let seen = load.stop().await;
    assert!(seen.longest() < DEADLINE + SLACK, "{seen:?}");
    let doubtful = limiter.store().stats().timeouts + limiter.store().stats().broken;
    // Each of 8 tasks calls again after 50 ms, until the connection is dropped after 250 ms.
    assert!(doubtful <= 8 * 7, "{doubtful}");
    let used = used(&limiter, "k").await;
    let allowed = seen.allowed();
    assert!(
        (allowed..=allowed + doubtful).contains(&used),
        "{used} {allowed} {doubtful}"
    );
    server.check_lives(WINDOW);
}

/// A pause of the server lets many calls time out at the same instant. The connection stays.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_that_time_out_together_keep_the_connection() {
    let Some(server) = Server::start() else {
        return;
    };
    let options = Store::at(&server.url()).unwrap().deadline(DEADLINE);
    let options = options.drop_after(support::AMPLE);
    let store = options.connect_within(support::AMPLE).await.unwrap();
    let limiter = RedisLimiter::<Log>::new(store.clone(), quotas(&["1000/60s"])).unwrap();
    server.suspend();
    let call = |_| {
        let limiter = limiter.clone();
        tokio::spawn(async move { limiter.decide("k", Cost::ONE).await })
    };
    for call in (0..20).map(call).collect::<Vec<_>>() {
        assert!(call.await.unwrap().is_err());
    }
    assert!(store.is_connected());
    server.resume();
    let recovered = until_the_store_decides(&limiter).await;
    assert!(recovered < SECOND, "{recovered:?}");
    let counts = store.stats();
    assert_eq!((counts.timeouts >= 20, counts.connections), (true, 1));
    server.check_lives(WINDOW);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_without_answers_is_dropped_after_a_time() {
    let Some(server) = Server::start() else {
        return;
    };
    let silence = Duration::from_millis(150);
    let options = Store::at(&server.url()).unwrap().deadline(DEADLINE);
    let options = options.drop_after(silence);
    let store = options.connect_within(support::AMPLE).await.unwrap();
    let limiter = RedisLimiter::<Log>::new(store.clone(), quotas(&["1000/60s"])).unwrap();
    server.suspend();
    let start = Instant::now();
    while store.is_connected() {
        assert!(limiter.decide("k", Cost::ONE).await.is_err());
        assert!(start.elapsed() < Duration::from_secs(10));
    }
    assert!(
        start.elapsed() >= DEADLINE + silence,
        "{:?}",
        start.elapsed()
    );
    // The first call begins the silence, and one that ends later than that drops the connection.
    assert!(store.stats().timeouts >= 2, "{:?}", store.stats());
    server.resume();
    let recovered = until_the_store_decides(&limiter).await;
    assert!(recovered < SECOND, "{recovered:?}");
    server.check_lives(WINDOW);
}

/// A server that became a replica answers, and decides nothing: the connection is dropped at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_becomes_a_replica_is_dropped() {
    let (Some(server), Some(other)) = (Server::start(), Server::start()) else {
        return;
    };
    let limiter = limiter::<Log>(&server.url(), &["100/60s"]).await;
    assert!(limiter.decide("k", Cost::ONE).await.unwrap().by == By::Store);
    let mut connection = server.connection();
    let port = other.port().to_string();
    for (host, port) in [("127.0.0.1", port.as_str()), ("NO", "ONE")] {
        let before = limiter.store().stats().dropped;
        let of = redis::cmd("REPLICAOF").arg(host).arg(port).clone();
        let _: () = of.query(&mut connection).unwrap();
        if host == "NO" {
            let recovered = until_the_store_decides(&limiter).await;
            assert!(recovered < SECOND, "{recovered:?}");
            break;
        }
        let decided = limiter.decide("k", Cost::ONE).await;
        assert!(matches!(decided, Err(StoreError::Unavailable { .. })));
        assert_eq!(limiter.store().stats().dropped, before + 1);
    }
    server.check_lives(WINDOW);
}

/// A replica accepts connections and decides nothing, so each connection lasts one call. At a constant
/// delay of 10 ms there would be a hundred of them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_that_do_not_last_are_made_less_and_less_often() {
    let (Some(server), Some(other)) = (Server::start(), Server::start()) else {
        return;
    };
    let first = Duration::from_millis(10);
    let options = Store::at(&server.url()).unwrap().deadline(support::AMPLE);
    let options = options.reconnect_delay(first, support::AMPLE);
    let store = options.connect_within(support::AMPLE).await.unwrap();
    let limiter = RedisLimiter::<Log>::new(store.clone(), "100/60s").unwrap();
    let mut replica = redis::cmd("REPLICAOF");
    replica.arg("127.0.0.1").arg(other.port());
    let _: () = replica.query(&mut server.connection()).unwrap();
    let start = Instant::now();
    while start.elapsed() < SECOND {
        assert!(limiter.try_acquire("k").await.is_err());
        pause(1).await;
    }
    // The delay before connection n is 5 ms x 2^n at least.
    let connections = store.stats().connections as u32;
    let least = first / 2 * (2_u32.saturating_pow(connections - 1) - 1);
    assert!(connections > 3, "{connections}");
    assert!(least <= start.elapsed(), "{connections} connections");
}

/// The server decided, and its answer is lost half way: unavailable, counted once, not sent again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_cut_in_mid_reply_is_not_sent_again() {
    let Some(server) = Server::start() else {
        return;
    };
    let proxy = Proxy::before(server.port()).await;
    let direct = limiter::<Log>(&server.url(), &["100/60s"]).await;
    let limiter = limiter::<Log>(&proxy.url(), &["100/60s"]).await;
    let mut expected = 0;
    for bytes in [0, 1, 4, 9] {
        let before = limiter.decide("k", Cost::ONE).await.unwrap();
        assert!(before.answer.detailed.is_allowed() && before.by == By::Store);
        proxy.cut_after(bytes);
        let start = Instant::now();
        let cut = limiter.decide("k", Cost::ONE).await;
        assert!(
            matches!(cut, Err(StoreError::Unavailable { .. })),
            "{cut:?}"
        );
        assert!(start.elapsed() < DEADLINE + SLACK);
        expected += 2;
        assert_eq!(
            used(&direct, "k").await,
            expected,
            "counted once, after {bytes} bytes"
        );
        let recovered = until_the_store_decides(&limiter).await;
        assert!(recovered < SECOND, "{recovered:?}");
        assert_eq!(used(&direct, "k").await, expected, "nothing was sent again");
    }
    assert_eq!(limiter.store().stats().broken, 4);
    server.check_lives(WINDOW);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wrong_type_at_one_key_affects_no_other() {
    let Some(server) = Server::start() else {
        return;
    };
    let store = store(&server.url()).await;
    let log = RedisLimiter::<Log>::builder(store.clone(), "5/60s");
    let log = log.when_unavailable(WhenUnavailable::Deny).build().unwrap();
    let counter = RedisLimiter::<TwoCounter>::new(store.clone(), quotas(&["5/60s"])).unwrap();
    let gcra = RedisLimiter::<Gcra>::new(store.clone(), quotas(&["5/60s"])).unwrap();
    let mut connection = server.connection();
    let mut set = |key: String, value: &str| {
        let set = redis::cmd("SET")
            .arg(key)
            .arg(value)
            .arg("PX")
            .arg(60_000)
            .clone();
        let _: () = set.query(&mut connection).unwrap();
    };
    set(log.key_in_store("k"), "text");
    set(counter.key_in_store("k"), "text");
    set(gcra.key_in_store("k"), "text");
    for _ in 0..20 {
        let decided = log.decide("k", Cost::ONE).await.unwrap();
        assert!(!decided.answer.detailed.is_allowed());
        let By::Policy { reason, .. } = decided.by else {
            panic!("the store cannot decide: {decided:?}");
        };
        assert!(reason.contains("WRONGSTATE"), "{reason}");
        for result in [
            counter.decide("k", Cost::ONE).await,
            gcra.decide("k", Cost::ONE).await,
        ] {
            let error = result.unwrap_err().to_string();
            assert!(error.contains("WRONGSTATE"), "{error}");
        }
    }
    // The others are served, over the same connection.
    assert!(log.decide("l", Cost::ONE).await.unwrap().by == By::Store);
    let counts = store.stats();
    assert_eq!(
        (counts.dropped, counts.connections, counts.server_errors),
        (0, 1, 60)
    );
    assert_eq!(log.stats().denied_by_policy, 20);
    // A reset heals it.
    log.reset("k").await.unwrap();
    let decided = log.decide("k", Cost::ONE).await.unwrap();
    assert!(decided.by == By::Store && decided.answer.detailed.remaining() == 4);
    server.check_lives(WINDOW);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_memory_leaves_nothing_half_written() {
    let Some(server) = Server::start_with(&["--maxmemory-policy", "noeviction"]) else {
        return;
    };
    let store = store(&server.url()).await;
    let log = RedisLimiter::<Log>::builder(store.clone(), ["100000/60s", "5req/1s"]);
    let log = log.deny_cache(0).build().unwrap();
    let counter = RedisLimiter::<TwoCounter>::new(store.clone(), quotas(&["9/60s"])).unwrap();
    for _ in 0..3 {
        assert!(
            log.decide("k", cost(10))
                .await
                .unwrap()
                .answer
                .detailed
                .is_allowed()
        );
    }
    let mut connection = server.connection();
    let mut limit = |bytes: &str| {
        let config = ["SET", "maxmemory", bytes];
        let _: () = redis::cmd("CONFIG")
            .arg(&config)
            .query(&mut connection)
            .unwrap();
    };
    limit("1");
    for _ in 0..20 {
        for result in [
            log.decide("k", Cost::ONE).await,
            log.decide("new", Cost::ONE).await,
        ] {
            let error = result.unwrap_err().to_string();
            assert!(error.contains("OOM"), "{error}");
        }
        assert!(counter.decide("k", Cost::ONE).await.is_err());
    }
    // A denial and a peek need no memory.
    let denied = log.decide("k", cost(99_999)).await.unwrap();
    assert!(!denied.answer.detailed.is_allowed() && denied.by == By::Store);
    assert_eq!(used(&log, "k").await, 30);
    limit("0");
    assert!(log.decide("k", cost(10)).await.unwrap().by == By::Store);
    assert_eq!(used(&log, "k").await, 40);
    assert!(counter.decide("k", Cost::ONE).await.unwrap().by == By::Store);
    assert_eq!(store.stats().connections, 1);
    server.check_lives(WINDOW);
}

/// A service that starts before its store: unavailable first, and decided once the store is there.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_before_the_first_connection_end_at_once() {
    let Some(mut server) = Server::start() else {
        return;
    };
    server.kill();
    let options = Store::at(&server.url()).unwrap();
    let refused = options
        .clone()
        .connect_within(Duration::from_millis(300))
        .await;
    let refused = refused.unwrap_err().to_string();
    assert!(
        refused.contains("127.0.0.1") && refused.contains("300 ms"),
        "{refused}"
    );
    let store = options.connect_in_background();
    let limiter = RedisLimiter::<Gcra>::new(store, quotas(&["5/60s"])).unwrap();
    pause(50).await;
    let start = Instant::now();
    for _ in 0..1_000 {
        assert!(limiter.decide("k", Cost::ONE).await.is_err());
    }
    assert!(
        start.elapsed() < DEADLINE * 4,
        "a thousand calls: {:?}",
        start.elapsed()
    );
    server.restart();
    let recovered = until_the_store_decides(&limiter).await;
    assert!(recovered < SECOND, "{recovered:?}");
    assert!(server.check_lives(WINDOW) == 1);
}
