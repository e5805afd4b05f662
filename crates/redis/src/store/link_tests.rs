//! The connector, on addresses that tests make fail.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use tokio::runtime::Runtime;

use super::*;
use crate::forged::Server;
use crate::store::address::OnBreak;
use crate::store::endpoint::Endpoint;
use crate::store::options::PATIENCE;

const AMPLE: Duration = Duration::from_secs(10);

/// The address of `server`, before which each attempt runs `before`.
fn hooked(url: &str, before: impl Fn() + Send + Sync + 'static) -> Address {
    hooked_break(url, move |_| before())
}

/// The same, and `before` receives what is called when the new connection breaks.
fn hooked_break(url: &str, before: impl Fn(&OnBreak) + Send + Sync + 'static) -> Address {
    Address::Hooked(Arc::new(before), Box::new(server(url)))
}

fn server(url: &str) -> Address {
    Address::Server(Box::new(Endpoint::parse(url).unwrap()))
}

/// The connection breaks after it was made and before it is held.
#[tokio::test]
async fn a_connection_that_broke_early_is_not_shown_as_up() {
    let Some(server) = Server::start() else {
        return;
    };
    let attempts = AtomicU32::new(0);
    let address = hooked_break(&server.url(), move |on_break| {
        if attempts.fetch_add(1, Ordering::Relaxed) == 0 {
            on_break();
        }
    });
    let link = Link::open(address, PATIENCE);
    let reached = tokio::time::timeout(AMPLE, link.wait_until_up()).await;
    assert!(reached.is_ok(), "{:?}", link.held().err());
    let counts = link.counters.read();
    assert_eq!((counts.failed_attempts, counts.connections), (1, 1));
}

/// A waker that asks the link, as one may that runs on the thread that wakes.
struct Asks(Arc<Link>, mpsc::Sender<bool>);

impl Wake for Asks {
    fn wake(self: Arc<Self>) {
        let _ = self.1.send(self.0.held().is_ok());
    }
}

/// Under the lock it would wait for itself for ever.
#[test]
fn waiters_are_woken_outside_the_lock() {
    let Some(server) = Server::start() else {
        return;
    };
    let (go, wait) = mpsc::channel();
    let wait = Mutex::new(wait);
    let address = hooked(&server.url(), move || {
        wait.lock().unwrap().recv_timeout(AMPLE).unwrap();
    });
    let runtime = Runtime::new().unwrap();
    let link = runtime.block_on(async { Link::open(address, PATIENCE) });
    let (sender, woken) = mpsc::channel();
    let waker = Waker::from(Arc::new(Asks(link.clone(), sender)));
    let waiter = link.clone();
    let mut waiting = Box::pin(async move { waiter.wait_until_up().await });
    let mut context = Context::from_waker(&waker);
    assert!(waiting.as_mut().poll(&mut context).is_pending());
    go.send(()).unwrap();
    let woken = woken.recv_timeout(AMPLE);
    // A thread that waits for itself would not end.
    runtime.shutdown_timeout(Duration::from_millis(1));
    assert_eq!(woken, Ok(true));
}

#[tokio::test]
async fn a_panicking_attempt_to_connect_is_followed_by_another() {
    let Some(server) = Server::start() else {
        return;
    };
    let attempts = AtomicU32::new(0);
    let address = hooked(&server.url(), move || {
        if attempts.fetch_add(1, Ordering::Relaxed) < 2 {
            panic!("seeded");
        }
    });
    let link = Link::open(address, PATIENCE);
    let reached = tokio::time::timeout(AMPLE, link.wait_until_up()).await;
    assert!(reached.is_ok(), "{:?}", link.held().err());
    assert_eq!(link.counters.read().failed_attempts, 2);
}

#[tokio::test]
async fn a_panic_while_connecting_is_the_reason_returned() {
    let address = hooked("redis://127.0.0.1:1/", || panic!("seeded"));
    let link = Link::open(address, PATIENCE);
    let failed = async {
        while link.counters.read().failed_attempts == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    assert!(tokio::time::timeout(AMPLE, failed).await.is_ok());
    let reason = link.held().err().unwrap();
    assert!(reason.contains("seeded"), "{reason}");
}

/// The connector runs on the runtime that opened the store. It ends with that runtime; a call on
/// another runtime starts it again.
#[test]
fn a_connector_that_ended_is_started_by_the_next_call() {
    let Some(mut server) = Server::start() else {
        return;
    };
    server.kill();
    let first = Runtime::new().unwrap();
    let link = first.block_on(async { Link::open(self::server(&server.url()), PATIENCE) });
    drop(first);
    server.restart();
    let second = Runtime::new().unwrap();
    second.block_on(async {
        assert!(link.held().is_err());
        let reached = tokio::time::timeout(AMPLE, link.wait_until_up()).await;
        assert!(reached.is_ok(), "{:?}", link.held().err());
    });
}

#[test]
fn a_store_opened_outside_a_runtime_connects_at_a_call() {
    let Some(server) = Server::start() else {
        return;
    };
    let link = Link::open(self::server(&server.url()), PATIENCE);
    Runtime::new().unwrap().block_on(async {
        assert!(link.held().is_err());
        let reached = tokio::time::timeout(AMPLE, link.wait_until_up()).await;
        assert!(reached.is_ok(), "{:?}", link.held().err());
    });
}

/// Attempts from a first delay of 10 ms: at a constant delay there would be a hundred in a second.
#[tokio::test]
async fn attempts_to_connect_back_off() {
    let times = Arc::new(Mutex::new(Vec::new()));
    let address = hooked("redis://127.0.0.1:1/", {
        let times = times.clone();
        move || times.lock().unwrap().push(Instant::now())
    });
    let patience = Patience {
        reconnect: Backoff {
            first: Duration::from_millis(10),
            longest: AMPLE,
        },
        ..PATIENCE
    };
    let link = Link::open(address, patience);
    tokio::time::sleep(Duration::from_secs(1)).await;
    let times = times.lock().unwrap().clone();
    drop(link);
    assert!(times.len() > 3, "{}", times.len());
    for (attempt, pair) in times.windows(2).enumerate() {
        let least = Duration::from_millis(5) * 2_u32.pow(attempt as u32);
        assert!(
            pair[1] - pair[0] >= least,
            "attempt {attempt}: {:?}",
            pair[1] - pair[0]
        );
    }
}
