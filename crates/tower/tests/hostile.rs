//! Requests made to harm: whatever their headers hold, they are answered, and never with a 500.

mod common;

use std::net::IpAddr;

use axum::Router;
use axum::routing::get;
use common::wire::{by_axum_peer, serve};
use common::{by_peer, request, send, store};
use http::{HeaderName, HeaderValue, StatusCode};
use proptest::prelude::*;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use windowpane_cas_ring::CasRing;
use windowpane_tower::{ForwardingHeader, FromHeader, RateLimitBuilder};

const API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// The headers that the layer reads, and one that it does not.
fn name() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "x-api-key",
        "x-forwarded-for",
        "forwarded",
        "content-type",
        "content-length",
        "x-other",
    ])
}

/// Values of any bytes, some of them long, some that mean something.
fn value() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..300),
        (any::<u8>(), 0..100_000_usize).prop_map(|(byte, length)| vec![byte; length]),
        "[ -~]{0,300}".prop_map(String::into_bytes),
        "\\PC{0,80}".prop_map(String::into_bytes),
        Just(b"application/grpc".to_vec()),
        Just(b"for=\"[::ffff:192.0.2.1]:1\", for=unknown".to_vec()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn no_header_makes_the_layer_panic_or_fail(
        headers in prop::collection::vec((name(), value()), 0..8),
        trusted in any::<bool>(),
        read in prop::sample::select(vec![ForwardingHeader::Forwarded, ForwardingHeader::XForwardedFor]),
    ) {
        let (store, _) = store::<(IpAddr, String), CasRing>(&["1/60s"]);
        let networks = trusted.then(|| "192.0.2.0/24".parse().unwrap());
        let client = by_peer().behind(networks, read);
        let layer = RateLimitBuilder::new(store, (client, FromHeader::new(API_KEY))).build();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut statuses = Vec::new();
        for _ in 0..2 {
            let mut request = request("192.0.2.1", &[]);
            for (name, value) in &headers {
                // What no header can hold reaches no service.
                if let Ok(value) = HeaderValue::from_bytes(value) {
                    request.headers_mut().append(*name, value);
                }
            }
            let response = runtime.block_on(send(&layer, request));
            let grpc = response.headers().get("grpc-status").map(HeaderValue::as_bytes);
            statuses.push((response.status().as_u16(), grpc.map(<[u8]>::to_vec)));
        }
        // Allowed and then denied, or without a key both times; to a gRPC call in its own terms.
        let content = headers.iter().find(|(name, value)| {
            *name == "content-type" && HeaderValue::from_bytes(value).is_ok()
        });
        let grpc = |code: &str| (200, Some(code.as_bytes().to_vec()));
        let expected = match content {
            Some((_, value)) if value.starts_with(b"application/grpc") => {
                [[(200, None), grpc("8")], [grpc("3"), grpc("3")]]
            }
            _ => [[(200, None), (429, None)], [(400, None), (400, None)]],
        };
        prop_assert!(expected.iter().any(|e| e[..] == statuses[..]), "{statuses:?}");
    }
}

/// What a server answers to these bytes, up to the end of the status line.
async fn raw(address: std::net::SocketAddr, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    // A server may refuse in the middle, and close.
    let _ = stream.write_all(bytes).await;
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    let answer = String::from_utf8_lossy(&answer).into_owned();
    answer.lines().next().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn oversized_and_non_ascii_headers_on_the_wire_are_answered_and_the_server_goes_on() {
    let (store, _) = store::<IpAddr, CasRing>(&["1000/60s"]);
    let client = by_axum_peer().behind(
        ["127.0.0.0/8".parse().unwrap()],
        ForwardingHeader::XForwardedFor,
    );
    let limit = RateLimitBuilder::new(store, client).build();
    let server = serve(
        Router::new()
            .route("/", get(|| async { "ok" }))
            .layer(limit),
    )
    .await;
    let with = |headers: &[u8]| {
        let mut bytes = b"GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n".to_vec();
        bytes.extend_from_slice(headers);
        bytes.extend_from_slice(b"\r\n");
        bytes
    };
    let long = [
        b"x-forwarded-for: ",
        &b"1.2.3.4, ".repeat(5_000)[..],
        b"\r\n",
    ]
    .concat();
    let huge = [b"x-forwarded-for: ", &b"a".repeat(2_000_000)[..], b"\r\n"].concat();
    for (headers, answers) in [
        (&b""[..], &["200"][..]),
        (b"x-forwarded-for: caf\xc3\xa9\r\n", &["200"]),
        // The last is the first that is read.
        (b"x-forwarded-for: 1.2.3.4, \xff\xfe\r\n", &["200"]),
        (b"x-forwarded-for: 1.2.3.4\x00\r\n", &["400"]),
        (&long, &["200"]),
        (&b"x-forwarded-for: 1.2.3.4\r\n".repeat(90), &["200"]),
        // More than the server itself takes; it may close before all is sent.
        (&b"x-forwarded-for: 1.2.3.4\r\n".repeat(300), &["431", ""]),
        (&huge, &["431", ""]),
    ] {
        let line = raw(server.address, &with(headers)).await;
        let status = line.split(' ').nth(1).unwrap_or_default();
        assert!(answers.contains(&status), "{line}, expected {answers:?}");
    }
    assert_eq!(server.get("/", &[]).await.status(), StatusCode::OK);
    server.stop().await;
}
