//! Keys in the request's extensions, inserted by a server or a router.

use std::fmt;
use std::marker::PhantomData;

use http::request::Parts;

use super::{Extract, Extracted};

/// A key made of an extension that a server, a router or an outer layer inserted: a matched route, an
/// account.
///
/// With axum's `MatchedPath` the key is the route as it was declared (`/users/{id}`), of which there
/// are few; a path as the client sent it would be a new key each time.
///
/// ```
/// use windowpane_tower::FromExtension;
///
/// /// An account that an outer layer verified.
/// #[derive(Clone)]
/// struct Account(u64);
///
/// let by_account = FromExtension::new("a verified account", |account: &Account| account.0);
/// # let _ = by_account;
/// ```
pub struct FromExtension<T, F> {
    what: &'static str,
    key: F,
    extension: PhantomData<fn(&T)>,
}

impl<T, F, K> FromExtension<T, F>
where
    T: Send + Sync + 'static,
    F: Fn(&T) -> K + Send + Sync + 'static,
    K: Clone + Send + Sync + 'static,
{
    /// The key that `key` makes of an extension of type `T`; where there is none, `what` is
    /// reported as missing.
    pub fn new(what: &'static str, key: F) -> FromExtension<T, F> {
        FromExtension {
            what,
            key,
            extension: PhantomData,
        }
    }
}

impl<T, F, K> Extract for FromExtension<T, F>
where
    T: Send + Sync + 'static,
    F: Fn(&T) -> K + Send + Sync + 'static,
    K: Clone + Send + Sync + 'static,
{
    type Key = K;

    fn extract(&self, request: &Parts) -> Extracted<K> {
        match request.extensions.get::<T>() {
            Some(extension) => Extracted::Key((self.key)(extension)),
            None => Extracted::Missing(self.what),
        }
    }
}

impl<T, F> fmt::Debug for FromExtension<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FromExtension")
            .field("what", &self.what)
            .finish_non_exhaustive()
    }
}
