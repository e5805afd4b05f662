//! The client's address as the key.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use http::request::Parts;
use http::{Extensions, HeaderMap};
use ipnet::IpNet;

use super::forwarded::{Hop, forwarded, x_forwarded_for};
use super::{Extract, Extracted};

/// The address at the other end of the connection, for servers without a type for it. Insert it into
/// the extensions of each request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Peer(pub SocketAddr);

/// The header in which the trusted proxies name the sender of a request.
///
/// Name the header that they write. They pass the other one on as the client sent it, so it is never
/// read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ForwardingHeader {
    /// `X-Forwarded-For`, which most proxies write.
    #[default]
    XForwardedFor,
    /// `Forwarded` of RFC 7239.
    Forwarded,
}

/// The fault of a server that hides the peer, and its fix.
const NO_PEER: &str = "no request has a peer address: serve an axum app with \
    `into_make_service_with_connect_info::<SocketAddr>()`, insert `Peer` into each request's \
    extensions, or name your own extension with `ClientAddress::from_extension`";

type PeerOf = dyn Fn(&Extensions) -> Option<IpAddr> + Send + Sync;

/// The client's address, as an [`IpAddr`] whose host part is 0: IPv6 clients differ by their
/// `/64` (one subscriber has at least that many addresses), IPv4 clients by all 32 bits.
/// IPv4-mapped IPv6 addresses are IPv4 addresses. NAT64 addresses (`64:ff9b::/96`) count as the
/// IPv4 address they embed, so that the clients of one translator do not share a quota.
///
/// By default that is the peer of the connection, and no header is read. Behind proxies, name the
/// [trusted](ClientAddress::behind) ones. The walk then goes from the peer along the [forwarding
/// header](ForwardingHeader) from right to left and ends at the first hop that is not trusted: that
/// is the client. If a trusted hop names no address (`unknown`, obfuscated, malformed, no header),
/// the walk ends at that hop: all such requests share its quota and none gets a fresh one.
///
/// At most 64 hops and 8 KiB of the header are read, from the right.
///
/// A request without a peer address is a fault of the server: it is answered with status 500, and
/// one error line names the fix. On a Unix socket behind a proxy there is no such address; return a
/// fixed one from `from_extension`, and trust it:
///
/// ```
/// use std::net::{Ipv4Addr, SocketAddr};
/// use windowpane_tower::{ClientAddress, ForwardingHeader};
///
/// /// The connection's information, as the server inserts it.
/// #[derive(Clone)]
/// struct UnixSocket;
///
/// let proxy = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
/// let client = ClientAddress::from_extension(move |_: &UnixSocket| proxy)
///     .behind(["127.0.0.1/32".parse()?], ForwardingHeader::XForwardedFor);
/// # let _ = client;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// ```
/// use std::net::SocketAddr;
/// use windowpane_tower::{ClientAddress, ForwardingHeader};
///
/// /// The extension that the server inserts: axum's is `ConnectInfo<SocketAddr>`.
/// #[derive(Clone)]
/// struct ConnectInfo<T>(T);
///
/// let client = ClientAddress::from_extension(|peer: &ConnectInfo<SocketAddr>| peer.0)
///     .behind(["10.0.0.0/8".parse()?, "fd00::/8".parse()?], ForwardingHeader::XForwardedFor);
/// # let _ = client;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct ClientAddress {
    peer: Arc<PeerOf>,
    trusted: Vec<IpNet>,
    header: ForwardingHeader,
    ipv4_prefix: u8,
    ipv6_prefix: u8,
}

impl ClientAddress {
    /// Returns the extractor of the peer's address that the server inserts into the request's
    /// extensions as [`Peer`].
    pub fn new() -> ClientAddress {
        ClientAddress::from_extension(|peer: &Peer| peer.0)
    }

    /// Returns the extractor of the peer's address that the server inserts into the request's
    /// extensions: `ConnectInfo<SocketAddr>` of axum, `TcpConnectInfo` of tonic.
    pub fn from_extension<T, F, R>(peer: F) -> ClientAddress
    where
        T: Send + Sync + 'static,
        F: Fn(&T) -> R + Send + Sync + 'static,
        R: Into<Option<SocketAddr>>,
    {
        ClientAddress {
            peer: Arc::new(move |extensions| {
                let peer: Option<SocketAddr> = peer(extensions.get::<T>()?).into();
                peer.map(|peer| peer.ip())
            }),
            trusted: Vec::new(),
            header: ForwardingHeader::default(),
            ipv4_prefix: 32,
            ipv6_prefix: 64,
        }
    }

    /// Reads the client's address from `header`, as far as proxies in these networks wrote it.
    ///
    /// Trust only networks that contain your proxies and no clients: with `0.0.0.0/0` the client
    /// chooses its address.
    pub fn behind(
        mut self,
        trusted: impl IntoIterator<Item = IpNet>,
        header: ForwardingHeader,
    ) -> ClientAddress {
        self.trusted = trusted.into_iter().collect();
        self.header = header;
        self
    }

    /// Sets the leading bits by which IPv6 clients differ. The default is 64; 128 makes each address
    /// a client, so that one subscriber has any number of quotas.
    pub fn ipv6_prefix(mut self, bits: u8) -> ClientAddress {
        self.ipv6_prefix = bits.min(128);
        self
    }

    /// Sets the leading bits by which IPv4 clients differ. The default is 32.
    pub fn ipv4_prefix(mut self, bits: u8) -> ClientAddress {
        self.ipv4_prefix = bits.min(32);
        self
    }

    /// The client of a request that `peer` sent with these headers.
    fn client(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        let peer = peer.to_canonical();
        if !self.trusts(peer) {
            return peer;
        }
        match self.header {
            ForwardingHeader::XForwardedFor => self.walk(peer, x_forwarded_for(headers)),
            ForwardingHeader::Forwarded => self.walk(peer, forwarded(headers)),
        }
    }

    /// From the trusted `peer` along the hops to the first that is not trusted.
    fn walk(&self, peer: IpAddr, hops: impl Iterator<Item = Hop>) -> IpAddr {
        let mut last = peer;
        for hop in hops {
            let Some(hop) = hop else { break };
            last = hop.to_canonical();
            if !self.trusts(last) {
                break;
            }
        }
        last
    }

    fn trusts(&self, address: IpAddr) -> bool {
        self.trusted
            .iter()
            .any(|network| network.contains(&address))
    }

    /// Returns the address without its host part.
    fn network(&self, address: IpAddr) -> IpAddr {
        // A shift by all bits overflows; a prefix of 0 leaves nothing.
        match translated(address) {
            IpAddr::V4(address) => {
                let mask = u32::MAX.checked_shl(32 - u32::from(self.ipv4_prefix));
                Ipv4Addr::from_bits(address.to_bits() & mask.unwrap_or(0)).into()
            }
            IpAddr::V6(address) => {
                let mask = u128::MAX.checked_shl(128 - u32::from(self.ipv6_prefix));
                Ipv6Addr::from_bits(address.to_bits() & mask.unwrap_or(0)).into()
            }
        }
    }
}

/// Returns the IPv4 address embedded in a NAT64 address of the well-known prefix `64:ff9b::/96`
/// (RFC 6052), and any other address unchanged.
///
/// It makes a key only. Whether a hop is trusted depends on the address as it was written.
fn translated(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(v6) if v6.to_bits() >> 32 == 0x0064_ff9b << 64 => {
            Ipv4Addr::from_bits(v6.to_bits() as u32).into()
        }
        other => other,
    }
}

impl Default for ClientAddress {
    fn default() -> ClientAddress {
        ClientAddress::new()
    }
}

impl Extract for ClientAddress {
    type Key = IpAddr;

    fn extract(&self, request: &Parts) -> Extracted<IpAddr> {
        match (self.peer)(&request.extensions) {
            Some(peer) => Extracted::Key(self.network(self.client(peer, &request.headers))),
            None => Extracted::ServerFault(NO_PEER),
        }
    }
}

impl fmt::Debug for ClientAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientAddress")
            .field("trusted", &self.trusted)
            .field("header", &self.header)
            .field("ipv4_prefix", &self.ipv4_prefix)
            .field("ipv6_prefix", &self.ipv6_prefix)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
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
        client.trusted = vec!["64:ff9b::/96".parse().unwrap()];
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
}
