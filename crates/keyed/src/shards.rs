//! The sharded map, shard by shard: one hash a call, and closures that run under a shard's lock.
//!
//! DashMap's own methods hash the key in each call and tell no shard from another. Its `raw-api`
//! feature gives the shards themselves, so that a key is hashed once however often its shard is
//! asked, and an entry can be found by its hash alone.

use std::borrow::Borrow;
use std::hash::{BuildHasher, Hash};
use std::mem::take;

use dashmap::{DashMap, SharedValue};
use windowpane_core::sync::Gates;

/// How many keys a shard is laid out for. A shard that grows moves all its entries under its lock,
/// so shards are many and small.
const KEYS_A_SHARD: usize = 16_384;
/// A shard takes two cache lines even when empty.
const MOST_SHARDS: usize = 1 << 10;

/// The map.
pub(crate) struct Shards<K, V, S> {
    map: DashMap<K, V, S>,
    /// One before each shard's lock, which is DashMap's own and which shuttle does not know.
    gates: Gates,
}

impl<K: Hash + Eq, V, S: BuildHasher + Clone> Shards<K, V, S> {
    /// An empty map with as many shards as `keys` keys on this machine's processors need.
    pub(crate) fn new(keys: usize, hasher: S) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let shards = (keys / KEYS_A_SHARD)
            .clamp(4 * processors, MOST_SHARDS.max(4 * processors))
            .next_power_of_two();
        Shards {
            map: DashMap::with_hasher_and_shard_amount(hasher, shards),
            gates: Gates::new(shards),
        }
    }

    /// A key's hash, for all other calls.
    #[inline]
    pub(crate) fn hash<Q: Hash + ?Sized>(&self, key: &Q) -> u64
    where
        K: Borrow<Q>,
    {
        self.map.hasher().hash_one(key)
    }

    /// What `found` makes of the entry that `is_it`, or `absent` of there being none, while the
    /// shard is locked shared: no entry of it comes or goes meanwhile.
    #[inline]
    pub(crate) fn read<R>(
        &self,
        hash: u64,
        is_it: impl Fn(&K, &V) -> bool,
        found: impl FnOnce(&K, &V) -> R,
        absent: impl FnOnce() -> R,
    ) -> R {
        let nth = self.map.determine_shard(hash as usize);
        let _gate = self.gates.shared(nth);
        let shard = self.map.shards()[nth].read();
        match shard.get(hash, |(key, value)| is_it(key, value.get())) {
            Some((key, value)) => found(key, value.get()),
            None => absent(),
        }
    }

    /// The entry that `is_it`. `&mut self`: no lock is taken.
    #[inline]
    pub(crate) fn get_mut(&mut self, hash: u64, is_it: impl Fn(&K, &V) -> bool) -> Option<&mut V> {
        let shard = self.map.determine_shard(hash as usize);
        let shard = self.map.shards_mut()[shard].get_mut();
        let (_, value) = shard.get_mut(hash, |(key, value)| is_it(key, value.get()))?;
        Some(value.get_mut())
    }

    /// What `found` makes of the entry that `is_it`; if there is none, what `absent` answers, after
    /// its entry, if it gives one, has been inserted. The shard is locked for this call alone.
    pub(crate) fn write<R>(
        &self,
        hash: u64,
        is_it: impl Fn(&K, &V) -> bool,
        found: impl FnOnce(&mut V) -> R,
        absent: impl FnOnce() -> (R, Option<(K, V)>),
    ) -> R {
        let nth = self.map.determine_shard(hash as usize);
        let _gate = self.gates.alone(nth);
        let mut shard = self.map.shards()[nth].write();
        if let Some((_, value)) = shard.get_mut(hash, |(key, value)| is_it(key, value.get())) {
            return found(value.get_mut());
        }
        let (answer, entry) = absent();
        if let Some((key, value)) = entry {
            let hasher = self.map.hasher();
            shard.insert(hash, (key, SharedValue::new(value)), |(key, _)| {
                hasher.hash_one(key)
            });
        }
        answer
    }

    /// Removes the entry that `is_it`, which is asked while the shard is locked for this call alone
    /// and may do what has to be done before the entry is gone.
    pub(crate) fn remove(&self, hash: u64, is_it: impl Fn(&K, &V) -> bool) -> Option<V> {
        let nth = self.map.determine_shard(hash as usize);
        let _gate = self.gates.alone(nth);
        let mut shard = self.map.shards()[nth].write();
        let removed = shard.remove_entry(hash, |(key, value)| is_it(key, value.get()));
        // What an entry owns is freed after the lock is.
        drop(shard);
        removed.map(|(_, value)| value.into_inner())
    }

    /// Removes all entries at one instant, at which all shards are locked for this call alone and
    /// `meanwhile` runs. O(shards) under the locks.
    pub(crate) fn clear(&self, meanwhile: impl FnOnce()) -> impl Iterator<Item = (K, V)> {
        let shards = self.map.shards();
        // In the order of their numbers, so that two such calls do not wait for each other. A gate is
        // dropped after the lock behind it.
        let lock = |nth: usize| {
            let gate = self.gates.alone(nth);
            (shards[nth].write(), gate)
        };
        let mut locked: Vec<_> = (0..shards.len()).map(lock).collect();
        meanwhile();
        let tables: Vec<_> = locked
            .iter_mut()
            .map(|(shard, _)| take(&mut **shard))
            .collect();
        drop(locked);
        let entries = tables.into_iter().flatten();
        entries.map(|(key, value)| (key, value.into_inner()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_found_by_either_form_of_its_key_and_by_its_hash_alone() {
        let map: Shards<String, u32, ahash::RandomState> = Shards::new(100, Default::default());
        let hash = map.hash("a");
        assert_eq!(hash, map.hash(&String::from("a")));
        let absent = || (None, Some((String::from("a"), 7)));
        let is_a = |key: &String, _: &u32| key == "a";
        assert_eq!(map.write(hash, is_a, |value| Some(*value), absent), None);
        assert_eq!(map.write(hash, is_a, |value| Some(*value), absent), Some(7));
        let is_7 = |_: &String, value: &u32| *value == 7;
        assert_eq!(
            map.read(hash, is_7, |_, value| Some(*value), || None),
            Some(7)
        );
        assert_eq!(map.remove(hash, |_, value| *value == 8), None);
        assert_eq!(map.remove(hash, is_7), Some(7));
        assert_eq!(map.read(hash, is_7, |_, value| Some(*value), || None), None);
    }

    #[test]
    fn clear_returns_all_entries_and_locks_every_shard_meanwhile() {
        let map: Shards<u64, u64, ahash::RandomState> = Shards::new(100, Default::default());
        for key in 0..1_000_u64 {
            map.write(
                map.hash(&key),
                |k, _| *k == key,
                |_| (),
                || ((), Some((key, 2 * key))),
            );
        }
        let all_locked = || {
            map.map
                .shards()
                .iter()
                .all(|shard| shard.try_read().is_none())
        };
        let mut entries: Vec<_> = map.clear(|| assert!(all_locked())).collect();
        entries.sort_unstable();
        assert!(entries.into_iter().eq((0..1_000).map(|key| (key, 2 * key))));
        let none_locked = map
            .map
            .shards()
            .iter()
            .all(|shard| shard.try_write().is_some());
        assert!(none_locked);
        assert_eq!(map.clear(|| ()).count(), 0);
    }

    /// Enough for the keys, some for each processor, and no more than are useful.
    #[test]
    fn shards_are_as_many_as_their_keys_need() {
        let shards = |keys| {
            let map: Shards<u64, u64, ahash::RandomState> = Shards::new(keys, Default::default());
            map.map.shards().len()
        };
        let least = shards(1);
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        assert!(least >= 4 * processors && least < 8 * processors);
        assert_eq!(shards(2 * least * KEYS_A_SHARD), 2 * least);
        assert_eq!(shards(usize::MAX), MOST_SHARDS.max(least));
        assert_eq!(MOST_SHARDS, 1_024);
    }

    #[test]
    fn keys_outlive_the_growth_of_their_shards() {
        let map: Shards<u64, u64, ahash::RandomState> = Shards::new(1, Default::default());
        let ask = |key: u64| map.read(map.hash(&key), |k, _| *k == key, |_, v| Some(*v), || None);
        for key in 0..100_000_u64 {
            let absent = || ((), Some((key, key + 1)));
            map.write(map.hash(&key), |k, _| *k == key, |_| (), absent);
        }
        assert!((0..100_000).all(|key| ask(key) == Some(key + 1)));
        assert_eq!(ask(100_000), None);
    }
}
