//! A flat table: limiters of one word for very many keys, without a lock.
//!
//! [`FlatTable`] has a fixed number of entries of 16 bytes: a fingerprint of the key, and the word
//! that a [`OneWordRule`](windowpane_core::one_word::OneWordRule) decides on. The probe sequence of a key
//! has 32 entries, eight cache lines of four. The key is in one of them, most often in the first line.
//! An entry is read and exchanged as one word of 128 bits. So a charge lands on the key that was read,
//! or it fails and is decided again.
//!
//! # Fingerprints
//!
//! A fingerprint is 63 bits of the key's hash. The hasher is seeded, so a client cannot choose keys that
//! share one. Two keys with one fingerprint share an allowance: each is limited by the requests of both,
//! stricter than it should be and never looser. Among `n` keys there are such two with a probability of
//! about `n² / 2^64`: for a million keys 1 in 18 million, for a hundred million 1 in 1,800.
//!
//! # Free entries
//!
//! An unknown key takes an empty entry of its probe sequence, or that of an idle key: in a block of
//! eight the key that is idle for longest. A live key is never evicted. If a key's 32 entries are all
//! live, [`WhenFull`] says what the call returns, and the table counts it. An entry that another thread
//! has claimed counts as live. In a table that is half full of live keys this hardly ever happens; the
//! fuller the table, the more often. So give it twice as many entries as there are live keys, 32 bytes a
//! key.
//!
//! A decision about a known key nearly always examines the four entries of one line; any other decision
//! examines the 32 of the probe sequence. An insertion examines them twice: first it finds that the key
//! is unknown and where a free entry is, then, with its claim made, that no other thread has inserted the
//! key. It probes again only if another thread has made progress. So a flood of keys costs each call as
//! much as any other new key, whatever the table holds.
//!
//! Denials are not counted, though [`KeyedLimiter`](crate::KeyedLimiter) counts its own: here a denial
//! writes nothing.
//!
//! # Clocks that step back
//!
//! Forgetting an idle key changes no decision at that time or later. But a reading of a clock may arrive
//! late, from a time at which the key was not idle. So the table has an *eviction watermark*: the latest
//! time from which on a forgotten key was idle. An earlier reading of an unknown key is decided at the
//! watermark, and `at` reports that. The watermark depends on what the forgotten keys had used, not on
//! the clock of the call that forgets them. So a reading far ahead raises it no further than to the end
//! of what is recorded.
//!
//! | rule | a word is idle from | earlier readings of a key that is still known |
//! |---|---|---|
//! | fixed window | the end of the window that is counted | count in the recorded window |
//! | packed counter | the end of the window after the one that is counted | before the recorded window, as at its start; inside it, as they are |
//! | GCRA | the theoretical arrival time | as they are: longer waits |
//!
//! For each key all calls are linearizable. On clocks that do not step back, each call returns what the
//! key's own limiter would return that is never forgotten. On others, what is allowed is what that
//! limiter would allow at the reported time.
//!
//! # Processors
//!
//! Reading an entry is one load where 128-bit loads are known to be atomic: on x86-64 with AVX, and on
//! AArch64. On older x86-64 processors it is an exchange that writes the line back, so there a denial
//! writes too. On processors without a 128-bit exchange, entries are behind a lock of the library that
//! emulates it.

mod acquire;
mod builder;
mod counts;
mod entry;
mod insert;
mod known;
mod places;
mod table;
#[cfg(test)]
mod tests;

use crate::hasher::DefaultHasher;
use crate::limiter::{Stats, UNRECORDED, WhenFull, recorded};

pub use builder::FlatBuilder;
pub use table::FlatTable;
