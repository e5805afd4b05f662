//! Races of the bucket ring: windows of two buckets of 2 ns, unless said otherwise.

use crate::script::{Script, acquire, detailed, peek, reset};

/// One begins the next bucket while the other adds to the last one.
pub fn roll_beside_an_acquire() -> Script {
    Script::new(["3/4ns"])
        .buckets(2)
        .before([acquire(4), acquire(6)])
        .thread([acquire(8), acquire(9)])
        .thread([acquire(7), acquire(10)])
        .after([peek(10), peek(11), peek(13), peek(15)])
        .preemptions(3)
}

/// Two threads begin buckets, not the same ones, while a third adds to the last one.
pub fn two_rolls_beside_an_acquire() -> Script {
    Script::new(["3/4ns"])
        .buckets(2)
        .before([acquire(4)])
        .thread([acquire(6)])
        .thread([acquire(8)])
        .thread([acquire(5)])
        .after([peek(8), peek(9), peek(11), peek(13)])
        .preemptions(2)
}

/// One begins a bucket that pushes the oldest out, while the other, with an earlier reading, still
/// needs it.
pub fn oldest_still_needed() -> Script {
    Script::new(["3/4ns"])
        .buckets(2)
        .before([acquire(4), acquire(6), acquire(8)])
        .thread([acquire(10)])
        .thread([acquire(8)])
        .after([peek(10), peek(11), peek(13)])
}

/// A helper that is about to write a record sleeps, while others add to the bucket and leave it.
pub fn sleeping_helper() -> Script {
    Script::new(["3/4ns"])
        .buckets(2)
        .before([acquire(4)])
        .thread([acquire(6)])
        .thread([acquire(5), acquire(7)])
        .after([peek(7), peek(9), peek(10), peek(11)])
        .preemptions(3)
}

/// A thread sleeps while the others claim a whole lap of the ring, which has three slots.
pub fn around_the_ring() -> Script {
    Script::new(["5/2ns"])
        .buckets(1)
        .before([acquire(2)])
        .thread([acquire(3)])
        .thread([acquire(4), acquire(6), acquire(8)])
        .after([peek(8), peek(9), peek(11)])
}

/// The same, asked for what remains too.
pub fn around_the_ring_in_detail() -> Script {
    Script::new(["5/2ns"])
        .buckets(1)
        .before([acquire(2)])
        .thread([detailed(3)])
        .thread([acquire(4), acquire(6), acquire(8)])
        .after([peek(8), peek(9), peek(11)])
        .preemptions(3)
}

/// A look at what remains beside the same way round.
pub fn around_the_ring_with_a_look() -> Script {
    Script::new(["5/2ns"])
        .buckets(1)
        .before([acquire(2)])
        .thread([peek(3)])
        .thread([acquire(4), acquire(6), acquire(8)])
        .after([peek(8), peek(9), peek(11)])
}

/// A thread that is denied most of the time, while the others claim a whole lap of the ring.
pub fn around_the_ring_in_vain() -> Script {
    Script::new(["1/2ns"])
        .buckets(1)
        .before([acquire(2)])
        .thread([acquire(6), acquire(10), acquire(14)])
        .thread([acquire(5)])
        .after([peek(14), peek(15), peek(17)])
        .preemptions(3)
}

/// One jumps over the whole ring after idle time, while the other asks with an earlier reading.
pub fn idle_jump_past_the_ring() -> Script {
    Script::new(["2/4ns"])
        .buckets(2)
        .before([acquire(4), acquire(6)])
        .thread([acquire(100), acquire(101)])
        .thread([acquire(9).costing(2), detailed(60)])
        .after([peek(101), peek(104), peek(105)])
        .preemptions(3)
}

/// Who sees that a bucket has begun sees the record of the one before.
pub fn record_beside_its_head() -> Script {
    Script::new(["2/4ns"])
        .buckets(2)
        .before([acquire(4)])
        .thread([acquire(6)])
        .thread([acquire(9)])
        .after([peek(9), peek(11), peek(13)])
}

/// After a reset the count and the slots go on.
pub fn reset_goes_on() -> Script {
    Script::new(["2/4ns"])
        .buckets(2)
        .before([acquire(4)])
        .thread([acquire(6), acquire(8)])
        .thread([reset(), acquire(1)])
        .after([peek(8), peek(9), peek(11), peek(13)])
        .preemptions(3)
}

/// The clock stands, and resets bring the slot and the count of the head back while a thread sleeps
/// before its claim.
pub fn resets_on_a_standing_clock() -> Script {
    const COUNTS: u64 = 1 << 39;
    Script::new(["549755813887/4ns"])
        .buckets(1)
        .before([acquire(5)])
        .thread([acquire(5).costing(COUNTS - 2)])
        .thread([
            reset(),
            acquire(5).costing(COUNTS / 2),
            reset(),
            acquire(5).costing(COUNTS / 4),
            reset(),
            acquire(5).costing(COUNTS / 8),
            reset(),
            acquire(5).costing(COUNTS / 16),
            reset(),
            acquire(5).costing(COUNTS / 32),
            reset(),
            acquire(5).costing(COUNTS / 32),
        ])
        .after([peek(5), peek(8), peek(12)])
        .preemptions(2)
}

/// The second quota denies what the first would allow, across a bucket's edge.
pub fn two_quotas() -> Script {
    Script::new(["3/4ns", "1/2ns"])
        .buckets(2)
        .before([acquire(4)])
        .thread([acquire(7), acquire(8)])
        .thread([acquire(6), acquire(9)])
        .after([peek(9), peek(11), peek(13)])
        .preemptions(3)
}
