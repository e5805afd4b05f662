//! New inputs out of old ones, without a look at the code: the short run, and the long one where no
//! other fuzzer is at hand.

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};

use crate::targets::Target;

/// No input is longer, in bytes.
const LONGEST: usize = 16 << 10;

/// What parsers of numbers, texts and lists stumble over.
const ODD: &[&[u8]] = &[
    b"0",
    b"-1",
    b"+1",
    b"18446744073709551615",
    b"18446744073709551616",
    b"9223372036854775808",
    b"340282366920938463463374607431768211456",
    b"00000000000000000000000000000001",
    b"1e308",
    b"NaN",
    b".",
    b",",
    b";",
    b"\"",
    b"\\",
    b"\0",
    b"\n",
    b"\r\n",
    b"\xff",
    b"\xef\xbb\xbf",
    b"\xc3\x28",
    b"\xf0\x9f\xaa\x9f",
];

/// An endless row of inputs for a target, the same for the same seed.
pub struct Inputs<'a> {
    target: &'a Target,
    corpus: Vec<Vec<u8>>,
    random: StdRng,
}

impl<'a> Inputs<'a> {
    /// Inputs changed from `corpus`; from nothing if it is empty.
    pub fn new(target: &'a Target, corpus: Vec<Vec<u8>>, seed: u64) -> Inputs<'a> {
        Inputs {
            target,
            corpus,
            random: StdRng::seed_from_u64(seed),
        }
    }

    /// The next input.
    pub fn next_input(&mut self) -> Vec<u8> {
        let mut input = self.pick();
        // Mostly few changes: an input that is nearly sound goes deepest.
        let changes = 1 << self.random.random_range(0..5);
        for _ in 0..changes {
            self.change(&mut input);
        }
        input.truncate(LONGEST);
        input
    }

    fn pick(&mut self) -> Vec<u8> {
        let picked = self.corpus.choose(&mut self.random);
        picked.cloned().unwrap_or_default()
    }

    fn change(&mut self, input: &mut Vec<u8>) {
        let at = self.random.random_range(0..=input.len());
        let end = self.random.random_range(at..=input.len());
        match self.random.random_range(0..9) {
            0 if at < input.len() => input[at] ^= 1 << self.random.random_range(0..8),
            1 if at < input.len() => input[at] = self.random.random(),
            // A digit more or less, a letter beside it.
            2 if at < input.len() => {
                input[at] = input[at]
                    .wrapping_add(self.random.random_range(0..3))
                    .wrapping_sub(1);
            }
            3 => {
                input.drain(at..end);
            }
            4 => {
                let part = input[at..end].to_vec();
                let times = self.random.random_range(1..20);
                if part.len() * times <= LONGEST {
                    input.splice(at..at, part.repeat(times));
                }
            }
            5 => {
                let words = self.target.words;
                if let Some(word) = words.choose(&mut self.random) {
                    input.splice(at..at, word.bytes());
                }
            }
            6 => {
                let odd = *ODD.choose(&mut self.random).unwrap_or(&ODD[0]);
                input.splice(at..end, odd.iter().copied());
            }
            7 => {
                let other = self.pick();
                let from = self.random.random_range(0..=other.len());
                input.splice(at..end, other[from..].iter().copied());
            }
            _ => {
                let some = self.random.random_range(1..16);
                let bytes: Vec<u8> = (0..some).map(|_| self.random.random()).collect();
                input.splice(at..at, bytes);
            }
        }
    }
}
