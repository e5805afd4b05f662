//! Leases on a server.

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use support::{Server, store};
use windowpane_core::AcquireError;
use windowpane_redis::{By, ConfigError, Leased, Leases};

const WINDOW: Duration = Duration::from_secs(1);
const LIFE: Duration = Duration::from_millis(100);

async fn leased(server: &Server, quotas: &str) -> Leased {
    let store = store(&server.url()).await;
    Leases::new(store, quotas, LIFE).unwrap().of("hot")
}

/// Spends as fast as it can until told to stop; returns when.
async fn spend(leased: Leased, stop: Arc<AtomicBool>) -> Vec<Instant> {
    let mut spent = Vec::new();
    while !stop.load(Ordering::SeqCst) {
        let before = Instant::now();
        match leased.try_acquire().await {
            Ok(_) => spent.push(before),
            Err(AcquireError::Denied(denied)) => {
                let wait = denied.retry_after().min(Duration::from_millis(5));
                tokio::time::sleep(wait).await;
            }
            Err(AcquireError::Unavailable { .. }) => tokio::time::sleep(LIFE / 10).await,
            Err(error) => panic!("{error}"),
        }
    }
    spent
}

/// Three clients, of which one stops in the middle and keeps what it holds.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_with_leases_keep_the_quota_in_any_window() {
    let Some(server) = Server::start() else {
        return;
    };
    const LIMIT: usize = 2_000;
    let (stop, stop_one) = (Arc::<AtomicBool>::default(), Arc::<AtomicBool>::default());
    let mut tasks = Vec::new();
    for i in 0..3 {
        let stop = if i == 0 { &stop_one } else { &stop }.clone();
        let leased = leased(&server, "2000/1s").await;
        tasks.push((leased.clone(), tokio::spawn(spend(leased, stop))));
    }
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    stop_one.store(true, Ordering::SeqCst);
    tokio::time::sleep(Duration::from_millis(2_000)).await;
    stop.store(true, Ordering::SeqCst);
    let (mut spent, mut calls) = (Vec::new(), 0);
    for (leased, task) in tasks {
        spent.extend(task.await.unwrap());
        calls += leased.counts().1;
    }
    spent.sort();
    for (i, start) in spent.iter().enumerate() {
        let within = spent[i..].iter().take_while(|at| **at - *start < WINDOW);
        let within = within.count();
        assert!(within <= LIMIT, "{within}");
    }
    // Three and a half windows, of which the first is whole.
    assert!(spent.len() > 2 * LIMIT, "{}", spent.len());
    assert!(calls < spent.len() as u64 / 5, "{calls} {}", spent.len());
    server.check_lives(WINDOW + LIFE);
}

#[tokio::test]
async fn what_is_left_of_a_lease_is_returned() {
    let Some(server) = Server::start() else {
        return;
    };
    let (one, other) = (
        leased(&server, "80/60s").await,
        leased(&server, "80/60s").await,
    );
    // Batches of 1, 2, 4 and 8 permits.
    let mut by = Vec::new();
    for _ in 0..8 {
        by.push(one.decide(1).await.unwrap().1);
    }
    assert_eq!(
        by.iter().filter(|by| **by == By::Store).count(),
        4,
        "{by:?}"
    );
    assert_eq!(by[7], By::Store);
    // 15 are charged and 8 spent. The others come back at the end of the life, or at once.
    assert!(other.try_acquire_many(70).await.is_err());
    one.close().await;
    // A denial holds for a quarter of the life.
    tokio::time::sleep(LIFE / 3).await;
    assert!(other.try_acquire_many(70).await.is_ok());
    assert!(other.try_acquire_many(3).await.is_err());
    assert!(other.try_acquire_many(2).await.is_ok());
}

#[tokio::test]
async fn an_idle_process_returns_its_lease_by_itself() {
    let Some(server) = Server::start() else {
        return;
    };
    let (one, other) = (
        leased(&server, "80/60s").await,
        leased(&server, "80/60s").await,
    );
    for _ in 0..8 {
        one.try_acquire().await.unwrap();
    }
    let start = Instant::now();
    while other.try_acquire_many(72).await.is_err() {
        assert!(start.elapsed() < support::AMPLE, "not returned");
        tokio::time::sleep(LIFE / 10).await;
    }
    assert!(other.try_acquire().await.is_err(), "80 are spent");
}

#[tokio::test]
async fn what_cannot_be_leased_is_an_error() {
    let Some(server) = Server::start() else {
        return;
    };
    let store = store(&server.url()).await;
    for (quotas, life) in [
        ("5req/1s", LIFE),
        ("0/1s", LIFE),
        ("5/1s", Duration::from_millis(9)),
        ("5/1s", 2 * WINDOW),
        ("5/365d", LIFE),
    ] {
        let error = Leases::new(store.clone(), quotas, life).unwrap_err();
        assert!(
            matches!(error, ConfigError::Lease { .. }),
            "{quotas} {error}"
        );
    }
    let leased = Leases::new(store, "5/1s", LIFE).unwrap().of("k");
    let error = leased.try_acquire_many(6).await.unwrap_err();
    assert!(matches!(error, AcquireError::NeverFits { .. }), "{error}");
    let error = leased.try_acquire_many(0).await.unwrap_err();
    assert_eq!(error, AcquireError::ZeroCost);
}
