//! Whose requests these are: each key once, and a small number for it.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

/// The keys seen so far, numbered in that order.
///
/// A key is bytes: what a log holds need not be text. Known keys are found without an allocation.
#[derive(Default)]
pub struct Keys {
    hasher: DefaultHashBuilder,
    numbers: HashTable<u32>,
    names: Names,
}

/// The keys one after the other: close together, since a look-up waits for little but memory.
#[derive(Default)]
struct Names {
    text: Vec<u8>,
    /// Where each ends.
    ends: Vec<usize>,
}

impl Names {
    #[inline]
    fn get(&self, number: u32) -> &[u8] {
        let number = number as usize;
        let start = match number {
            0 => 0,
            _ => self.ends[number - 1],
        };
        &self.text[start..self.ends[number]]
    }
}

impl Keys {
    /// The hash of a key, for [`number`](Self::number).
    #[inline]
    pub(crate) fn hash(&self, name: &[u8]) -> u64 {
        self.hasher.hash_one(name)
    }

    /// The number of a key with its hash, new or known.
    ///
    /// # Panics
    /// At 2^32 keys, which no machine this runs on holds.
    #[inline]
    pub(crate) fn number(&mut self, hash: u64, name: &[u8]) -> u32 {
        let known = |number: &u32| self.names.get(*number) == name;
        match self.numbers.find(hash, known) {
            Some(number) => *number,
            None => self.add(hash, name),
        }
    }

    fn add(&mut self, hash: u64, name: &[u8]) -> u32 {
        let number = u32::try_from(self.len()).expect("fewer than 2^32 keys");
        self.names.text.extend_from_slice(name);
        self.names.ends.push(self.names.text.len());
        let (hasher, names) = (&self.hasher, &self.names);
        let hash_of = |number: &u32| hasher.hash_one(names.get(*number));
        self.numbers.insert_unique(hash, number, hash_of);
        number
    }

    /// The key of that number.
    pub fn name(&self, number: u32) -> &[u8] {
        self.names.get(number)
    }

    /// Returns the number of keys.
    #[expect(clippy::len_without_is_empty, reason = "no caller asks")]
    pub fn len(&self) -> usize {
        self.names.ends.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_has_one_number_and_the_number_leads_back() {
        let mut keys = Keys::default();
        let names: Vec<Vec<u8>> = (0..10_000_u32)
            .map(|i| {
                if i == 7 {
                    Vec::new()
                } else {
                    i.to_string().into()
                }
            })
            .collect();
        for _ in 0..2 {
            for (number, name) in (0..).zip(&names) {
                let hash = keys.hash(name);
                assert_eq!(keys.number(hash, name), number);
            }
        }
        assert_eq!(keys.len(), names.len());
        assert!(
            (0..)
                .zip(&names)
                .all(|(number, name)| keys.name(number) == name)
        );
    }
}
