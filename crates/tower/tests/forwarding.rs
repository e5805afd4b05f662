//! Forged, malformed and oversized forwarding headers.

mod common;

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::Router;
use axum::routing::get;
use common::wire::{by_axum_peer, serve};
use common::{Store, on_tokio, store};
use http::{HeaderName, HeaderValue, Request, StatusCode, header};
use proptest::prelude::*;
use windowpane_cas_ring::CasRing;
use windowpane_tower::{
    ClientAddress, Extract, Extracted, ForwardingHeader, Peer, RateLimitBuilder,
};

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

type Addresses = Arc<Store<IpAddr, CasRing>>;

fn app(store: &Addresses, client: ClientAddress) -> Router {
    let limit = RateLimitBuilder::new(Arc::clone(store), client).build();
    Router::new()
        .route("/", get(|| async { "ok" }))
        .layer(limit)
}

#[test]
fn ten_thousand_forged_addresses_from_an_untrusted_peer_share_one_bucket() {
    on_tokio(|| async {
        let (store, _) = store::<_, CasRing>(&["100/60s"]);
        // Proxies are trusted, but the peer is none of them.
        let client = by_axum_peer().behind(
            ["10.0.0.0/8".parse().unwrap()],
            ForwardingHeader::XForwardedFor,
        );
        let server = serve(app(&store, client)).await;
        let mut allowed = 0;
        for forged in 0..10_000_u32 {
            let forged = std::net::Ipv4Addr::from_bits(0x0b00_0000 + forged * 7919).to_string();
            let node = format!("for={forged}");
            let headers = [
                (X_FORWARDED_FOR, forged.as_bytes()),
                (header::FORWARDED, node.as_bytes()),
                (HeaderName::from_static("x-real-ip"), forged.as_bytes()),
            ];
            let response = server.get("/", &headers).await;
            match response.status() {
                StatusCode::OK => allowed += 1,
                StatusCode::TOO_MANY_REQUESTS => {}
                other => panic!("{other}"),
            }
        }
        assert_eq!(allowed, 100);
        assert_eq!(store.keys(), [IpAddr::from([127, 0, 0, 1])]);
        server.stop().await;
    });
}

#[test]
fn a_trusted_proxy_is_believed_about_the_client_but_not_about_what_the_client_said() {
    on_tokio(|| async {
        let (store, _) = store::<_, CasRing>(&["1/60s"]);
        let client = by_axum_peer().behind(
            [
                "127.0.0.0/8".parse().unwrap(),
                "10.0.0.0/8".parse().unwrap(),
            ],
            ForwardingHeader::XForwardedFor,
        );
        let server = serve(app(&store, client)).await;
        let mut statuses = Vec::new();
        for lines in [
            &["1.1.1.1, 192.0.2.7, 10.0.0.2"][..],
            &["2.2.2.2, 192.0.2.7, 10.0.0.2"],
            &["\u{e9}, 192.0.2.7", "10.0.0.2"],
            &["192.0.2.8"],
            &["192.0.2.9, unknown"],
            &["192.0.2.10, _hidden"],
        ] {
            let headers: Vec<(HeaderName, &[u8])> = lines
                .iter()
                .map(|line| (X_FORWARDED_FOR, line.as_bytes()))
                .collect();
            statuses.push(server.get("/", &headers).await.status().as_u16());
        }
        // The last two: the proxy hides its clients, so they share its own bucket.
        assert_eq!(statuses, [200, 429, 429, 200, 200, 429]);
        server.stop().await;
    });
}

/// The key of a request from that peer.
fn key(client: &ClientAddress, peer: IpAddr, lines: &[(HeaderName, Vec<u8>)]) -> IpAddr {
    let mut request = Request::new(());
    for (name, line) in lines {
        if let Ok(value) = HeaderValue::from_bytes(line) {
            request.headers_mut().append(name, value);
        }
    }
    request
        .extensions_mut()
        .insert(Peer(SocketAddr::new(peer, 1)));
    match client.extract(&request.into_parts().0) {
        Extracted::Key(key) => key,
        other => panic!("{other:?}"),
    }
}

/// Pieces that forwarding headers are made of, and others.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        Just(b"for=".to_vec()),
        Just(b"\"".to_vec()),
        Just(b"\\".to_vec()),
        Just(b",".to_vec()),
        Just(b";".to_vec()),
        Just(b" ".to_vec()),
        Just(b"unknown".to_vec()),
        Just(b"_hidden".to_vec()),
        Just(b"10.0.0.7".to_vec()),
        Just(b"192.0.2.1:80".to_vec()),
        Just(b"[2001:db8::1]:80".to_vec()),
        Just(b"::ffff:10.0.0.1".to_vec()),
        Just(b"proto=http;by=\"[fd00::1]\"".to_vec()),
        Just(vec![b'a'; 9000]),
        Just(vec![b','; 9000]),
        prop::collection::vec(any::<u8>(), 0..12),
    ]
}

fn line() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(piece(), 0..24).prop_map(|pieces| pieces.concat())
}

fn lines() -> impl Strategy<Value = Vec<(HeaderName, Vec<u8>)>> {
    let name = prop_oneof![Just(X_FORWARDED_FOR), Just(header::FORWARDED)];
    prop::collection::vec((name, line()), 0..4)
}

fn trusting(header: ForwardingHeader) -> ClientAddress {
    let networks = ["10.0.0.0/8", "fd00::/8"].map(|network| network.parse().unwrap());
    ClientAddress::new().behind(networks, header)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Nothing that a client can send makes it panic, and an untrusted peer is the client whatever
    /// it sends.
    #[test]
    fn no_header_panics_and_none_moves_an_untrusted_peer(lines in lines()) {
        let outside: IpAddr = "203.0.113.5".parse().unwrap();
        for header in [ForwardingHeader::XForwardedFor, ForwardingHeader::Forwarded] {
            let client = trusting(header);
            prop_assert_eq!(key(&client, outside, &lines), outside);
            let _ = key(&client, "10.0.0.1".parse().unwrap(), &lines);
        }
    }

    /// Whatever a client has sent, once a trusted proxy has appended the client's address (to the
    /// line or in one of its own), the key is that address; where the client's part makes the line
    /// malformed, it is the proxy's own. It is never an address that the client chose.
    #[test]
    fn what_a_client_sends_never_chooses_its_key(
        sent in line(),
        same_line in any::<bool>(),
        quoted in any::<bool>(),
    ) {
        let proxy: IpAddr = "10.0.0.1".parse().unwrap();
        let client: IpAddr = "198.51.100.77".parse().unwrap();

        let appended = client.to_string().into_bytes();
        let got = key(
            &trusting(ForwardingHeader::XForwardedFor),
            proxy,
            &append(X_FORWARDED_FOR, &sent, appended, same_line),
        );
        prop_assert_eq!(got, client);

        let appended = match quoted {
            true => format!("for=\"{client}:4711\";proto=https").into_bytes(),
            false => format!("for={client};proto=https").into_bytes(),
        };
        let got = key(
            &trusting(ForwardingHeader::Forwarded),
            proxy,
            &append(header::FORWARDED, &sent, appended, same_line),
        );
        prop_assert!(got == client || (same_line && got == proxy), "{got}");
    }
}

/// What a proxy passes on that appends to what a client sent.
fn append(
    name: HeaderName,
    sent: &[u8],
    appended: Vec<u8>,
    same_line: bool,
) -> Vec<(HeaderName, Vec<u8>)> {
    // A client's line that no header can hold reaches no proxy.
    let sent = match HeaderValue::from_bytes(sent) {
        Ok(_) => sent.to_vec(),
        Err(_) => Vec::new(),
    };
    match same_line {
        true => vec![(name, [&sent[..], b", ", &appended].concat())],
        false => vec![(name.clone(), sent), (name, appended)],
    }
}
