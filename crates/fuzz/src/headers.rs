//! Requests whose headers are the input.

use http::request::Parts;
use http::{HeaderName, HeaderValue, Request};
use ipnet::IpNet;
use windowpane_tower::{ClientAddress, Extract, Extracted, ForwardingHeader, FromHeader, Peer};

const PROXY: [u8; 4] = [10, 0, 0, 1];

/// A request from the trusted proxy, each line of the input being one more header of that name;
/// lines that no header can hold are left out, as a server refuses them.
fn request(name: &HeaderName, input: &[u8]) -> Parts {
    let (mut parts, ()) = Request::new(()).into_parts();
    parts.extensions.insert(Peer((PROXY, 443).into()));
    for line in input.split(|byte| *byte == b'\n') {
        // More headers than that a map refuses, and so do servers.
        if parts.headers.len() < 100
            && let Ok(value) = HeaderValue::from_bytes(line)
        {
            parts.headers.append(name, value);
        }
    }
    parts
}

/// The client behind the proxy: an address without its host part, whatever the header says.
pub(crate) fn forwarded(input: &[u8]) {
    let trusted: [IpNet; 2] = ["10.0.0.0/8", "fd00::/8"].map(|net| {
        // A constant; what is tested is the header.
        net.parse().expect("a network")
    });
    for (header, name) in [
        (
            ForwardingHeader::XForwardedFor,
            HeaderName::from_static("x-forwarded-for"),
        ),
        (ForwardingHeader::Forwarded, http::header::FORWARDED),
    ] {
        let request = request(&name, input);
        let client = ClientAddress::new().behind(trusted, header);
        let Extracted::Key(address) = client.extract(&request) else {
            panic!("the peer is known, so there is a key");
        };
        if let std::net::IpAddr::V6(address) = address {
            assert_eq!(address.to_bits() as u64, 0, "{address} has a host part");
            assert_eq!(
                address.to_ipv4_mapped(),
                None,
                "{address} is an IPv4 address"
            );
        }
        // Who believes nobody sees the peer, whatever the header says.
        let near = ClientAddress::new().extract(&request);
        assert!(matches!(near, Extracted::Key(peer) if peer == std::net::IpAddr::from(PROXY)));
    }
}

/// An API key: one short text of printable ASCII, or none.
pub(crate) fn key(input: &[u8]) {
    let name = HeaderName::from_static("x-api-key");
    let request = request(&name, input);
    if let Extracted::Key(key) = FromHeader::new(name).extract(&request) {
        assert!((1..=256).contains(&key.len()), "{key:?}");
        assert!(
            key.bytes()
                .all(|byte| byte == b'\t' || (32..127).contains(&byte)),
            "{key:?}"
        );
        assert_eq!(key.trim(), key);
    }
}
