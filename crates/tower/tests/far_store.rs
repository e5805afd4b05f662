//! A store that answers later: settled on another task, asked by the key's text.

mod common;

use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use common::{by_peer, request, send, store};
use http::StatusCode;
use tokio::sync::Notify;
use tokio::task::yield_now;
use windowpane_core::{
    Answer, AsyncKeyedRateLimiter, AsyncKeyedSettle, Charge, Cost, KeyedRateLimiter, KeyedSettle,
    Quotas, StoreError,
};
use windowpane_mutex_log::MutexLog;
use windowpane_tower::{ByText, RateLimitBuilder};

/// A store that is asked by text and takes its time.
#[derive(Clone)]
struct Far(Arc<common::Store<String, MutexLog>>);

impl AsyncKeyedRateLimiter<str> for Far {
    fn quotas(&self, key: &str) -> Quotas {
        self.0.quotas(&key.to_owned())
    }

    async fn decide_detailed(&self, key: &str, cost: Cost) -> Result<Answer, StoreError> {
        yield_now().await;
        self.0.decide_detailed(&key.to_owned(), cost)
    }
}

impl AsyncKeyedSettle<str> for Far {
    async fn settle(&self, key: &str, charge: Charge, actual: u64) -> Result<(), StoreError> {
        yield_now().await;
        self.0.settle(&key.to_owned(), charge, actual);
        Ok(())
    }
}

/// A store that has decided, and whose answer never comes.
#[derive(Clone)]
struct Lost(Far, Arc<Notify>);

impl AsyncKeyedRateLimiter<str> for Lost {
    fn quotas(&self, key: &str) -> Quotas {
        self.0.quotas(key)
    }

    async fn decide_detailed(&self, key: &str, cost: Cost) -> Result<Answer, StoreError> {
        let _ = self.0.decide_detailed(key, cost).await;
        self.1.notify_one();
        std::future::pending().await
    }
}

impl AsyncKeyedSettle<str> for Lost {
    async fn settle(&self, key: &str, charge: Charge, actual: u64) -> Result<(), StoreError> {
        self.0.settle(key, charge, actual).await
    }
}

#[tokio::test]
async fn a_client_that_leaves_while_the_store_decides_stays_charged_and_nothing_is_settled() {
    let (store, _) = store::<String, MutexLog>(&["10/60s"]);
    let decided = Arc::new(Notify::new());
    let settled = Arc::new(Mutex::new(0));
    let count = Arc::clone(&settled);
    let lost = Lost(Far(Arc::clone(&store)), Arc::clone(&decided));
    let layer = RateLimitBuilder::remote(ByText(lost), by_peer())
        .cost(Cost::of::<4>())
        .settle_on(
            |_| panic!("the handler was never called, so nothing was used"),
            move |_| *count.lock().unwrap() += 1,
        )
        .build();
    let client = "192.0.2.1";
    let asking = tokio::spawn(async move { send(&layer, request(client, &[])).await });
    decided.notified().await;
    // A server drops the future of a client that has left.
    asking.abort();
    assert!(asking.await.unwrap_err().is_cancelled());
    assert_eq!(store.left(&client.to_owned()), 6);
    assert_eq!(*settled.lock().unwrap(), 0);
}

#[tokio::test]
async fn it_is_asked_by_text_and_settled_on_a_task_of_its_own() {
    let (store, _) = store::<String, MutexLog>(&["10/60s"]);
    let tasks = Arc::new(Mutex::new(Vec::new()));
    let spawned = Arc::clone(&tasks);
    let layer = RateLimitBuilder::remote(ByText(Far(Arc::clone(&store))), by_peer())
        .cost(Cost::of::<4>())
        .settle_on(
            |used| used.bytes_sent(2),
            move |settling| spawned.lock().unwrap().push(tokio::spawn(settling)),
        )
        .build();
    let client: IpAddr = "2001:db8:0:1::7".parse().unwrap();
    // A response of 2 bytes costs 1, so what was estimated at 4 leaves room for many.
    for left in [9, 8, 7, 6] {
        let response = send(&layer, request(&client.to_string(), &[])).await;
        assert_eq!(response.status(), StatusCode::OK);
        let settling: Vec<_> = std::mem::take(&mut *tasks.lock().unwrap());
        assert_eq!(settling.len(), 1);
        for task in settling {
            task.await.unwrap();
        }
        assert_eq!(store.left(&"2001:db8:0:1::".to_owned()), left);
    }
}
