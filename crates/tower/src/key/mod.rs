//! Extractors, which find the key of a request.

mod address;
mod extension;
mod forwarded;
mod header;

use std::fmt;

use http::request::Parts;

pub use address::{ClientAddress, ForwardingHeader, Peer};
pub use extension::FromExtension;
pub use header::FromHeader;

/// The result of an extractor.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Extracted<K> {
    /// The key that is charged.
    Key(K),
    /// The request lacks what the key is made of; the text says what, for the client to read.
    /// What happens then is [`MissingKey`]'s choice.
    Missing(&'static str),
    /// The request is exempt: it is neither limited nor counted, and its response gets no headers.
    Exempt,
    /// The server lacks what the key is made of, whatever the client sends. Every such request is
    /// answered with status 500, and the text, which should name the fix, is logged once as an
    /// error.
    ServerFault(&'static str),
}

/// Finds the key of a request.
///
/// Two extractors make a third that yields pairs: `(route, client)`.
pub trait Extract: Send + Sync + 'static {
    /// The key, as the store of limiters knows it.
    type Key: Clone + Send + Sync + 'static;

    /// Returns the key of a request. It must not panic on anything that a client can send.
    fn extract(&self, request: &Parts) -> Extracted<Self::Key>;

    /// Returns an extractor with each key changed by `change`, such as a hash in place of a secret.
    fn map<K, F>(self, change: F) -> Map<Self, F>
    where
        Self: Sized,
        F: Fn(Self::Key) -> K + Send + Sync + 'static,
        K: Clone + Send + Sync + 'static,
    {
        Map {
            extract: self,
            change,
        }
    }
}

/// An extractor whose keys are changed by a function: [`Extract::map`].
#[derive(Clone)]
pub struct Map<E, F> {
    extract: E,
    change: F,
}

impl<E, F, K> Extract for Map<E, F>
where
    E: Extract,
    F: Fn(E::Key) -> K + Send + Sync + 'static,
    K: Clone + Send + Sync + 'static,
{
    type Key = K;

    fn extract(&self, request: &Parts) -> Extracted<K> {
        match self.extract.extract(request) {
            Extracted::Key(key) => Extracted::Key((self.change)(key)),
            Extracted::Missing(what) => Extracted::Missing(what),
            Extracted::Exempt => Extracted::Exempt,
            Extracted::ServerFault(what) => Extracted::ServerFault(what),
        }
    }
}

impl<A: Extract, B: Extract> Extract for (A, B) {
    type Key = (A::Key, B::Key);

    /// Exempt if either is; else a fault of the server if either is; else missing what the first of
    /// them misses.
    fn extract(&self, request: &Parts) -> Extracted<Self::Key> {
        use Extracted::{Exempt, Key, Missing, ServerFault};
        match (self.0.extract(request), self.1.extract(request)) {
            (Exempt, _) | (_, Exempt) => Exempt,
            (ServerFault(what), _) | (_, ServerFault(what)) => ServerFault(what),
            (Missing(what), _) | (_, Missing(what)) => Missing(what),
            (Key(a), Key(b)) => Key((a, b)),
        }
    }
}

/// The extractor of one key for all requests: a limit on all clients together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Everyone;

impl Extract for Everyone {
    type Key = ();

    fn extract(&self, _: &Parts) -> Extracted<()> {
        Extracted::Key(())
    }
}

/// Returns an extractor made of a function.
///
/// ```
/// use windowpane_tower::{Extracted, from_fn};
///
/// let by_host = from_fn(|request| match request.uri.host() {
///     Some(host) => Extracted::Key(host.to_ascii_lowercase()),
///     None => Extracted::Missing("a host in the request's target"),
/// });
/// # let _ = by_host;
/// ```
pub fn from_fn<F, K>(extract: F) -> FromFn<F>
where
    F: Fn(&Parts) -> Extracted<K> + Send + Sync + 'static,
    K: Clone + Send + Sync + 'static,
{
    FromFn { extract }
}

/// An extractor made of a function: [`from_fn`].
#[derive(Clone)]
pub struct FromFn<F> {
    extract: F,
}

impl<F, K> Extract for FromFn<F>
where
    F: Fn(&Parts) -> Extracted<K> + Send + Sync + 'static,
    K: Clone + Send + Sync + 'static,
{
    type Key = K;

    fn extract(&self, request: &Parts) -> Extracted<K> {
        (self.extract)(request)
    }
}

impl<E: fmt::Debug, F> fmt::Debug for Map<E, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Map")
            .field("extract", &self.extract)
            .finish_non_exhaustive()
    }
}

impl<F> fmt::Debug for FromFn<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FromFn").finish_non_exhaustive()
    }
}

/// The policy for a request without a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum MissingKey<K> {
    /// It is rejected with status 400; the response says what is missing.
    #[default]
    Reject,
    /// All of them share this key's quota. Choose a key that no request can have: the empty string
    /// for [`FromHeader`], which takes an empty value for a missing one.
    Share(K),
    /// It is allowed, neither limited nor counted.
    Allow,
}
