//! Where the limiters are, and how the file's quotas get there.

use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use windowpane_core::{Local, Quotas};
use windowpane_keyed::KeyedLimiter;
use windowpane_mutex_log::MutexLog;
use windowpane_redis::{Log, RedisLimiter, Store};
use windowpane_tower::reload::{FileError, QuotaFile, Reload};
use windowpane_tower::{ByText, record_store};

/// The most keys that are held at once; idle ones are evicted for new ones.
const MAX_KEYS: usize = 100_000;

/// A store in this process.
type InMemory<K> = Local<Arc<KeyedLimiter<K, MutexLog>>>;

/// The stores of limiters, and what keeps their quotas as the file says.
pub(crate) struct Stores<A, K> {
    pub(crate) by_address: A,
    pub(crate) by_key: K,
    pub(crate) reload: Reload,
    /// Records in the metrics how full the stores are.
    pub(crate) record: Arc<dyn Fn() + Send + Sync>,
}

/// The quotas that the file must have.
struct Both {
    address: Quotas,
    key: Quotas,
}

impl Both {
    fn of(file: &QuotaFile) -> Result<Both, FileError> {
        let table = |name| {
            let quotas = file.get(name).cloned();
            quotas.ok_or_else(|| FileError::new(format!("expected a table [{name}]")))
        };
        Ok(Both {
            address: table("address")?,
            key: table("api-key")?,
        })
    }
}

/// Stores in this process's memory. A mutex log holds whatever quotas a file may ask for; its memory
/// holds the accepted requests, at most the limit for each key.
pub(crate) fn memory(path: &Path) -> anyhow::Result<Stores<InMemory<IpAddr>, InMemory<String>>> {
    let first = Both::of(&QuotaFile::read(path)?)?;
    let by_address = KeyedLimiter::builder(first.address)
        .max_keys(MAX_KEYS)
        .build()?;
    let by_key = KeyedLimiter::builder(first.key)
        .max_keys(MAX_KEYS)
        .build()?;
    let (by_address, by_key) = (Arc::new(by_address), Arc::new(by_key));
    let stores = (Arc::clone(&by_address), Arc::clone(&by_key));
    let reload = Reload::new(path, move |file| {
        let both = Both::of(file)?;
        // A log holds any quotas, so neither change fails after the other was made.
        let changed = stores.0.set_quotas(both.address);
        let changed = changed.and_then(|()| stores.1.set_quotas(both.key));
        let changed = changed.and_then(|()| stores.0.refresh());
        let changed = changed.and_then(|_| stores.1.refresh());
        changed
            .map(drop)
            .map_err(|error| FileError::new(error.to_string()))
    })?;
    let counted = (Arc::clone(&by_address), Arc::clone(&by_key));
    Ok(Stores {
        by_address: Local(by_address),
        by_key: Local(by_key),
        reload,
        record: Arc::new(move || {
            record_store(
                "address",
                counted.0.keys() as u64,
                counted.0.stats().evictions,
            );
            record_store(
                "api-key",
                counted.1.keys() as u64,
                counted.1.stats().evictions,
            );
        }),
    })
}

/// Stores on a Redis or Valkey server, which counts its keys and evictions itself.
pub(crate) async fn redis(
    address: &str,
    path: &Path,
) -> anyhow::Result<Stores<ByText<RedisLimiter<Log>>, ByText<RedisLimiter<Log>>>> {
    let first = Both::of(&QuotaFile::read(path)?)?;
    let server = Store::at(address)?
        .connect_within(Duration::from_secs(2))
        .await?;
    let by_address = RedisLimiter::builder(server.clone(), first.address.clone())
        .prefix("address")
        .build()?;
    let by_key = RedisLimiter::builder(server, first.key)
        .prefix("api-key")
        .build()?;
    let (address, key) = (by_address.clone(), by_key.clone());
    let mut in_force = first.address;
    let reload = Reload::new(path, move |file| {
        let both = Both::of(file)?;
        let rejected = |error: windowpane_redis::ConfigError| FileError::new(error.to_string());
        address
            .change_quotas(both.address.clone())
            .map_err(rejected)?;
        if let Err(error) = key.change_quotas(both.key) {
            // Both or none. The old ones were held before, so they are again.
            address.change_quotas(in_force.clone()).map_err(rejected)?;
            return Err(rejected(error));
        }
        in_force = both.address;
        Ok(())
    })?;
    Ok(Stores {
        by_address: ByText(by_address),
        by_key: ByText(by_key),
        reload,
        record: Arc::new(|| {}),
    })
}
