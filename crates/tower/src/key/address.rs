//! The client's address as the key.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use http::request::Parts;
use http::{Extensions, HeaderMap};
use ipnet::IpNet;

use super::forwarded::{Hop, forwarded, single, x_forwarded_for};
use super::{Extract, Extracted};

/// The address at the other end of the connection, for servers without a type for it. Insert it into
/// the extensions of each request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Peer(pub SocketAddr);

/// The header in which the trusted proxies name the sender of a request.
///
/// Name the header that they write. They pass the others on as the client sent them, so those are
/// never read.
///
/// A list has an element for each hop. A header with a single address is believed whole if the peer
/// is trusted; if it is missing, malformed or there twice, the peer is the client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ForwardingHeader {
    /// `X-Forwarded-For`, a list, which most proxies write.
    #[default]
    XForwardedFor,
    /// `Forwarded` of RFC 7239, a list.
    Forwarded,
    /// `X-Real-IP`, a single address, as nginx is often set up to write it.
    XRealIp,
    /// `CF-Connecting-IP`, a single address, of Cloudflare.
    CfConnectingIp,
    /// `True-Client-IP`, a single address, of Akamai and Cloudflare.
    TrueClientIp,
}

/// The peers and hops that are trusted to name the sender before them.
#[derive(Clone, Debug)]
enum Trust {
    /// Those in these networks.
    Networks(Vec<IpNet>),
    /// The nearest ones, the peer first.
    Nearest(usize),
}

impl Trust {
    /// Whether it trusts an address, which `hops` trusted ones are nearer than.
    fn covers(&self, address: IpAddr, hops: usize) -> bool {
        match self {
            Trust::Networks(networks) => networks.iter().any(|network| network.contains(&address)),
            Trust::Nearest(most) => hops < *most,
        }
    }
}

/// The fault of a server that hides the peer, and its fix.
const NO_PEER: &str = "no request has a peer address: serve an axum app with \
    `into_make_service_with_connect_info::<SocketAddr>()`, insert `Peer` into each request's \
    extensions, or name your own extension with `ClientAddress::from_extension`";

/// The same on a Unix socket.
const UNIX_PEER: &str = "a request came over a connection without a peer address: if that is a Unix \
    socket behind a proxy, call `trust_unix_peers`; else return the address in `from_extension`";

/// The key of all requests over Unix sockets whose proxy names no client. No client has it.
const NO_CLIENT: IpAddr = IpAddr::V4(Ipv4Addr::UNSPECIFIED);

/// The other end of a connection.
#[derive(Clone, Copy)]
enum Connection {
    From(IpAddr),
    WithoutAddress,
}

type PeerOf = dyn Fn(&Extensions) -> Option<Connection> + Send + Sync;

/// The client's address, as an [`IpAddr`] whose host part is 0: IPv6 clients differ by their
/// `/64` (one subscriber has at least that many addresses), IPv4 clients by all 32 bits.
/// IPv4-mapped IPv6 addresses are IPv4 addresses. NAT64 addresses (`64:ff9b::/96`) count as the
/// IPv4 address they embed, so that the clients of one translator do not share a quota.
///
/// By default that is the peer of the connection, and no header is read. Behind proxies, name the
/// trusted ones: their networks ([`behind`](Self::behind)), or their number
/// ([`trusted_hops`](Self::trusted_hops)). The walk then goes from the peer along the [forwarding
/// header](ForwardingHeader) from right to left and ends at the first hop that is not trusted: that
/// is the client. If a trusted hop names no address (`unknown`, obfuscated, malformed, no header),
/// the walk ends at that hop: all such requests share its quota and none gets a fresh one.
///
/// At most 64 hops and 8 KiB of the header are read, from the right.
///
/// A request without a peer address is a fault of the server: it is answered with status 500, and
/// one error line names the fix. A Unix socket has no peer address; behind a proxy, trust it:
///
/// ```
/// use std::net::SocketAddr;
/// use windowpane_tower::{ClientAddress, ForwardingHeader};
///
/// /// The connection's information, as the server inserts it.
/// #[derive(Clone)]
/// struct UnixSocket;
///
/// let client = ClientAddress::from_extension(|_: &UnixSocket| None::<SocketAddr>)
///     .trust_unix_peers()
///     .forwarding_header(ForwardingHeader::XForwardedFor);
/// # let _ = client;
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
    trust: Trust,
    trusts_unix: bool,
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

    /// Returns the extractor of the peer's address as axum inserts it, if the app is served with
    /// `into_make_service_with_connect_info::<SocketAddr>()`.
    #[cfg(feature = "axum")]
    pub fn axum() -> ClientAddress {
        ClientAddress::from_extension(|peer: &axum::extract::ConnectInfo<SocketAddr>| peer.0)
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
                Some(match peer {
                    Some(peer) => Connection::From(peer.ip()),
                    None => Connection::WithoutAddress,
                })
            }),
            trust: Trust::Networks(Vec::new()),
            trusts_unix: false,
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
        self.trust = Trust::Networks(trusted.into_iter().collect());
        self.header = header;
        self
    }

    /// Trusts the nearest `hops` proxies, whatever their addresses: the peer is the first. With one
    /// load balancer before the server that is 1, and the client is the last element of the header.
    /// With four hops it is the fourth from the right.
    ///
    /// Use it only if every request comes through that many proxies. A client that reaches the server
    /// past them chooses its address. It replaces the networks of [`behind`](Self::behind).
    pub fn trusted_hops(mut self, hops: usize) -> ClientAddress {
        self.trust = Trust::Nearest(hops);
        self
    }

    /// Sets the header that the trusted proxies write. The default is `X-Forwarded-For`.
    pub fn forwarding_header(mut self, header: ForwardingHeader) -> ClientAddress {
        self.header = header;
        self
    }

    /// Trusts the peers of connections without an address, for which the function of
    /// [`from_extension`](Self::from_extension) returns `None`: a Unix socket is open to local
    /// processes alone. Requests whose proxy names no client share one quota.
    pub fn trust_unix_peers(mut self) -> ClientAddress {
        self.trusts_unix = true;
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
        match self.trust.covers(peer, 0) {
            true => self.named(Some(peer), headers).unwrap_or(peer),
            false => peer,
        }
    }

    /// The client that a trusted peer names, if it names any.
    fn named(&self, peer: Option<IpAddr>, headers: &HeaderMap) -> Option<IpAddr> {
        let named = match self.header {
            ForwardingHeader::XForwardedFor => self.walk(peer, x_forwarded_for(headers)),
            ForwardingHeader::Forwarded => self.walk(peer, forwarded(headers)),
            ForwardingHeader::XRealIp => single(headers, "x-real-ip"),
            ForwardingHeader::CfConnectingIp => single(headers, "cf-connecting-ip"),
            ForwardingHeader::TrueClientIp => single(headers, "true-client-ip"),
        };
        named.map(|client| client.to_canonical())
    }

    /// From the trusted `peer` along the hops to the first that is not trusted.
    fn walk(&self, peer: Option<IpAddr>, hops: impl Iterator<Item = Hop>) -> Option<IpAddr> {
        let mut last = peer;
        // The peer is the first that is trusted.
        for (nearer, hop) in (1..).zip(hops) {
            let Some(hop) = hop else { break };
            last = Some(hop);
            if !self.trust.covers(hop.to_canonical(), nearer) {
                break;
            }
        }
        last
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
            Some(Connection::From(peer)) => {
                Extracted::Key(self.network(self.client(peer, &request.headers)))
            }
            Some(Connection::WithoutAddress) if self.trusts_unix => {
                let client = self.named(None, &request.headers);
                Extracted::Key(client.map_or(NO_CLIENT, |client| self.network(client)))
            }
            Some(Connection::WithoutAddress) => Extracted::ServerFault(UNIX_PEER),
            None => Extracted::ServerFault(NO_PEER),
        }
    }
}

impl fmt::Debug for ClientAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientAddress")
            .field("trust", &self.trust)
            .field("header", &self.header)
            .field("ipv4_prefix", &self.ipv4_prefix)
            .field("ipv6_prefix", &self.ipv6_prefix)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
