//! A slot that moves from one node of a cluster to another, under load.

#![cfg(feature = "cluster")]

mod support;

use std::time::Duration;

use support::cluster::{Move, cluster};
use support::load::Load;
use support::{SLACK, Server, used};
use windowpane_core::Cost;
use windowpane_redis::{By, Log, RedisLimiter, Store};

const DEADLINE: Duration = Duration::from_millis(50);
const KEY: &str = "k";

async fn pause(millis: u64) {
    tokio::time::sleep(Duration::from_millis(millis)).await;
}

fn limiter_of(store: &Store, quotas: &str) -> RedisLimiter<Log> {
    let options = RedisLimiter::builder(store.clone(), quotas).deny_cache(0);
    options.build().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slot_moves_under_load_without_an_outage() {
    let Some(nodes) = cluster() else { return };
    let url = nodes[0].url();
    let options = Store::at_cluster(&[&url]).unwrap().deadline(DEADLINE);
    let store = options.connect_within(support::AMPLE).await.unwrap();
    let limiter = limiter_of(&store, "1000000/60s");
    assert_eq!(limiter.decide(KEY, Cost::ONE).await.unwrap().by, By::Store);

    let load = Load::start(&limiter, KEY, 8);
    pause(200).await;
    let moving = Move::begin(&nodes, &limiter.key_in_store(KEY));
    pause(100).await;
    assert_eq!(moving.hand_over(), 1);
    // The old node owns the slot and answers ASK, call after call.
    let before = load.seen.allowed();
    pause(700).await;
    assert!(load.seen.allowed() > before + 50, "{:?}", load.seen);
    moving.end();
    pause(300).await;
    let seen = load.stop().await;

    let counts = store.stats();
    let lost = seen.unavailable();
    assert!(lost * 50 < seen.allowed(), "{seen:?} {counts:?}");
    assert!(seen.longest() < DEADLINE + SLACK, "{seen:?}");
    // Nothing is counted twice, and nothing is forgotten.
    let (used, sure) = (used(&limiter, KEY).await, seen.allowed() + 1);
    assert!((sure..=sure + lost).contains(&used), "{used} {seen:?}");
    let held: usize = nodes
        .iter()
        .map(|node| node.check_lives(Duration::from_secs(60)))
        .sum();
    assert_eq!(held, 1);
}

/// The old node never had these keys, so all calls to them are redirected, the first one, too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_quota_holds_while_its_slot_moves() {
    let Some(nodes) = cluster() else { return };
    let urls: Vec<String> = nodes.iter().map(Server::url).collect();
    let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
    let options = Store::at_cluster(&urls).unwrap().deadline(support::AMPLE);
    let store = options.connect_within(support::AMPLE).await.unwrap();
    let limiter = limiter_of(&store, "9/60s");
    let moving = Move::begin(&nodes, &limiter.key_in_store(KEY));
    let decide = async |times: usize| {
        let mut allowed = 0;
        for _ in 0..times {
            let decided = limiter.decide(KEY, Cost::ONE).await.unwrap();
            allowed += usize::from(decided.answer.detailed.is_allowed());
        }
        allowed
    };
    assert_eq!(decide(5).await, 5, "asked at the new node");
    let settled = limiter.try_acquire(KEY).await.unwrap();
    limiter.settle(KEY, settled, 3).await.unwrap();
    assert_eq!(moving.hand_over(), 0, "the old node has no such key");
    assert_eq!(decide(2).await, 1);
    moving.end();
    assert_eq!(decide(5).await, 0, "moved");
    limiter.reset(KEY).await.unwrap();
    assert_eq!(decide(12).await, 9);
}
