//! What the suspended thread was about, and what the others do meanwhile.

use super::Suspension;
use crate::script::{
    Call, Script, acquire, acquire_of, detailed, peek, peek_of, reset, reset_of, settle, sweep,
};

impl Suspension {
    fn of(name: &'static str, quota: &str, before: &[Call], victim: Call) -> Suspension {
        let script = Script::new([quota]);
        let script = script.before(before.iter().copied()).thread([victim]);
        Suspension { name, script }
    }

    fn beside(mut self, one: &[Call], other: &[Call], after: &[Call]) -> Suspension {
        let script = self
            .script
            .thread(one.iter().copied())
            .thread(other.iter().copied());
        self.script = script.after(after.iter().copied());
        self
    }

    fn capacity(mut self, capacity: u64) -> Suspension {
        self.script = self.script.capacity(capacity);
        self
    }
}

/// For every limiter.
pub fn any() -> Vec<Suspension> {
    vec![
        Suspension::of("an allowed call", "3/10ns", &[acquire(1)], acquire(5)).beside(
            &[acquire(5), detailed(6), acquire(7)],
            &[acquire(5), acquire(6), peek(7)],
            &[peek(8), acquire(12), acquire(16)],
        ),
        Suspension::of(
            "an allowed call that costs two",
            "4/10ns",
            &[acquire(1)],
            acquire(5).costing(2),
        )
        .beside(
            &[acquire(5).costing(2), acquire(6), acquire(7)],
            &[acquire(6), acquire(6).costing(2), peek(7)],
            &[peek(8), acquire(16), acquire(17).costing(2)],
        ),
        Suspension::of(
            "a denied call",
            "2/10ns",
            &[acquire(1), acquire(2)],
            acquire(5),
        )
        .beside(
            &[acquire(5), acquire(11), detailed(12)],
            &[acquire(6), acquire(12), peek(12)],
            &[peek(13), acquire(25)],
        ),
        Suspension::of(
            "a call in a later window",
            "2/10ns",
            &[acquire(1), acquire(8)],
            acquire(21),
        )
        .beside(
            &[acquire(21), acquire(22), detailed(32)],
            &[acquire(22), acquire(33), peek(34)],
            &[peek(34), acquire(45)],
        ),
        Suspension::of(
            "a call before others that go round",
            "2/10ns",
            &[acquire(1)],
            acquire(2),
        )
        .beside(
            &[acquire(15), acquire(35), acquire(55), acquire(75)],
            &[acquire(25), acquire(45), acquire(65)],
            &[peek(75), acquire(85)],
        ),
        Suspension::of("a look", "2/10ns", &[acquire(1)], peek(5)).beside(
            &[acquire(5), acquire(11), detailed(12)],
            &[acquire(6), acquire(12), peek(12)],
            &[peek(13), acquire(25)],
        ),
        Suspension::of("a reset", "2/10ns", &[acquire(1), acquire(2)], reset()).beside(
            &[acquire(5), acquire(6)],
            &[acquire(5), reset(), acquire(6)],
            &[peek(7), acquire(8)],
        ),
        Suspension::of(
            "a reset of one that is half full",
            "3/10ns",
            &[acquire(1)],
            reset(),
        )
        .beside(
            &[acquire(5), acquire(6), acquire(7)],
            &[acquire(5), detailed(6), acquire(7)],
            &[peek(7), acquire(18)],
        ),
    ]
}

/// For what settles.
pub fn settling() -> Vec<Suspension> {
    vec![
        Suspension::of(
            "a settling",
            "4/10ns",
            &[acquire(1).costing(3)],
            settle(1, 3, 1),
        )
        .beside(
            &[acquire(5), acquire(6), acquire(7)],
            &[acquire(5), settle(5, 1, 2), acquire(6)],
            &[acquire(8)],
        ),
    ]
}

/// For the flat table: it has two entries here.
pub fn keys() -> Vec<Suspension> {
    vec![
        Suspension::of("an insertion", "2/10ns", &[], acquire_of(1, 5)).beside(
            &[acquire_of(1, 5), acquire_of(1, 6), peek_of(1, 6)],
            &[acquire_of(1, 5), acquire_of(3, 6), acquire_of(1, 7)],
            &[peek_of(1, 8), acquire_of(1, 12)],
        ),
        Suspension::of(
            "an eviction",
            "2/10ns",
            &[acquire_of(3, 5), acquire_of(2, 5)],
            acquire_of(1, 15),
        )
        .beside(
            &[acquire_of(1, 15), acquire_of(3, 15), acquire_of(1, 16)],
            &[acquire_of(1, 15), peek_of(1, 16), acquire_of(1, 17)],
            &[peek_of(1, 18), acquire_of(1, 28)],
        ),
        Suspension::of(
            "a charge of a known key",
            "3/10ns",
            &[acquire_of(1, 5)],
            acquire_of(1, 6),
        )
        .beside(
            &[acquire_of(1, 6), acquire_of(1, 7), acquire_of(2, 7)],
            &[acquire_of(1, 6), reset_of(1), acquire_of(1, 7)],
            &[peek_of(1, 8), acquire_of(1, 12)],
        ),
        Suspension::of(
            "a denial of a known key",
            "1/10ns",
            &[acquire_of(1, 5)],
            acquire_of(1, 6),
        )
        .beside(
            &[acquire_of(1, 6), acquire_of(1, 12), acquire_of(2, 12)],
            &[acquire_of(1, 12), acquire_of(1, 23), acquire_of(2, 23)],
            &[peek_of(1, 24), acquire_of(1, 35)],
        ),
        Suspension::of(
            "a sweep",
            "1/10ns",
            &[acquire_of(1, 5), acquire_of(2, 5)],
            sweep(15),
        )
        .beside(
            &[acquire_of(1, 15), acquire_of(2, 15), acquire_of(1, 15)],
            &[acquire_of(2, 15), acquire_of(1, 15), sweep(15)],
            &[peek_of(1, 16), acquire_of(1, 25)],
        ),
        Suspension::of(
            "a reset",
            "1/10ns",
            &[acquire_of(1, 5), acquire_of(2, 5)],
            reset_of(1),
        )
        .beside(
            &[acquire_of(1, 6), acquire_of(2, 6), acquire_of(1, 7)],
            &[reset_of(1), acquire_of(1, 6), peek_of(1, 7)],
            &[peek_of(1, 8), acquire_of(1, 18)],
        ),
    ]
}

/// The same scripts, for a ring with more room than its limit.
pub fn with_room(scripts: Vec<Suspension>) -> Vec<Suspension> {
    scripts
        .into_iter()
        .map(|script| script.capacity(5))
        .collect()
}
