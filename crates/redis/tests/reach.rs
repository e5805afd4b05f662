//! Servers that are not a plain one with a fixed password.

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

use support::proxy::Proxy;
use support::sentinel::Sentinel;
use support::{AMPLE, Server, until_the_store_decides};
use windowpane_core::Cost;
use windowpane_redis::{By, Credentials, Log, RedisLimiter, Store, StoreOptions};

async fn connect(options: StoreOptions) -> RedisLimiter<Log> {
    let store = options.deadline(AMPLE).connect_within(AMPLE).await.unwrap();
    let limiter = RedisLimiter::builder(store, "1000/60s").deny_cache(0);
    limiter.build().unwrap()
}

async fn decides(limiter: &RedisLimiter<Log>) {
    let decided = limiter.decide("k", Cost::ONE).await.unwrap();
    assert_eq!(decided.by, By::Store);
}

/// The protocols of the clients of `server`, as it lists them, but for the one that asks.
fn protocols(server: &Server) -> Vec<String> {
    let mut connection = server.connection();
    let mut list = redis::cmd("CLIENT");
    let list: String = list.arg("LIST").query(&mut connection).unwrap();
    let others = list
        .lines()
        .filter(|line| !line.contains("cmd=client|list"));
    let protocol = |line: &str| line.rsplit_once("resp=").unwrap().1[..1].to_owned();
    others.map(protocol).collect()
}

#[tokio::test]
async fn the_protocol_of_the_address_is_used() {
    let Some(server) = Server::start() else {
        return;
    };
    for (query, protocol) in [("", "3"), ("?protocol=resp2", "2"), ("?protocol=3", "3")] {
        let limiter = connect(Store::at(&format!("{}{query}", server.url())).unwrap()).await;
        decides(&limiter).await;
        assert_eq!(protocols(&server), [protocol], "{query}");
        drop(limiter);
        while !protocols(&server).is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

#[tokio::test]
async fn a_server_without_hello_is_reached_by_protocol_2() {
    let Some(server) = Server::start_with(&["--rename-command", "HELLO", ""]) else {
        return;
    };
    let limiter = connect(Store::at(&server.url()).unwrap()).await;
    decides(&limiter).await;
    assert_eq!(protocols(&server), ["2"]);
    // Protocol 3 was asked for by name.
    let named = Store::at(&format!("{}?protocol=3", server.url())).unwrap();
    let error = named.connect_within(Duration::from_millis(500)).await;
    assert!(error.unwrap_err().reason.contains("HELLO"));
}

/// With protocol 2 nothing reports that a connection broke; the heartbeat finds out.
#[tokio::test]
async fn a_server_lost_while_idle_is_not_shown_as_connected() {
    let Some(mut server) = Server::start() else {
        return;
    };
    let address = format!("{}?protocol=2", server.url());
    let limiter = connect(Store::at(&address).unwrap()).await;
    assert!(limiter.store().health().is_ok());
    server.kill();
    let lost = async {
        while limiter.store().is_connected() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    assert!(tokio::time::timeout(AMPLE, lost).await.is_ok());
    assert!(limiter.store().health().not_connected.is_some());
    server.restart();
    until_the_store_decides(&limiter).await;
}

/// A server that hangs breaks nothing.
#[tokio::test]
async fn a_server_that_hangs_while_idle_is_not_shown_as_connected() {
    let Some(server) = Server::start() else {
        return;
    };
    let limiter = connect(Store::at(&server.url()).unwrap().deadline(AMPLE)).await;
    // A short deadline, so that the heartbeat ends soon.
    let options = Store::at(&server.url()).unwrap();
    let store = options.connect_within(AMPLE).await.unwrap();
    server.suspend();
    let lost = async {
        while store.is_connected() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let found = tokio::time::timeout(AMPLE, lost).await;
    server.resume();
    assert!(found.is_ok());
    decides(&limiter).await;
}

#[tokio::test]
async fn rotated_credentials_are_asked_for_at_each_connect() {
    let Some(server) = Server::start() else {
        return;
    };
    let set = |password: &str| {
        let mut acl = redis::cmd("ACL");
        acl.arg("SETUSER").arg("bob").arg(&["on", "resetpass"]);
        acl.arg(format!(">{password}")).arg(&["~*", "+@all"]);
        let _: () = acl.query(&mut server.connection()).unwrap();
    };
    set("first");
    let passwords = ["first", "second"];
    let (now, asked) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicU32::new(0)));
    let provider = {
        let (now, asked) = (now.clone(), asked.clone());
        move || {
            asked.fetch_add(1, Ordering::SeqCst);
            let password = passwords[now.load(Ordering::SeqCst)];
            async move { Ok(Credentials::new("bob", password)) }
        }
    };
    let limiter = connect(Store::at(&server.url()).unwrap().credentials(provider)).await;
    decides(&limiter).await;
    assert_eq!(asked.load(Ordering::SeqCst), 1);

    set("second");
    let mut kill = redis::cmd("CLIENT");
    kill.arg("KILL").arg("USER").arg("bob");
    let _: i64 = kill.query(&mut server.connection()).unwrap();
    tokio::time::sleep(Duration::from_millis(300)).await;
    let health = limiter.store().health();
    assert!(health.not_connected.is_some(), "{health:?}");
    now.store(1, Ordering::SeqCst);
    until_the_store_decides(&limiter).await;
    assert!(asked.load(Ordering::SeqCst) >= 3);
}

#[tokio::test]
async fn a_provider_without_credentials_is_the_reason_returned() {
    let Some(server) = Server::start() else {
        return;
    };
    let options = Store::at(&server.url()).unwrap();
    let options = options.credentials(|| async { Err("the vault is sealed".into()) });
    let error = options.connect_within(Duration::from_millis(500)).await;
    let reason = error.unwrap_err().reason;
    assert!(reason.contains("the vault is sealed"), "{reason}");
}

/// A connection of the caller's own, that is cut and of no use afterwards.
#[tokio::test]
async fn a_given_connection_decides_until_it_breaks() {
    let Some(server) = Server::start() else {
        return;
    };
    let proxy = Proxy::before(server.port()).await;
    let client = redis::Client::open(proxy.url()).unwrap();
    let connection = client.get_multiplexed_async_connection().await.unwrap();
    let limiter = connect(Store::over(connection)).await;
    decides(&limiter).await;
    decides(&limiter).await;
    proxy.cut_after(0);
    assert!(limiter.decide("k", Cost::ONE).await.is_err());
    assert!(!limiter.store().is_connected());
    assert!(
        limiter.decide("k", Cost::ONE).await.is_err(),
        "it ends at once"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failover_by_sentinel_leads_to_the_new_primary() {
    let Some(mut primary) = Server::start() else {
        return;
    };
    let port = primary.port().to_string();
    let replica = Server::start_with(&["--replicaof", "127.0.0.1", &port]).unwrap();
    let sentinel = Sentinel::of(&primary, &replica);
    let sentinels = ["redis://127.0.0.1:1/", &sentinel.url()];
    let unknown = Store::at_sentinel(&sentinels, "other", "redis://primary/").unwrap();
    let error = unknown.connect_within(Duration::from_secs(1)).await;
    let reason = error.unwrap_err().reason;
    assert!(reason.contains("other"), "{reason}");

    let options = Store::at_sentinel(&sentinels, "quotas", "redis://primary/").unwrap();
    let limiter = connect(options).await;
    decides(&limiter).await;
    assert_eq!(primary.check_lives(Duration::from_secs(60)), 1);
    primary.kill();
    let start = std::time::Instant::now();
    loop {
        let decided = limiter.decide("k", Cost::ONE).await;
        if decided.is_ok_and(|decided| decided.by == By::Store) {
            break;
        }
        assert!(
            start.elapsed() < Duration::from_secs(30),
            "{:?}",
            limiter.store().health()
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(replica.check_lives(Duration::from_secs(60)) >= 1);
}
