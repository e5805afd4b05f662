//! Which quotas a key has.

use std::sync::{Arc, PoisonError};

use windowpane_core::Quotas;
use windowpane_core::sync::Ordering;
use windowpane_core::sync::plain::{AtomicU64, RwLock, fence};

use crate::key::KeyOf;

/// A function from key to quotas.
type ByKey<K> = Arc<dyn Fn(&K) -> Quotas + Send + Sync>;

/// Where a key's quotas come from.
pub(crate) enum Source<K> {
    /// All keys have the same.
    Same(Quotas),
    /// Each key has its own.
    ByKey(ByKey<K>),
}

impl<K> Clone for Source<K> {
    fn clone(&self) -> Self {
        match self {
            Source::Same(quotas) => Source::Same(quotas.clone()),
            Source::ByKey(function) => Source::ByKey(Arc::clone(function)),
        }
    }
}

/// The source in force, and how often it was replaced.
pub(crate) struct Tiers<K> {
    source: RwLock<Source<K>>,
    version: AtomicU64,
}

/// What is known of a key before it has an entry.
pub(crate) struct Tier<K> {
    pub(crate) quotas: Quotas,
    /// Of the source that said so.
    pub(crate) version: u64,
    /// The owned key, if one had to be made to ask.
    pub(crate) owned: Option<K>,
}

impl<K> Tiers<K> {
    pub(crate) fn new(source: Source<K>) -> Self {
        Tiers {
            source: RwLock::new(source),
            version: AtomicU64::new(0),
        }
    }

    /// The quotas of `key`. Nothing is locked while a function of the caller's runs.
    pub(crate) fn of<Q: ?Sized>(&self, key: &Q) -> Tier<K>
    where
        K: KeyOf<Q>,
    {
        let (version, source) = self.now();
        match source {
            Source::Same(quotas) => Tier {
                quotas,
                version,
                owned: None,
            },
            Source::ByKey(function) => {
                let owned = K::owned(key);
                Tier {
                    quotas: function(&owned),
                    version,
                    owned: Some(owned),
                }
            }
        }
    }

    /// The quotas of a key that there is.
    pub(crate) fn of_owned(&self, key: &K) -> Quotas {
        match self.now().1 {
            Source::Same(quotas) => quotas,
            Source::ByKey(function) => function(key),
        }
    }

    /// The source in force, and its version.
    fn now(&self) -> (u64, Source<K>) {
        let source = self.source.read().unwrap_or_else(PoisonError::into_inner);
        (self.version(), source.clone())
    }

    /// The version of the source in force: one that is asked while a key's shard is locked tells
    /// whether what was asked before still holds.
    pub(crate) fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// Makes all that was asked before hold no longer.
    pub(crate) fn ask_anew(&self) {
        self.version.fetch_add(1, Ordering::Release);
        // With the one in `Slot::announce`.
        fence(Ordering::SeqCst);
    }

    /// Replaces the source.
    pub(crate) fn set(&self, source: Source<K>) {
        let mut held = self.source.write().unwrap_or_else(PoisonError::into_inner);
        let replaced = std::mem::replace(&mut *held, source);
        self.ask_anew();
        // A function owns what its caller gave it, whose destructor may ask the store.
        drop(held);
        drop(replaced);
    }
}
