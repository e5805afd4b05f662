//! Races that every limiter has to survive: one quota of permits.

use crate::script::{Script, acquire, detailed, peek, reset};

/// Two threads, one permit.
pub fn last_permit() -> Script {
    Script::new(["1/10ns"])
        .thread([acquire(5)])
        .thread([acquire(5)])
        .after([peek(5), peek(14), peek(15), peek(20)])
}

/// Three threads, two permits.
pub fn three_for_two() -> Script {
    Script::new(["2/10ns"])
        .thread([acquire(5)])
        .thread([acquire(5)])
        .thread([acquire(5)])
        .after([peek(5), peek(14), peek(15), peek(20)])
        .preemptions(2)
}

/// Two threads that ask twice each, three permits.
pub fn twice_each() -> Script {
    Script::new(["3/10ns"])
        .thread([acquire(5), acquire(6)])
        .thread([acquire(5), acquire(6)])
        .after([peek(6), peek(15), peek(16), peek(20)])
        .preemptions(3)
}

/// Two requests of two permits, three permits: one fits, never both, never half of one, and the
/// permit left over can be had.
pub fn costly_requests() -> Script {
    Script::new(["3/10ns"])
        .thread([acquire(5).costing(2)])
        .thread([acquire(5).costing(2)])
        .after([peek(5), acquire(5), peek(5), peek(15), peek(20)])
}

/// Three permits asked for beside two, of four: the first call leaves too little for the
/// other, and what it leaves can be had.
pub fn unequal_costs() -> Script {
    Script::new(["4/10ns"])
        .thread([acquire(5).costing(3), acquire(5)])
        .thread([acquire(5).costing(2), acquire(5)])
        .after([peek(5), peek(15), peek(20)])
        .preemptions(2)
}

/// One asks just before the only permit comes back, the other at that instant.
pub fn expiry_edge() -> Script {
    Script::new(["1/10ns"])
        .before([acquire(1)])
        .thread([acquire(10)])
        .thread([acquire(11)])
        .after([peek(11), peek(20), peek(21), peek(30)])
}

/// One is denied while the other is allowed: the denial must be one that some order explains, with
/// its wait.
pub fn denial_beside_allowance() -> Script {
    Script::new(["2/10ns"])
        .before([acquire(1)])
        .thread([acquire(8), acquire(9)])
        .thread([acquire(8), acquire(11)])
        .after([peek(11), peek(18), peek(21), peek(30)])
        .preemptions(4)
}

/// One looks while the other takes.
pub fn looks_beside_takes() -> Script {
    Script::new(["2/10ns"])
        .before([acquire(1)])
        .thread([detailed(5), detailed(11)])
        .thread([peek(5), peek(11)])
        .after([peek(11), peek(15), peek(21)])
}

/// Clock readings arrive out of order, on one thread and between threads.
pub fn readings_out_of_order() -> Script {
    Script::new(["2/10ns"])
        .thread([acquire(21), acquire(14)])
        .thread([acquire(17), peek(23).costing(2)])
        .after([
            peek(9),
            peek(23).costing(2),
            acquire(28),
            peek(31),
            peek(38),
        ])
        .preemptions(4)
}

/// All is forgotten while the other takes.
pub fn reset_beside_takes() -> Script {
    Script::new(["2/10ns"])
        .before([acquire(8)])
        .thread([reset()])
        .thread([acquire(5), acquire(9)])
        .after([peek(5), peek(9), peek(18), acquire(19), peek(19)])
}
