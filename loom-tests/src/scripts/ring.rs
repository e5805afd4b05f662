//! Races of the ring alone: laps, stalled threads, unpublished records, resets.

use crate::script::{Script, acquire, detailed, peek, reset};

/// The only slot is written again and again: a thread that sleeps after its claim, or while it
/// helps, must not write over a later lap.
pub fn around_one_slot() -> Script {
    Script::new(["1/10ns"])
        .thread([acquire(10)])
        .thread([acquire(20), acquire(30), acquire(40)])
        .after([peek(40), peek(49), peek(50)])
        .preemptions(4)
}

/// Two slots, one claimed by a sleeper. The record it spoils is not the newest, which the next
/// claimer would publish again.
pub fn sleeping_claimer() -> Script {
    Script::new(["2/10ns"])
        .thread([acquire(10)])
        .thread([acquire(20), acquire(25), acquire(30)])
        .after([peek(34), peek(35), peek(39), peek(40)])
        .preemptions(4)
}

/// The same with one call more, so that the slot a sleeping helper spoils is not the newest.
pub fn sleeping_helper() -> Script {
    Script::new(["2/10ns"])
        .thread([acquire(10)])
        .thread([acquire(20), acquire(25), acquire(30), acquire(35)])
        .after([peek(39), peek(40), peek(44), peek(45)])
        .preemptions(3)
}

/// A reader on an old head meets a slot of the next lap.
pub fn reader_on_an_old_head() -> Script {
    Script::new(["3/10ns"])
        .before([acquire(0), acquire(5), acquire(10)])
        .thread([acquire(10)])
        .thread([acquire(12)])
        .after([peek(12), peek(15), peek(20), peek(22)])
}

/// A ring with a larger capacity than its limit.
pub fn room_to_spare() -> Script {
    Script::new(["1/10ns"])
        .capacity(2)
        .thread([acquire(10), acquire(20)])
        .thread([acquire(20), acquire(30)])
        .after([peek(30), peek(40)])
        .preemptions(3)
}

/// A record of two permits is finished by the next claimer.
pub fn record_of_two_permits() -> Script {
    Script::new(["3/10ns"])
        .thread([acquire(1).costing(2)])
        .thread([acquire(5), acquire(11).costing(2)])
        .after([peek(11), acquire(12), peek(15), peek(21)])
        .preemptions(3)
}

/// A record of three permits: the published part is always its beginning.
pub fn record_of_three_permits() -> Script {
    Script::new(["4/10ns"])
        .thread([acquire(1).costing(3)])
        .thread([acquire(5), acquire(8).costing(2)])
        .after([peek(8), peek(11), peek(15), peek(18)])
        .preemptions(3)
}

/// After a reset the positions go on: no slot is written twice in a lap.
pub fn reset_goes_on() -> Script {
    Script::new(["2/10ns"])
        .before([acquire(9)])
        .thread([reset(), acquire(3)])
        .thread([acquire(5), acquire(6)])
        .after([peek(6), peek(13), peek(15), peek(19)])
        .preemptions(3)
}

/// The clock stands, and resets bring the lap of the first slot back while a claimer of it sleeps.
/// The record it would spoil is not the newest.
pub fn resets_on_a_standing_clock() -> Script {
    Script::new(["2/10ns"])
        .before([acquire(5).costing(2), reset()])
        .thread([acquire(5)])
        .thread([reset(), acquire(5), reset(), acquire(5), acquire(9)])
        .after([peek(14), peek(15), peek(19)])
        .preemptions(2)
}

/// Two resets overlap, each before an earlier reading than what was accepted.
pub fn two_resets() -> Script {
    Script::new(["1/10ns"])
        .before([acquire(9)])
        .thread([reset(), acquire(3)])
        .thread([reset(), acquire(5)])
        .after([peek(12), peek(13), peek(15)])
        .preemptions(2)
}

/// What left every window is forgotten when a multiple of 2^52 ns goes by.
pub fn forgets_on_the_way() -> Script {
    const EDGE: u64 = 1 << 52;
    Script::new(["2/10ns"])
        .before([acquire(EDGE - 11), acquire(EDGE - 5)])
        .thread([acquire(EDGE), acquire(EDGE + 4)])
        .thread([detailed(EDGE + 1)])
        .after([4, 5, 10, 14].map(|later| peek(EDGE + later)))
}
