//! A flat table: limiters of one word for very many keys, without a lock.
//!
//! [`FlatTable`] has a fixed number of entries of 16 bytes: a fingerprint of the key, and the word
//! that a [`OneWordRule`](windowpane_core::one_word::OneWordRule) decides on. A key has a way of 32
//! entries, eight cache lines of four, and stands in one of them, most often in the first line. An
//! entry is read and exchanged as one word of 128 bits, so a charge lands on the key that was read,
//! or is lost and decided anew.
//!
//! # Fingerprints
//!
//! A fingerprint is 63 bits of the key's hash; the hasher is seeded, so nobody can choose keys that
//! share one. Two keys that do share an allowance: each is limited by what both ask for, stricter
//! than it should be, and never looser. Among `n` keys there are such two with a probability of
//! about `n² / 2^64`: for a million keys, 1 in 18 million; for a hundred million, 1 in 1,800.
//!
//! # Room
//!
//! An unknown key takes an empty entry of its way, or one whose key is idle, the longest idle of a
//! block of eight. A live key is never evicted: if a key's 32 entries are all live, it is answered
//! as [`WhenFull`] says, and that is counted. An entry that another thread is about to give to
//! another key counts as taken. In a table that is half full of live keys that hardly happens to
//! anybody; the fuller it gets, the more often: give the table twice as many entries as there may
//! be live keys, so 32 bytes a key.
//!
//! A known key's decision examines the four entries of one line, nearly always; any other decision
//! the 32 of the way, and an insertion those twice: once to find that the key is unknown and where
//! there is room, once more when its entry is claimed, to make sure that no other thread has inserted
//! the key meanwhile. Only another thread's success can make it go round again. So a flood of keys
//! costs each call as much as any other new key, whatever the table holds.
//!
//! Denials are not counted, though [`KeyedLimiter`](crate::KeyedLimiter) counts its own: a denial
//! writes nothing here, and a caller who wants the count has the answers.
//!
//! # Clocks that step back
//!
//! To forget an idle key changes no decision at that time or later. But a reading of a clock may
//! arrive late, and the key may not have been idle then. So the table has a floor: the latest time
//! from which on a forgotten key was idle. An unknown key is decided at the floor where its reading
//! is earlier, and told so (`at`). The floor is told by what the keys had used, not by the clock of
//! whoever forgets them: a reading far ahead raises it no farther than to the end of what is
//! recorded. What is forgotten when:
//!
//! | rule | a word is idle from | earlier readings of a key that is still known |
//! |---|---|---|
//! | fixed window | the end of the window that is counted | count in the recorded window |
//! | packed counter | the end of the window after the one that is counted | before the recorded window, as at its start; inside it, as they are |
//! | GCRA | the theoretical arrival time | as they are: longer waits |
//!
//! For each key all calls are linearizable. On clocks that do not step back, each answers as the
//! key's own limiter would that is never forgotten. Where they do, what is allowed is what that
//! limiter would allow at the time that is told.
//!
//! # Processors
//!
//! Reading an entry is one load where 128-bit loads are known to be atomic: on x86-64 with AVX, and
//! on AArch64. On older x86-64 processors it is an exchange that writes the line back, so there a
//! denial is not free of writes; on processors without a 128-bit exchange, entries are behind a lock
//! of the library that emulates it.

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
