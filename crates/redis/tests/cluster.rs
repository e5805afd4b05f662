//! Three nodes of a cluster, one of which is lost.

#![cfg(feature = "cluster")]

mod support;

use std::time::{Duration, Instant};

use support::cluster::{cluster, knows_all};
use support::{SLACK, Server, quotas};
use windowpane_core::{Cost, StoreError};
use windowpane_redis::{By, Log, RedisLimiter, Store, TwoCounter};

const DEADLINE: Duration = Duration::from_millis(50);

/// Whether each key is served by the store now; none takes longer than the deadline.
async fn served(limiter: &RedisLimiter<Log>, keys: &[String]) -> Vec<bool> {
    let mut served = Vec::new();
    for key in keys {
        let start = Instant::now();
        let decided = limiter.decide(key, Cost::ONE).await;
        let took = start.elapsed();
        assert!(took < DEADLINE + SLACK, "{took:?} {decided:?}");
        served.push(match decided {
            Ok(decided) => {
                assert_eq!(decided.by, By::Store);
                true
            }
            Err(StoreError::Unavailable { .. }) => false,
            Err(error) => panic!("{error}"),
        });
    }
    served
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_node_makes_only_its_keys_unavailable() {
    let Some(mut nodes) = cluster() else { return };
    let urls: Vec<String> = nodes.iter().map(Server::url).collect();
    let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
    let options = Store::at_cluster(&urls).unwrap();
    let store = options.connect_within(support::AMPLE).await.unwrap();
    let limiter = RedisLimiter::<Log>::builder(store.clone(), ["9/60s", "9req/50s"]);
    let limiter = limiter.deny_cache(0).build().unwrap();
    let keys: Vec<String> = (0..30).map(|i| format!("key {i}")).collect();
    // A busy machine may need more than one go to open all connections within the deadline.
    let start = Instant::now();
    while !served(&limiter, &keys).await.iter().all(|served| *served) {
        assert!(
            start.elapsed() < Duration::from_secs(10),
            "{:?}",
            store.stats()
        );
    }
    let held: Vec<usize> = nodes
        .iter()
        .map(|n| n.check_lives(Duration::from_secs(60)))
        .collect();
    assert!(
        held.iter().all(|held| *held > 0),
        "all nodes hold some: {held:?}"
    );

    nodes[2].kill();
    // The others were served meanwhile; a moment's timeout on a busy machine is not what counts.
    let mut often = vec![0; keys.len()];
    for _ in 0..20 {
        tokio::time::sleep(Duration::from_millis(50)).await;
        let during = served(&limiter, &keys).await;
        often
            .iter_mut()
            .zip(during)
            .for_each(|(often, served)| *often += u32::from(served));
    }
    let lost = often.iter().filter(|often| **often == 0).count();
    assert_eq!(lost, held[2], "the keys of that node alone: {often:?}");

    nodes[2].restart();
    while !knows_all(&nodes[2]) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let back = Instant::now();
    let recovered = loop {
        if served(&limiter, &keys).await.iter().all(|served| *served) {
            break back.elapsed();
        }
        assert!(
            back.elapsed() < Duration::from_secs(10),
            "it does not heal: {:?}",
            store.stats()
        );
    };
    assert!(recovered < Duration::from_secs(1), "{recovered:?}");
    // Denied at their limit, as ever: each key was asked 9 times at least and has 9.
    for _ in 0..9 {
        served(&limiter, &keys).await;
    }
    let decided = limiter.decide(&keys[0], Cost::ONE).await.unwrap();
    assert!(!decided.answer.detailed.is_allowed());
    for node in &nodes {
        node.check_lives(Duration::from_secs(60));
    }
}

/// A node that hangs does not cost the other nodes their connection.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hanging_node_makes_only_its_keys_unavailable() {
    let Some(nodes) = cluster() else { return };
    let urls: Vec<String> = nodes.iter().map(Server::url).collect();
    let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
    let options = Store::at_cluster(&urls).unwrap().deadline(DEADLINE);
    let store = options.connect_within(support::AMPLE).await.unwrap();
    let limiter = RedisLimiter::<Log>::builder(store.clone(), "1000/60s");
    let limiter = limiter.deny_cache(0).build().unwrap();
    let keys: Vec<String> = (0..12).map(|i| format!("key {i}")).collect();
    let start = Instant::now();
    while !served(&limiter, &keys).await.iter().all(|served| *served) {
        assert!(start.elapsed() < Duration::from_secs(10));
    }
    let held = nodes[2].check_lives(Duration::from_secs(60));
    assert!(held > 0 && held < keys.len());

    nodes[2].suspend();
    let dropped = store.stats().dropped;
    // More calls without an answer, one after the other, than a server is forgiven.
    let mut hung = Vec::new();
    for (key, served) in keys.iter().zip(served(&limiter, &keys).await) {
        if !served {
            hung.push(key.clone());
        }
    }
    assert!(!hung.is_empty());
    for _ in 0..8 {
        let served = served(&limiter, &hung[..1]).await;
        assert_eq!(served, [false]);
    }
    assert!(store.is_connected());
    let mut others = 0;
    for key in keys.iter().filter(|key| !hung.contains(key)) {
        others += usize::from(served(&limiter, std::slice::from_ref(key)).await[0]);
    }
    assert!(others > 0, "the others go on: {:?}", store.stats());
    assert_eq!(store.stats().dropped, dropped);

    nodes[2].resume();
    let back = Instant::now();
    while !served(&limiter, &keys).await.iter().all(|served| *served) {
        assert!(
            back.elapsed() < Duration::from_secs(10),
            "it does not heal: {:?}",
            store.stats()
        );
    }
}

/// Scripts reach the node of their key, whichever knows them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_node_learns_the_scripts() {
    let Some(nodes) = cluster() else { return };
    let url = nodes[0].url();
    let options = Store::at_cluster(&[&url]).unwrap().deadline(support::AMPLE);
    let store = options.connect_within(support::AMPLE).await.unwrap();
    let limiter = RedisLimiter::<TwoCounter>::new(store.clone(), quotas(&["2/60s"])).unwrap();
    for round in 0..3 {
        for i in 0..30 {
            let decided = limiter.decide(&format!("{i}"), Cost::ONE).await.unwrap();
            assert_eq!(decided.answer.detailed.is_allowed(), round < 2);
        }
    }
    assert_eq!(store.stats().scripts_sent, 3, "once a node");
    for node in &nodes {
        node.check_lives(Duration::from_secs(60));
    }
}
