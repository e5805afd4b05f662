//! Costs that are settled and quotas that change, beside requests.

use crate::script::{Script, acquire, change, detailed, peek, reset, settle};

/// A charge is given back while the other asks.
pub fn given_back_beside_a_take() -> Script {
    Script::new(["3/10ns"])
        .before([acquire(5).costing(2)])
        .thread([settle(5, 2, 1)])
        .thread([acquire(6), acquire(6)])
        .after([peek(6), peek(15), peek(16), peek(25)])
}

/// More is charged than there is, while the other takes what is left.
pub fn charged_more_beside_a_take() -> Script {
    Script::new(["4/10ns"])
        .before([acquire(5)])
        .thread([settle(5, 1, 4)])
        .thread([acquire(6), detailed(6)])
        .after([peek(6), peek(12), peek(15), peek(16), peek(25)])
}

/// Two settle at once, and a third takes.
pub fn two_settle_beside_a_take() -> Script {
    Script::new(["4/10ns"])
        .before([acquire(5).costing(2), acquire(6).costing(2)])
        .thread([settle(5, 2, 1)])
        .thread([settle(6, 2, 1)])
        .thread([acquire(7)])
        .after([peek(7), peek(15), peek(16), peek(25)])
}

/// A limit is raised while two ask: each is decided wholly before that or wholly after it.
pub fn raised_beside_takes() -> Script {
    Script::new(["1/10ns"])
        .capacity(2)
        .thread([change(5, 2, 10)])
        .thread([acquire(5)])
        .thread([acquire(5)])
        .after([peek(5), peek(14), peek(15)])
        .preemptions(2)
}

/// A limit is lowered below what the others take.
pub fn lowered_beside_takes() -> Script {
    Script::new(["2/10ns"])
        .thread([change(6, 1, 10)])
        .thread([acquire(5), acquire(7)])
        .after([peek(7), peek(15), peek(16), peek(17)])
        .preemptions(3)
}

/// A longer window is put in force while one asks at the edge of the old one, and after it.
pub fn longer_window_beside_takes() -> Script {
    Script::new(["1/10ns"])
        .before([acquire(1)])
        .thread([change(10, 1, 20)])
        .thread([acquire(10), acquire(11)])
        .after([peek(11), peek(20), peek(21), peek(31)])
        .preemptions(3)
}

/// All is forgotten while a limit is lowered.
pub fn reset_beside_a_change() -> Script {
    Script::new(["2/10ns"])
        .before([acquire(1).costing(2)])
        .thread([change(5, 1, 10)])
        .thread([reset(), acquire(4)])
        .after([peek(5), peek(11), peek(14), peek(15)])
        .preemptions(3)
}
