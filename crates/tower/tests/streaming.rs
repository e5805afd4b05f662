//! Charges while a response streams, reservations that expire, and estimates that learn.

mod common;

use std::convert::Infallible;
use std::future::{Future, ready};
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use common::{SECOND, Store, by_peer, on_tokio, request, store_on};
use http::{Request, Response};
use http_body::{Body, Frame};
use http_body_util::{BodyExt, Empty};
use tokio::sync::{Notify, mpsc};
use tower::{Layer, ServiceExt};
use windowpane_core::Cost;
use windowpane_core::clock::ManualClock;
use windowpane_core::wait::Timer;
use windowpane_mutex_log::MutexLog;
use windowpane_tower::{
    FromHeader, LearnedCost, Limit, Meter, RateLimitBuilder, RateLimitLayer, ResponseBody,
};

const CLIENT: &str = "192.0.2.1";

/// A body whose frames a test sends.
struct Frames(mpsc::UnboundedReceiver<&'static str>);

impl Body for Frames {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0
            .poll_recv(context)
            .map(|text| text.map(|text| Ok(Frame::data(Bytes::from(text)))))
    }
}

/// A timer that a test lets go off.
struct ByHand(Arc<Notify>);

impl Timer for ByHand {
    fn sleep(&self, _: Duration) -> impl Future<Output = ()> + Send {
        let notify = Arc::clone(&self.0);
        async move { notify.notified().await }
    }
}

type Tokens = Arc<Store<IpAddr, MutexLog>>;

fn tokens() -> Tokens {
    store_on(&["10000/60s"], Arc::new(ManualClock::new(SECOND)))
}

fn left(store: &Tokens) -> u64 {
    store.left(&CLIENT.parse().unwrap())
}

/// The response to a request through the layer, and where the test sends its frames.
async fn open(
    layer: &RateLimitLayer,
) -> (
    Response<ResponseBody<Frames>>,
    mpsc::UnboundedSender<&'static str>,
    Meter,
) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let (meters, mut meter) = mpsc::unbounded_channel();
    let receiver = Arc::new(std::sync::Mutex::new(Some(receiver)));
    let service = layer.layer(tower::service_fn(move |request: Request<Empty<Bytes>>| {
        let _ = meters.send(request.extensions().get::<Meter>().unwrap().clone());
        let body = Frames(receiver.lock().unwrap().take().unwrap());
        ready(Ok::<_, Infallible>(Response::new(body)))
    }));
    let response = service.oneshot(request(CLIENT, &[])).await.unwrap();
    (response, sender, meter.try_recv().unwrap())
}

async fn frame(body: &mut ResponseBody<Frames>) -> Option<Bytes> {
    let frame = body.frame().await?;
    frame.unwrap().into_data().ok()
}

#[test]
fn a_stream_is_charged_as_it_comes() {
    on_tokio(|| async {
        let store = tokens();
        // The client said `max_tokens=1`.
        let layer = RateLimitBuilder::new(Arc::clone(&store), by_peer())
            .settle(|used| used.metered())
            .charge_while_streaming(100)
            .build();
        let (response, frames, meter) = open(&layer).await;
        let mut body = response.into_body();
        assert_eq!(left(&store), 9_999);
        let mut charged = 1;
        for sent in 1..=11 {
            meter.add(101);
            frames.send("word ").unwrap();
            assert!(frame(&mut body).await.is_some());
            let used = 101 * sent;
            charged = if used >= charged + 100 { used } else { charged };
            assert_eq!(left(&store), 10_000 - charged, "after {used}");
        }
        // Below the step.
        meter.set(1_110);
        meter.add(50);
        frames.send("end").unwrap();
        assert!(frame(&mut body).await.is_some());
        assert_eq!(left(&store), 10_000 - 1_111);
        meter.set(1_110);
        drop(frames);
        assert!(frame(&mut body).await.is_none());
        assert_eq!(left(&store), 10_000 - 1_110);
    });
}

#[test]
fn a_reservation_expires_while_a_response_hangs() {
    on_tokio(|| async {
        let store = tokens();
        let over = Arc::new(Notify::new());
        let layer = RateLimitBuilder::new(Arc::clone(&store), by_peer())
            .cost(Cost::of::<5_000>())
            .settle(|used| used.bytes_sent(1))
            .reserve_for(Duration::from_secs(30), ByHand(Arc::clone(&over)))
            .build();
        let (response, frames, _) = open(&layer).await;
        let mut body = response.into_body();
        frames.send("four").unwrap();
        assert!(frame(&mut body).await.is_some());
        assert_eq!(left(&store), 5_000);
        over.notify_one();
        // The server waits for a frame that does not come.
        tokio::select! {
            biased;
            _ = frame(&mut body) => panic!("no frame was sent"),
            () = tokio::task::yield_now() => {}
        }
        assert_eq!(left(&store), 9_996);
        frames.send("sixsix").unwrap();
        assert!(frame(&mut body).await.is_some());
        assert_eq!(left(&store), 9_990);
        drop(body);
        assert_eq!(left(&store), 9_990);
    });
}

#[test]
fn a_reservation_expires_before_there_is_a_response() {
    on_tokio(|| async {
        let store = tokens();
        let over = Arc::new(Notify::new());
        let layer = RateLimitBuilder::new(Arc::clone(&store), by_peer())
            .cost(Cost::of::<5_000>())
            .settle(|used| used.metered())
            .reserve_for(Duration::from_secs(30), ByHand(Arc::clone(&over)))
            .build();
        let service = layer.layer(tower::service_fn(|_: Request<Empty<Bytes>>| {
            std::future::pending::<Result<Response<Empty<Bytes>>, Infallible>>()
        }));
        let mut response = Box::pin(service.oneshot(request(CLIENT, &[])));
        for expected in [5_000, 9_999] {
            tokio::select! {
                biased;
                _ = &mut response => panic!("the handler hangs"),
                () = tokio::task::yield_now() => {}
            }
            assert_eq!(left(&store), expected);
            over.notify_one();
        }
    });
}

#[test]
fn an_estimate_learns_from_what_each_key_used() {
    on_tokio(|| async {
        let store = tokens();
        let by_user = FromHeader::new("x-user".parse().unwrap());
        let estimate = LearnedCost::new(by_user, Cost::of::<4_000>(), 1_024);
        let tokens = Limit::new("tokens", Arc::clone(&store), by_peer()).unwrap();
        let layer = RateLimitLayer::stack()
            .and(
                tokens
                    .cost(estimate)
                    .settle(|used| Some(3).filter(|_| used.bytes > 0)),
            )
            .build()
            .unwrap();
        let service = layer.layer(common::ok_service());
        let ask = |user| {
            service
                .clone()
                .oneshot(request(CLIENT, &[("x-user", user)]))
        };
        let response = ask("a").await.unwrap();
        assert_eq!(left(&store), 6_000);
        let _ = common::read(response).await;
        assert_eq!(left(&store), 9_997);
        for _ in 0..200 {
            let _ = common::read(ask("a").await.unwrap()).await;
        }
        let before = left(&store);
        let response = ask("a").await.unwrap();
        assert!(before - left(&store) <= 5, "it learned 3");
        drop(response);
        let before = left(&store);
        let _response = ask("b").await.unwrap();
        assert_eq!(
            before - left(&store),
            4_000,
            "of another user it knows nothing"
        );
    });
}
