//! gRPC behind the layer: tonic's server and tonic's client, over the loopback interface.

mod common;

use std::convert::Infallible;
use std::future::{Future, ready};
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Buf, BufMut, Bytes};
use common::{SECOND, Store, store};
use http::uri::PathAndQuery;
use http::{Request, Response};
use tokio::sync::oneshot;
use tonic::body::Body;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::server::NamedService;
use tonic::transport::server::{TcpConnectInfo, TcpIncoming};
use tonic::transport::{Channel, Endpoint, Server};
use tonic::{Code, Status};
use windowpane_cas_ring::CasRing;
use windowpane_tower::{ClientAddress, RateLimitBuilder};

const GREETING: Bytes = Bytes::from_static(b"hello");

/// Answers every call with a greeting, as a generated service would.
#[derive(Clone)]
struct Greeter;

impl NamedService for Greeter {
    const NAME: &'static str = "test.Greeter";
}

impl tower::Service<Request<Body>> for Greeter {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let greet = |_: tonic::Request<Bytes>| ready(Ok(tonic::Response::new(GREETING)));
        let greet = tower::service_fn(greet);
        Box::pin(async move { Ok(tonic::server::Grpc::new(Plain).unary(greet, request).await) })
    }
}

/// Messages are bytes as they are.
#[derive(Clone, Copy)]
struct Plain;

impl Codec for Plain {
    type Encode = Bytes;
    type Decode = Bytes;
    type Encoder = Plain;
    type Decoder = Plain;

    fn encoder(&mut self) -> Plain {
        Plain
    }

    fn decoder(&mut self) -> Plain {
        Plain
    }
}

impl Encoder for Plain {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, item: Bytes, into: &mut EncodeBuf<'_>) -> Result<(), Status> {
        into.put(item);
        Ok(())
    }
}

impl Decoder for Plain {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, from: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(from.copy_to_bytes(from.remaining())))
    }
}

/// A call as a generated client would make it.
async fn greet(channel: &Channel) -> Result<tonic::Response<Bytes>, Status> {
    let mut client = tonic::client::Grpc::new(channel.clone());
    client.ready().await.unwrap();
    let path = PathAndQuery::from_static("/test.Greeter/Greet");
    let request = tonic::Request::new(Bytes::new());
    client.unary(request, path, Plain).await
}

#[tokio::test]
async fn a_denial_reaches_a_grpc_client_as_resource_exhausted_with_a_push_back() {
    let (store, clock) = store::<IpAddr, CasRing>(&["2/10s"]);
    let client = ClientAddress::from_extension(|peer: &TcpConnectInfo| peer.remote_addr());
    let limit = RateLimitBuilder::new(Arc::clone(&store), client).build();
    let incoming = TcpIncoming::bind(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    let address = incoming.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let server = Server::builder().layer(limit).add_service(Greeter);
    let server = tokio::spawn(server.serve_with_incoming_shutdown(incoming, async {
        let _ = stopped.await;
    }));
    let endpoint = Endpoint::from_shared(format!("http://{address}")).unwrap();
    let channel = endpoint.connect().await.unwrap();

    for left in [1, 0] {
        let response = greet(&channel).await.unwrap();
        let told = response.metadata().get("ratelimit").unwrap();
        assert!(told.to_str().unwrap().contains(&format!(";r={left}")));
        assert_eq!(response.into_inner(), GREETING);
    }
    clock.set(SECOND / 2 + 1);
    let denied = greet(&channel).await.unwrap_err();
    assert_eq!(denied.code(), Code::ResourceExhausted);
    assert_eq!(denied.message(), "the quota of 2/10s is used up");
    let metadata = denied.metadata();
    let push_back = metadata.get("grpc-retry-pushback-ms").unwrap();
    assert_eq!(push_back, "9500");
    assert_eq!(metadata.get("retry-after").unwrap(), "10");

    // Who obeys is answered.
    let wait: u64 = push_back.to_str().unwrap().parse().unwrap();
    clock.set(SECOND / 2 + 1 + Duration::from_millis(wait).as_nanos() as u64);
    assert_eq!(greet(&channel).await.unwrap().into_inner(), GREETING);
    assert_eq!(Store::keys(&store), [IpAddr::from([127, 0, 0, 1])]);

    drop(channel);
    let _ = stop.send(());
    server.await.unwrap().unwrap();
}
