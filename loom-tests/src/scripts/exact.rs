//! Races of the limiters that hold several quotas.

use crate::script::{Script, acquire, detailed, peek};

/// The second quota denies what the first would allow.
pub fn second_quota_denies() -> Script {
    Script::new(["3/20ns", "1/3ns"])
        .thread([acquire(5), acquire(7)])
        .thread([acquire(5), acquire(8)])
        .after([peek(8), peek(11), peek(25), peek(28)])
        .preemptions(4)
}

/// Two quotas and two costs: each is charged against both or none.
pub fn two_quotas_two_costs() -> Script {
    Script::new(["5/20ns", "3/5ns"])
        .before([acquire(1)])
        .thread([acquire(5).costing(2)])
        .thread([acquire(5).costing(2), detailed(10)])
        .after([peek(10), peek(15), peek(21), peek(25), peek(30)])
        .preemptions(4)
}

/// While the second quota denies one, the other takes the place of the permit that decides the
/// first: the wait and the quota reported must not be of two moments.
pub fn denial_over_two_quotas() -> Script {
    Script::new(["3/10ns", "1/3ns"])
        .before([acquire(0), acquire(4), acquire(8)])
        .thread([acquire(11)])
        .thread([acquire(10)])
        .after([peek(11), peek(14), peek(18), peek(21)])
}
