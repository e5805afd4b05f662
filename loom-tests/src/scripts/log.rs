//! Races of the log alone.

use crate::script::{Script, acquire, now, peek};

/// The clock is read inside the lock: where earlier times are rejected, no reading is.
pub fn clock_inside_the_lock() -> Script {
    Script::new(["2/10ns"])
        .thread([now(), now()])
        .thread([now()])
        .after([peek(3), peek(9), peek(10), peek(13)])
}

/// Requests and tokens are counted side by side.
pub fn requests_and_tokens() -> Script {
    Script::new(["2req/10ns", "10/20ns"])
        .thread([acquire(5).costing(6)])
        .thread([acquire(5).costing(4)])
        .thread([acquire(5).costing(1)])
        .after([peek(5), peek(15), peek(25)])
}

/// A denial by a late reading, then an early reading: what the late one saw expire must still
/// count for the early one.
pub fn early_reading_after_a_late_denial() -> Script {
    Script::new(["2/10ns", "2/30ns"])
        .before([acquire(1), acquire(2)])
        .thread([acquire(15)])
        .thread([acquire(10)])
        .after([peek(11), peek(12), peek(31), peek(32)])
}
