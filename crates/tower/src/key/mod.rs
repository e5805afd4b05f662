//! Whose quota it is: how a request's key is found.

mod address;
mod extension;
mod forwarded;
mod header;

use http::request::Parts;

pub use address::{ClientAddress, ForwardingHeader, Peer};
pub use extension::FromExtension;
pub use header::FromHeader;

/// What an extractor says of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Extracted<K> {
    /// The key whose quota it is.
    Key(K),
    /// The request lacks what the key is made of; the text says what, for the client to read.
    /// What happens then is [`MissingKey`]'s choice.
    Missing(&'static str),
    /// The request is nobody's: it is neither limited nor counted, and its response gets no
    /// headers.
    Exempt,
}

/// Finds the key of a request.
///
/// Two extractors make a third that yields pairs: `(route, client)`.
pub trait Extract: Send + Sync + 'static {
    /// The key, as the store of limiters knows it.
    type Key: Clone + Send + Sync + 'static;

    /// The key of a request. It must not panic on anything that a client can send.
    fn extract(&self, request: &Parts) -> Extracted<Self::Key>;

    /// The same with each key changed by `change`, such as a hash in place of a secret.
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
#[derive(Clone, Debug)]
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
        }
    }
}

impl<A: Extract, B: Extract> Extract for (A, B) {
    type Key = (A::Key, B::Key);

    /// Exempt if either says so; else missing what the first of them misses.
    fn extract(&self, request: &Parts) -> Extracted<Self::Key> {
        use Extracted::{Exempt, Key, Missing};
        match (self.0.extract(request), self.1.extract(request)) {
            (Exempt, _) | (_, Exempt) => Exempt,
            (Missing(what), _) | (_, Missing(what)) => Missing(what),
            (Key(a), Key(b)) => Key((a, b)),
        }
    }
}

/// An extractor of your own, from a function.
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
#[derive(Clone, Debug)]
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

/// What happens to a request without a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MissingKey<K> {
    /// It is refused with status 400, and told what is missing.
    #[default]
    Refuse,
    /// All of them share this key's quota. Choose a key that no request can have: the empty string
    /// for [`FromHeader`], which takes an empty value for a missing one.
    Share(K),
    /// It passes, neither limited nor counted.
    Pass,
}
