//! Costs after the fact: whatever happens to a response, each charge is settled once or stays.

mod common;

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::routing::get;
use axum::{Extension, Router};
use bytes::Bytes;
use common::wire::{Server, serve};
use common::{SECOND, Store, store};
use http::{HeaderName, Response, StatusCode};
use http_body::Frame;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::{Notify, mpsc};
use windowpane_core::Cost;
use windowpane_mutex_log::MutexLog;
use windowpane_tower::{
    End, Extracted, FromHeader, Meter, MissingKey, RateLimitBuilder, Used, from_fn,
};

type Log = Arc<Mutex<Vec<Used>>>;
type Paths = Arc<Store<String, MutexLog>>;

const LIMIT: u64 = 1000;
const ESTIMATE: u64 = 100;

/// A body whose chunks come from a channel.
struct Dripping(mpsc::Receiver<Result<Bytes, std::io::Error>>);

impl http_body::Body for Dripping {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
        self.0.poll_recv(context).map_ok(Frame::data)
    }
}

/// A service that settles by what its handlers report, else by the bytes sent; each path is a key.
struct Service {
    server: Server,
    store: Paths,
    log: Log,
}

impl Service {
    async fn new(routes: Router) -> Service {
        let (store, clock) = store::<String, MutexLog>(&["1000/60s"]);
        clock.set(SECOND);
        let log = Log::default();
        let seen = Arc::clone(&log);
        let by_path = from_fn(|request| Extracted::Key(request.uri.path().to_owned()));
        let layer = RateLimitBuilder::new(Arc::clone(&store), by_path)
            .cost(Cost::of::<ESTIMATE>())
            .settle(move |used| {
                seen.lock().unwrap().push(used.clone());
                used.metered().or(used.bytes_sent(1))
            })
            .build();
        let server = serve(routes.layer(layer)).await;
        Service { server, store, log }
    }

    /// What is charged on a path.
    fn charged(&self, path: &str) -> u64 {
        LIMIT - self.store.left(&path.to_owned())
    }

    /// The one settlement there is, once it is there.
    async fn settled(&self) -> Used {
        let patience = tokio::time::Instant::now() + Duration::from_secs(20);
        loop {
            if let [used] = &self.log.lock().unwrap()[..] {
                return used.clone();
            }
            assert!(tokio::time::Instant::now() < patience, "{:?}", self.log);
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Sends the head of a request and leaves the rest to the caller.
    async fn connect(&self, path: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.server.address).await.unwrap();
        let head = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        stream
    }
}

#[tokio::test]
async fn a_complete_response_is_settled_by_the_bytes_sent() {
    let service = Service::new(Router::new().route("/", get(|| async { "0123456789" }))).await;
    let response = service.server.get("/", &[]).await;
    assert_eq!(response.body(), "0123456789");
    let used = service.settled().await;
    assert_eq!(used.estimate.get(), ESTIMATE);
    assert_eq!(used.status, Some(StatusCode::OK));
    assert_eq!((used.bytes, used.end), (10, End::Complete));
    assert_eq!(service.charged("/"), 10);
    service.server.stop().await;
}

#[tokio::test]
async fn an_empty_response_and_one_to_head_have_sent_nothing() {
    let routes = Router::new()
        .route("/empty", get(|| async {}))
        .route("/", get(|| async { "0123456789" }));
    let service = Service::new(routes).await;
    let _ = service.server.get("/empty", &[]).await;
    assert_eq!(service.settled().await.end, End::Complete);
    assert_eq!(service.charged("/empty"), 0);
    service.log.lock().unwrap().clear();
    let response = service.server.open("HEAD", "/", &[]).await.unwrap();
    assert_eq!(common::read(response).await.body(), "");
    assert_eq!(service.settled().await.bytes, 0);
    assert_eq!(service.charged("/"), 0);
    service.server.stop().await;
}

#[tokio::test]
async fn what_a_handler_reports_while_it_streams_is_what_it_cost() {
    let stream = |Extension(meter): Extension<Meter>| async move {
        let (send, body) = mpsc::channel(1);
        tokio::spawn(async move {
            for tokens in [3, 4, 5] {
                meter.add(tokens);
                send.send(Ok(Bytes::from("chunk"))).await.unwrap();
            }
        });
        Response::new(Body::new(Dripping(body)))
    };
    let service = Service::new(Router::new().route("/", get(stream))).await;
    let response = service.server.get("/", &[]).await;
    assert_eq!(response.body(), "chunkchunkchunk");
    let used = service.settled().await;
    assert_eq!(
        (used.metered, used.bytes, used.end),
        (Some(12), 15, End::Complete)
    );
    assert_eq!(service.charged("/"), 12);
    service.server.stop().await;
}

#[tokio::test]
async fn a_client_that_leaves_in_the_middle_of_a_body_is_charged_what_was_sent() {
    let sender = Arc::new(Mutex::new(None));
    let kept = Arc::clone(&sender);
    let stream = move || async move {
        let (send, body) = mpsc::channel(1);
        send.send(Ok(Bytes::from("first chunk"))).await.unwrap();
        *kept.lock().unwrap() = Some(send);
        Response::new(Body::new(Dripping(body)))
    };
    let service = Service::new(Router::new().route("/", get(stream))).await;
    let mut client = service.connect("/").await;
    let mut seen = Vec::new();
    while !String::from_utf8_lossy(&seen).contains("first chunk") {
        assert_ne!(client.read_buf(&mut seen).await.unwrap(), 0);
    }
    assert_eq!(service.charged("/"), ESTIMATE, "settled while it streams");
    drop(client);
    let used = service.settled().await;
    assert_eq!((used.bytes, used.end), (11, End::Dropped));
    assert_eq!(service.charged("/"), 11);
    service.server.stop().await;
}

#[tokio::test]
async fn a_client_that_leaves_before_the_response_stays_charged() {
    let begun = Arc::new(Notify::new());
    let begin = Arc::clone(&begun);
    let forever = move || async move {
        begin.notify_one();
        std::future::pending::<()>().await;
    };
    let service = Service::new(Router::new().route("/", get(forever))).await;
    let client = service.connect("/").await;
    begun.notified().await;
    drop(client);
    let used = service.settled().await;
    assert_eq!((used.status, used.end), (None, End::NoResponse));
    assert_eq!(service.charged("/"), ESTIMATE);
    service.server.stop().await;
}

#[tokio::test]
async fn a_panicking_handler_is_settled_by_what_it_had_reported_or_stays_charged() {
    let routes = Router::new()
        .route(
            "/silent",
            get(|| async { panic!("a handler's own fault") as () }),
        )
        .route(
            "/metered",
            get(|Extension(meter): Extension<Meter>| async move {
                meter.add(7);
                panic!("a handler's own fault") as ()
            }),
        );
    let service = Service::new(routes).await;
    for (path, charged) in [("/silent", ESTIMATE), ("/metered", 7)] {
        service.log.lock().unwrap().clear();
        let failed = service.server.open("GET", path, &[]).await;
        assert!(failed.is_err(), "the connection is closed");
        assert_eq!(service.settled().await.end, End::NoResponse);
        assert_eq!(service.charged(path), charged);
    }
    // And the layer goes on.
    let response = service.server.get("/nowhere", &[]).await;
    assert_eq!(response.status(), StatusCode::NOT_FOUND);
    service.server.stop().await;
}

#[tokio::test]
async fn a_body_that_fails_is_settled_by_what_was_sent() {
    let failing = || async {
        let (send, body) = mpsc::channel(2);
        send.send(Ok(Bytes::from("part"))).await.unwrap();
        send.send(Err(std::io::Error::other("the source went away")))
            .await
            .unwrap();
        Response::new(Body::new(Dripping(body)))
    };
    let service = Service::new(Router::new().route("/", get(failing))).await;
    let _ = service.server.open("GET", "/", &[]).await;
    let used = service.settled().await;
    assert_eq!((used.bytes, used.end), (4, End::Failed));
    assert_eq!(service.charged("/"), 4);
    service.server.stop().await;
}

#[tokio::test]
async fn a_graceful_shutdown_waits_for_what_was_begun_and_settles_it() {
    let (send, body) = mpsc::channel(1);
    let body = Arc::new(Mutex::new(Some(body)));
    let stream = move || async move {
        let body = body.lock().unwrap().take().unwrap();
        Response::new(Body::new(Dripping(body)))
    };
    let mut service = Service::new(Router::new().route("/", get(stream))).await;
    let mut client = service.connect("/").await;
    send.send(Ok(Bytes::from("before"))).await.unwrap();
    let mut seen = Vec::new();
    while !String::from_utf8_lossy(&seen).contains("before") {
        assert_ne!(client.read_buf(&mut seen).await.unwrap(), 0);
    }
    service.server.begin_stop();
    send.send(Ok(Bytes::from("after"))).await.unwrap();
    drop(send);
    client.read_to_end(&mut seen).await.unwrap();
    assert!(String::from_utf8_lossy(&seen).contains("after"));
    let used = service.settled().await;
    assert_eq!((used.bytes, used.end), (11, End::Complete));
    assert_eq!(service.charged("/"), 11);
    service.server.stop().await;
}

#[test]
fn a_runtime_that_is_dropped_settles_what_it_drops() {
    let (store, _) = store::<String, MutexLog>(&["1000/60s"]);
    let log = Log::default();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let seen = Arc::clone(&log);
    let begun = Arc::new(Notify::new());
    let begin = Arc::clone(&begun);
    let by_path = from_fn(|request| Extracted::Key(request.uri.path().to_owned()));
    let layer = RateLimitBuilder::new(store, by_path)
        .settle(move |used| {
            seen.lock().unwrap().push(used.clone());
            None
        })
        .build();
    let forever = move || async move {
        begin.notify_one();
        std::future::pending::<()>().await;
    };
    let app = Router::new().route("/", get(forever)).layer(layer);
    runtime.spawn(async move {
        let request = http::Request::new(Body::empty());
        let response: Result<_, Infallible> = tower::ServiceExt::oneshot(app, request).await;
        drop(response);
    });
    runtime.block_on(begun.notified());
    drop(runtime);
    let ends: Vec<End> = log.lock().unwrap().iter().map(|used| used.end).collect();
    assert_eq!(ends, [End::NoResponse]);
}

#[tokio::test]
async fn denied_requests_settle_nothing_and_uncounted_ones_still_have_a_meter() {
    let (store, _) = store::<String, MutexLog>(&["1/60s"]);
    let log = Log::default();
    let seen = Arc::clone(&log);
    let layer = RateLimitBuilder::new(store, FromHeader::new(HeaderName::from_static("x-api-key")))
        .missing_key(MissingKey::Allow)
        .settle(move |used| {
            seen.lock().unwrap().push(used.clone());
            used.metered()
        })
        .build();
    // Without a meter this handler would answer 500.
    let app = Router::new()
        .route(
            "/",
            get(|Extension(meter): Extension<Meter>| async move { meter.add(1) }),
        )
        .layer(layer);
    let server = serve(app).await;
    let key = [(HeaderName::from_static("x-api-key"), &b"alpha"[..])];
    let statuses = [
        server.get("/", &key).await.status().as_u16(),
        server.get("/", &key).await.status().as_u16(),
        server.get("/", &[]).await.status().as_u16(),
    ];
    assert_eq!(statuses, [200, 429, 200]);
    assert_eq!(log.lock().unwrap().len(), 1);
    server.stop().await;
}
