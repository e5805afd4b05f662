//! Stores whose keys are texts.

use std::fmt::Display;

use windowpane_core::{
    Answer, AsyncKeyedRateLimiter, AsyncKeyedSettle, Charge, Cost, Quotas, StoreError,
};

/// A store with `str` keys, such as one on another machine, for keys of any type that has a text:
/// addresses, strings, numbers.
///
/// Two keys with one text are one key.
#[derive(Clone, Copy, Debug, Default)]
pub struct ByText<S>(pub S);

impl<K, S> AsyncKeyedRateLimiter<K> for ByText<S>
where
    K: Display + Send + Sync,
    S: AsyncKeyedRateLimiter<str>,
{
    fn quotas(&self, key: &K) -> Quotas {
        self.0.quotas(&key.to_string())
    }

    async fn decide_detailed(&self, key: &K, cost: Cost) -> Result<Answer, StoreError> {
        let key = key.to_string();
        self.0.decide_detailed(&key, cost).await
    }
}

impl<K, S> AsyncKeyedSettle<K> for ByText<S>
where
    K: Display + Send + Sync,
    S: AsyncKeyedSettle<str>,
{
    async fn settle(&self, key: &K, charge: Charge, actual: u64) -> Result<(), StoreError> {
        let key = key.to_string();
        self.0.settle(&key, charge, actual).await
    }
}
