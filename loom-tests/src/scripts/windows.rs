//! Races around the windows of the one-word limiters, which begin at multiples of the window.

use crate::script::{Script, acquire, detailed, peek};

/// Two threads are the first of a new window.
pub fn roll_raced() -> Script {
    Script::new(["2/10ns"])
        .before([acquire(5).costing(2)])
        .thread([acquire(15)])
        .thread([acquire(15)])
        .after([peek(15), peek(19), peek(20), peek(25), peek(30)])
}

/// One fills a window, the other begins the next and comes back with an early reading.
pub fn roll_beside_a_late_taker() -> Script {
    Script::new(["3/10ns"])
        .before([acquire(5)])
        .thread([acquire(9), detailed(10)])
        .thread([acquire(12), acquire(9)])
        .after([peek(12), peek(19), peek(20), peek(25), peek(30)])
}

/// After idle windows, one jumps farther than the other.
pub fn idle_jump() -> Script {
    Script::new(["2/10ns"])
        .before([acquire(5).costing(2)])
        .thread([acquire(25), acquire(26)])
        .thread([acquire(35)])
        .after([peek(35), peek(45), peek(50), peek(60)])
}

/// A costly request rolls the window while another fills the old one.
pub fn costs_across_a_roll() -> Script {
    Script::new(["4/10ns"])
        .before([acquire(1)])
        .thread([acquire(9).costing(3)])
        .thread([acquire(11).costing(2), acquire(12).costing(2)])
        .after([peek(12), peek(15), peek(20), peek(30)])
}

/// One is denied in a full window while the other is allowed in the next.
pub fn denial_across_a_roll() -> Script {
    Script::new(["2/10ns"])
        .before([acquire(1).costing(2)])
        .thread([acquire(9)])
        .thread([acquire(16), acquire(17)])
        .after([peek(17), peek(20), peek(30)])
}
