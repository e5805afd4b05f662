use http::HeaderValue;

use super::*;

const PROXY: &str = "10.0.0.1";

fn behind() -> ClientAddress {
    let trusted = ["10.0.0.0/8", "fd00::/8"].map(|network| network.parse().unwrap());
    ClientAddress::new().behind(trusted, ForwardingHeader::XForwardedFor)
}

/// The key of a request from `peer`, with these headers.
fn key(client: &ClientAddress, peer: &str, headers: &[(&'static str, &str)]) -> String {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        map.append(*name, HeaderValue::from_str(value).unwrap());
    }
    let address = client.client(peer.parse().unwrap(), &map);
    client.network(address).to_string()
}

#[test]
fn by_default_no_header_is_believed() {
    let client = ClientAddress::new();
    for header in ["x-forwarded-for", "forwarded", "x-real-ip"] {
        let headers = [(header, "192.0.2.7"), (header, "for=192.0.2.7")];
        assert_eq!(key(&client, PROXY, &headers), PROXY);
    }
}

#[test]
fn the_client_is_the_first_hop_from_the_right_that_is_not_trusted() {
    let client = behind();
    let xff = |value| [("x-forwarded-for", value)];
    assert_eq!(key(&client, PROXY, &xff("192.0.2.7")), "192.0.2.7");
    // What stands further left is the client's own word.
    assert_eq!(key(&client, PROXY, &xff("1.1.1.1, 192.0.2.7")), "192.0.2.7");
    assert_eq!(
        key(&client, PROXY, &xff("junk, 192.0.2.7, 10.9.9.9")),
        "192.0.2.7"
    );
    assert_eq!(
        key(&client, PROXY, &xff("192.0.2.7, ::ffff:10.9.9.9")),
        "192.0.2.7"
    );
    assert_eq!(
        key(&client, PROXY, &xff("192.0.2.7, [fd00::2]:80")),
        "192.0.2.7"
    );
    // All are trusted: the request began inside.
    assert_eq!(key(&client, PROXY, &xff("10.0.0.3, 10.0.0.2")), "10.0.0.3");
    // An untrusted peer is the client, whatever it says.
    assert_eq!(key(&client, "192.0.2.1", &xff("10.0.0.2")), "192.0.2.1");
}

#[test]
fn a_trusted_hop_that_tells_no_address_is_the_client() {
    let client = behind();
    for value in [
        "unknown",
        "_hidden",
        "junk",
        "192.0.2.7, unknown",
        ", ,",
        "",
    ] {
        assert_eq!(key(&client, PROXY, &[("x-forwarded-for", value)]), PROXY);
    }
    let through_two = [("x-forwarded-for", "192.0.2.7, junk, 10.0.0.2")];
    assert_eq!(key(&client, PROXY, &through_two), "10.0.0.2");
    assert_eq!(key(&client, PROXY, &[]), PROXY);
}

#[test]
fn only_the_header_that_the_proxies_write_is_read() {
    let both = [
        ("x-forwarded-for", "192.0.2.7"),
        ("forwarded", "for=\"[2001:db8::7]:1\""),
    ];
    let mut client = behind();
    assert_eq!(key(&client, PROXY, &both), "192.0.2.7");
    assert_eq!(key(&client, PROXY, &both[1..]), PROXY);
    client.header = ForwardingHeader::Forwarded;
    assert_eq!(key(&client, PROXY, &both), "2001:db8::");
    assert_eq!(key(&client, PROXY, &both[..1]), PROXY);
}

#[test]
fn nat64_address_is_trusted_only_as_written() {
    let mut client = behind();
    let forged = [("x-forwarded-for", "1.1.1.1")];
    assert_eq!(key(&client, "64:ff9b::10.0.0.1", &forged), PROXY);
    client.trust = Trust::Networks(vec!["64:ff9b::/96".parse().unwrap()]);
    assert_eq!(key(&client, "64:ff9b::10.0.0.1", &forged), "1.1.1.1");
    let hop = [("x-forwarded-for", "64:ff9b::c000:207, 64:ff9b::a00:1")];
    assert_eq!(key(&client, "64:ff9b::1", &hop), "192.0.2.7");
}

#[test]
fn only_the_well_known_nat64_prefix_is_translated() {
    let client = ClientAddress::new();
    assert_eq!(key(&client, "64:ff9b::192.0.2.7", &[]), "192.0.2.7");
    assert_eq!(key(&client, "64:ff9b::192.0.2.8", &[]), "192.0.2.8");
    assert_eq!(key(&client, "64:ff9b:0:0:0:1::1", &[]), "64:ff9b::");
    assert_eq!(key(&client, "64:ff9b:1::1", &[]), "64:ff9b:1::");
    let by_24 = client.ipv4_prefix(24);
    assert_eq!(key(&by_24, "64:ff9b::192.0.2.7", &[]), "192.0.2.0");
}

#[test]
fn keys_are_networks() {
    let client = ClientAddress::new();
    assert_eq!(key(&client, "2001:db8:1:2:3:4:5:6", &[]), "2001:db8:1:2::");
    assert_eq!(key(&client, "::ffff:192.0.2.7", &[]), "192.0.2.7");
    for (bits, expected) in [(0, "::"), (48, "2001:db8:1::"), (128, "2001:db8:1:2::6")] {
        let client = client.clone().ipv6_prefix(bits);
        assert_eq!(key(&client, "2001:db8:1:2::6", &[]), expected);
    }
    for (bits, expected) in [(0, "0.0.0.0"), (24, "192.0.2.0"), (32, "192.0.2.7")] {
        let client = client.clone().ipv4_prefix(bits);
        assert_eq!(key(&client, "192.0.2.7", &[]), expected);
    }
}

#[test]
fn counted_hops_are_trusted_whatever_their_addresses() {
    let list = [(
        "x-forwarded-for",
        "24.89.136.10, 152.195.121.190, 82.166.147.158, 34.149.124.216",
    )];
    for (hops, expected) in [
        (0, "192.0.2.9"),
        (1, "34.149.124.216"),
        (2, "82.166.147.158"),
        (3, "152.195.121.190"),
        (4, "24.89.136.10"),
        // There are fewer.
        (5, "24.89.136.10"),
        (usize::MAX, "24.89.136.10"),
    ] {
        let client = ClientAddress::new().trusted_hops(hops);
        assert_eq!(key(&client, "192.0.2.9", &list), expected, "{hops}");
    }
    // A forged element stands further left than the hops that are counted.
    let client = ClientAddress::new().trusted_hops(4);
    let forged = format!("1.1.1.1, {}", list[0].1);
    let forged = [("x-forwarded-for", &*forged)];
    assert_eq!(key(&client, "192.0.2.9", &forged), "24.89.136.10");
    let hidden = [("x-forwarded-for", "24.89.136.10, unknown, 34.149.124.216")];
    assert_eq!(key(&client, "192.0.2.9", &hidden), "34.149.124.216");
    assert_eq!(key(&client, "192.0.2.9", &[]), "192.0.2.9");
    let by_rfc = client.forwarding_header(ForwardingHeader::Forwarded);
    let list = [("forwarded", "for=192.0.2.7, for=\"[2001:db8::1]:80\"")];
    assert_eq!(key(&by_rfc.trusted_hops(2), "10.0.0.1", &list), "192.0.2.7");
}

#[test]
fn single_address_headers_are_read_from_trusted_peers_alone() {
    for (header, name) in [
        (ForwardingHeader::XRealIp, "x-real-ip"),
        (ForwardingHeader::CfConnectingIp, "cf-connecting-ip"),
        (ForwardingHeader::TrueClientIp, "true-client-ip"),
    ] {
        let trusted = ["10.0.0.0/8".parse().unwrap()];
        let client = ClientAddress::new().behind(trusted, header);
        for (value, expected) in [
            ("192.0.2.7", "192.0.2.7"),
            (" 192.0.2.7:4711 ", "192.0.2.7"),
            ("\"[2001:db8::1]:80\"", "2001:db8::"),
            ("::ffff:192.0.2.7", "192.0.2.7"),
            ("64:ff9b::192.0.2.7", "192.0.2.7"),
            ("192.0.2.7, 192.0.2.8", PROXY),
            ("unknown", PROXY),
            ("", PROXY),
        ] {
            let headers = [(name, value), ("x-forwarded-for", "1.1.1.1")];
            assert_eq!(key(&client, PROXY, &headers), expected, "{name}: {value}");
        }
        let ok = (name, "192.0.2.7");
        assert_eq!(key(&client, "192.0.2.1", &[ok]), "192.0.2.1");
        assert_eq!(key(&client, PROXY, &[]), PROXY);
        // Which of two the proxy wrote cannot be known.
        assert_eq!(key(&client, PROXY, &[ok, (name, "192.0.2.8")]), PROXY);
        let behind_one = ClientAddress::new()
            .trusted_hops(1)
            .forwarding_header(header);
        assert_eq!(key(&behind_one, "192.0.2.1", &[ok]), "192.0.2.7");
    }
}

/// A connection whose peer may have no address.
#[derive(Clone)]
struct Socket(Option<SocketAddr>);

#[test]
fn unix_peers_are_trusted_only_if_said() {
    let extract = |client: &ClientAddress, socket: Option<Socket>, xff: &str| {
        let mut request = http::Request::new(());
        if let Some(socket) = socket {
            request.extensions_mut().insert(socket);
        }
        let value = HeaderValue::from_str(xff).unwrap();
        request.headers_mut().append("x-forwarded-for", value);
        client.extract(&request.into_parts().0)
    };
    let client = ClientAddress::from_extension(|socket: &Socket| socket.0);
    let trusting = client.clone().trust_unix_peers();
    let unix = || Some(Socket(None));
    let ip = |text: &str| Extracted::Key(text.parse().unwrap());
    assert_eq!(
        extract(&client, unix(), "192.0.2.7"),
        Extracted::ServerFault(UNIX_PEER)
    );
    assert_eq!(
        extract(&trusting, unix(), "1.1.1.1, 192.0.2.7"),
        ip("192.0.2.7")
    );
    assert_eq!(extract(&trusting, unix(), "unknown"), ip("0.0.0.0"));
    // An address is as trusted as before, and a server that inserts nothing is still at fault.
    let tcp = Some(Socket(Some(SocketAddr::from(([192, 0, 2, 1], 80)))));
    assert_eq!(extract(&trusting, tcp, "192.0.2.7"), ip("192.0.2.1"));
    assert_eq!(
        extract(&trusting, None, "192.0.2.7"),
        Extracted::ServerFault(NO_PEER)
    );
    // Proxies behind the socket's.
    let two = trusting.behind(
        ["10.0.0.0/8".parse().unwrap()],
        ForwardingHeader::XForwardedFor,
    );
    assert_eq!(
        extract(&two, unix(), "192.0.2.7, 10.0.0.1"),
        ip("192.0.2.7")
    );
}
