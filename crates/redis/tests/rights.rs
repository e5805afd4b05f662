//! Users who may not run every command, and keys without a time to live.

mod support;

use std::time::{Duration, Instant};

use support::{AMPLE, Server, used};
use windowpane_core::{Cost, StoreError};
use windowpane_redis::{Algorithm, By, Gcra, Log, RedisLimiter, Store, TwoCounter};

/// The commands that `docs/server.md` names for each algorithm.
const PAGE: &str = include_str!("../docs/server.md");

/// The rules of the ACL line for `algorithm`, as the page has it.
fn rules(algorithm: &str) -> Vec<&'static str> {
    let line = PAGE
        .lines()
        .find(|line| line.starts_with("ACL SETUSER") && line.contains(&format!(":{algorithm}:")));
    line.unwrap().split_whitespace().skip(3).collect()
}

fn set_user(server: &Server, rules: &[&str]) {
    let mut acl = redis::cmd("ACL");
    acl.arg("SETUSER").arg("limiter").arg("reset").arg(rules);
    let _: () = acl.query(&mut server.connection()).unwrap();
}

async fn store(server: &Server) -> Store {
    let url = server.url().replace("redis://", "redis://limiter:secret@");
    let options = Store::at(&url).unwrap().deadline(AMPLE);
    options.connect_within(AMPLE).await.unwrap()
}

fn limiter_of<A: Algorithm>(store: &Store) -> RedisLimiter<A> {
    let limiter = RedisLimiter::builder(store.clone(), "5/2s").deny_cache(0);
    limiter.build().unwrap()
}

/// Every path of the scripts: a first request, one that follows, a denial, a window later.
async fn every_path<A: Algorithm>(server: &Server) {
    set_user(server, &rules(A::NAME));
    let store = store(server).await;
    let limiter = limiter_of::<A>(&store);
    for round in 0..3 {
        for i in 0..6 {
            let decided = limiter.decide("k", Cost::ONE).await;
            let decided = decided.unwrap_or_else(|error| panic!("{}: {error}", A::NAME));
            assert_eq!(decided.by, By::Store);
            assert!(round > 0 || decided.answer.detailed.is_allowed() == (i < 5));
        }
        let peeked = limiter.peek_detailed("k", Cost::ONE).await;
        assert!(peeked.is_ok(), "{peeked:?}");
        tokio::time::sleep(Duration::from_millis(1_100)).await;
    }
    limiter.reset("k").await.unwrap();
    assert!(store.health().is_ok(), "{:?}", store.health());
}

async fn settles<A: windowpane_redis::Settles>(server: &Server) {
    set_user(server, &rules(A::NAME));
    let limiter = limiter_of::<A>(&store(server).await);
    let allowed = limiter.try_acquire("s").await.unwrap();
    limiter.settle("s", allowed, 3).await.unwrap();
    assert_eq!(used(&limiter, "s").await, 3);
}

#[tokio::test]
async fn the_rights_on_the_page_suffice() {
    let Some(server) = Server::start() else {
        return;
    };
    every_path::<Log>(&server).await;
    every_path::<TwoCounter>(&server).await;
    every_path::<Gcra>(&server).await;
    settles::<Log>(&server).await;
    settles::<TwoCounter>(&server).await;
}

/// Without any one of the commands nothing is charged, and the health names it.
async fn each_right_is_needed<A: Algorithm>(server: &Server) {
    let all = rules(A::NAME);
    let optional = |rule: &str| ["+del", "+ping"].contains(&rule);
    for missing in all
        .iter()
        .filter(|rule| rule.starts_with('+') && !optional(rule))
    {
        let rest: Vec<&str> = all.iter().copied().filter(|rule| rule != missing).collect();
        set_user(server, &rest);
        // A known script would be run without EVAL.
        let mut flush = redis::cmd("SCRIPT");
        let _: () = flush.arg("FLUSH").query(&mut server.connection()).unwrap();
        let store = store(server).await;
        let limiter = limiter_of::<A>(&store);
        wait_for(|| !store.health().refused.is_empty()).await;
        let health = store.health();
        assert!(
            health.refused[0].contains(&missing[1..]),
            "{missing} {health:?}"
        );
        let error = limiter.decide("k", Cost::ONE).await.unwrap_err();
        let StoreError::Unavailable { reason } = error else {
            panic!("{error}");
        };
        assert!(reason.starts_with("refused: "), "{reason}");
        let mut connection = server.connection();
        let keys: i64 = redis::cmd("EXISTS")
            .arg(limiter.key_in_store("k"))
            .query(&mut connection)
            .unwrap();
        assert_eq!(keys, 0, "{missing}: nothing is charged");
    }
}

async fn wait_for(holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < AMPLE, "not in time");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn a_missing_right_is_refused_before_anything_is_charged() {
    let Some(server) = Server::start() else {
        return;
    };
    each_right_is_needed::<Log>(&server).await;
    each_right_is_needed::<TwoCounter>(&server).await;
    each_right_is_needed::<Gcra>(&server).await;
}

/// Rights that are taken away are noticed at the next call, and mended ones within two seconds.
#[tokio::test]
async fn mended_rights_end_the_outage() {
    let Some(server) = Server::start() else {
        return;
    };
    set_user(&server, &rules("gcra"));
    let store = store(&server).await;
    let limiter = limiter_of::<Gcra>(&store);
    assert!(limiter.decide("k", Cost::ONE).await.is_ok());
    let mut acl = redis::cmd("ACL");
    acl.arg("SETUSER").arg("limiter").arg("-psetex");
    let _: () = acl.query(&mut server.connection()).unwrap();
    assert!(limiter.decide("other", Cost::ONE).await.is_err());
    wait_for(|| !store.health().is_ok()).await;
    assert_eq!(*store.health().refused[0], *"refused: NOPERM psetex");
    assert!(store.is_connected());
    let mut acl = redis::cmd("ACL");
    acl.arg("SETUSER").arg("limiter").arg("+psetex");
    let _: () = acl.query(&mut server.connection()).unwrap();
    wait_for(|| store.health().is_ok()).await;
    assert!(limiter.decide("other", Cost::ONE).await.is_ok());
}

/// Somebody persists a key; the next request a window later gives it a life again.
async fn a_life_is_given_again<A: Algorithm>(server: &Server) {
    let store = support::store(&server.url()).await;
    let limiter = RedisLimiter::<A>::builder(store, "5/400ms").deny_cache(0);
    let limiter = limiter.build().unwrap();
    let key = limiter.key_in_store("k");
    assert!(limiter.decide("k", Cost::ONE).await.is_ok());
    let mut connection = server.connection();
    let persisted: i64 = redis::cmd("PERSIST")
        .arg(&key)
        .query(&mut connection)
        .unwrap();
    assert_eq!(persisted, 1);
    tokio::time::sleep(Duration::from_millis(420)).await;
    assert!(limiter.decide("k", Cost::ONE).await.is_ok());
    server.check_lives(Duration::from_millis(400));
}

#[tokio::test]
async fn a_persisted_key_has_a_life_again_a_window_later() {
    let Some(server) = Server::start() else {
        return;
    };
    a_life_is_given_again::<Log>(&server).await;
    a_life_is_given_again::<TwoCounter>(&server).await;
    a_life_is_given_again::<Gcra>(&server).await;
}

async fn memory_of<A: Algorithm>(server: &Server) {
    let store = support::store(&server.url()).await;
    let rows = PAGE.lines().filter_map(|line| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        match cells[..] {
            ["", name, entries, bytes, ""] if name == A::NAME => {
                Some((entries.parse().unwrap(), bytes.parse().unwrap()))
            }
            _ => None,
        }
    });
    let rows: Vec<(u64, f64)> = rows.collect();
    assert!(!rows.is_empty());
    for (entries, bytes) in rows {
        let limiter = RedisLimiter::<A>::builder(store.clone(), "20000/1h").deny_cache(0);
        let limiter = limiter.build().unwrap();
        limiter.reset("client-12345").await.unwrap();
        for _ in 0..entries {
            assert!(limiter.try_acquire("client-12345").await.is_ok());
        }
        let mut usage = redis::cmd("MEMORY");
        usage.arg("USAGE").arg(limiter.key_in_store("client-12345"));
        let used: f64 = usage.query(&mut server.connection()).unwrap();
        let share = used / bytes;
        assert!(
            (0.6..1.5).contains(&share),
            "{} {entries}: {used} {bytes}",
            A::NAME
        );
    }
}

#[tokio::test]
async fn the_memory_of_a_key_is_as_the_page_says() {
    let Some(server) = Server::start() else {
        return;
    };
    memory_of::<Log>(&server).await;
    memory_of::<TwoCounter>(&server).await;
    memory_of::<Gcra>(&server).await;
}
