//! What a key is, and by what it is found.

use std::borrow::Borrow;
use std::hash::Hash;

/// An owned key, as far as it is found by a `Q` and made from one: a `String` by and from a `str`,
/// an `Arc<str>` too, a `Vec<u8>` by and from a `[u8]`, any `Clone` key by and from itself.
///
/// It is implemented for all types that can have it. A `Q` is made into an owned key only where an
/// unknown key is inserted.
pub trait KeyOf<Q: ?Sized>: Hash + Eq + Borrow<Q> {
    /// The owned key.
    fn owned(key: &Q) -> Self;
}

impl<K, Q> KeyOf<Q> for K
where
    K: Hash + Eq + Borrow<Q> + From<Q::Owned>,
    Q: ToOwned + ?Sized,
{
    fn owned(key: &Q) -> Self {
        K::from(key.to_owned())
    }
}
