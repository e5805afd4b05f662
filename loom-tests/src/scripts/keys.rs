//! Races of stores of keys. A table has two entries here: odd keys go to the second one first, even
//! keys to the first.

use crate::script::{Script, acquire_of, peek_of, reset_of, sweep};

/// Two threads insert one key, into an empty table.
pub fn inserted_twice() -> Script {
    Script::new(["1/10ns"])
        .thread([acquire_of(1, 5)])
        .thread([acquire_of(1, 5)])
        .after([peek_of(1, 5), acquire_of(1, 12)])
}

/// Two threads insert one key, and each has another entry for it: what the one finds taken, the
/// other frees.
pub fn inserted_in_two_places() -> Script {
    Script::new(["1/10ns"])
        .before([acquire_of(3, 5)])
        .thread([acquire_of(1, 5)])
        .thread([reset_of(3), acquire_of(1, 5)])
        .after([peek_of(1, 5), peek_of(3, 5), acquire_of(1, 12)])
}

/// The same, and a third thread that inserts the key too and sleeps before it claims an entry.
pub fn inserted_by_three() -> Script {
    Script::new(["1/10ns"])
        .before([acquire_of(3, 5)])
        .thread([acquire_of(1, 5)])
        .thread([reset_of(3), acquire_of(1, 5)])
        .thread([acquire_of(1, 5)])
        .after([peek_of(1, 5)])
        .preemptions(2)
}

/// One inserts a key in the place of an idle one, while the other charges that.
pub fn evicted_while_charged() -> Script {
    Script::new(["2/10ns"])
        .before([acquire_of(3, 5), acquire_of(2, 5)])
        .thread([acquire_of(1, 10)])
        .thread([acquire_of(3, 10), acquire_of(3, 10)])
        .after([peek_of(1, 10), peek_of(3, 10), acquire_of(3, 10)])
        .preemptions(3)
}

/// An idle key is charged, while its entry is taken by another key, emptied, and taken by a third.
pub fn reused_while_charged() -> Script {
    Script::new(["2/10ns"])
        .before([acquire_of(3, 5), acquire_of(2, 5)])
        .thread([acquire_of(1, 10), reset_of(1), acquire_of(5, 10)])
        .thread([acquire_of(3, 10)])
        .after([peek_of(3, 10), peek_of(5, 10)])
        .preemptions(3)
}

/// A key is forgotten at a late reading, while the other thread asks for it with an early one.
pub fn forgotten_before_an_early_reading() -> Script {
    Script::new(["1/10ns"])
        .before([acquire_of(3, 5), acquire_of(2, 5)])
        .thread([acquire_of(1, 10)])
        .thread([acquire_of(3, 9)])
        .after([peek_of(3, 9), acquire_of(3, 10)])
        .steps_back()
}

/// A sweep, beside one who charges an idle key and then asks again.
pub fn swept_while_charged() -> Script {
    Script::new(["2/10ns"])
        .before([acquire_of(3, 5), acquire_of(3, 6)])
        .thread([sweep(10)])
        .thread([acquire_of(3, 10), acquire_of(3, 10)])
        .after([peek_of(3, 10), acquire_of(3, 10)])
}

/// A sweep at a late reading, beside one who asks with an early one.
pub fn swept_before_an_early_reading() -> Script {
    Script::new(["1/10ns"])
        .before([acquire_of(3, 5)])
        .thread([sweep(10)])
        .thread([acquire_of(3, 9)])
        .after([peek_of(3, 9), acquire_of(3, 10)])
        .steps_back()
}

/// A sweep at a late reading, beside one who looks with an early one.
pub fn swept_before_an_early_look() -> Script {
    Script::new(["1/10ns"])
        .before([acquire_of(3, 5)])
        .thread([sweep(10)])
        .thread([peek_of(3, 9)])
        .after([peek_of(3, 9)])
        .steps_back()
}

/// A sweep finds an insertion that is not finished.
pub fn swept_while_inserted() -> Script {
    Script::new(["1/10ns"])
        .thread([sweep(5)])
        .thread([acquire_of(1, 5), acquire_of(1, 5)])
        .after([peek_of(1, 5)])
}

/// One key is charged by two threads and looked at by a third.
pub fn charged_and_looked_at() -> Script {
    Script::new(["2/10ns"])
        .before([acquire_of(1, 5)])
        .thread([acquire_of(1, 5)])
        .thread([acquire_of(1, 5)])
        .thread([peek_of(1, 5)])
        .after([peek_of(1, 5)])
        .preemptions(2)
}

/// A look beside the insertion of its key, and of another.
pub fn looked_at_while_inserted() -> Script {
    Script::new(["2/10ns"])
        .thread([acquire_of(1, 5)])
        .thread([peek_of(1, 5), acquire_of(3, 5)])
        .after([peek_of(1, 5), peek_of(3, 5)])
}

/// All of a key is forgotten while it is charged.
pub fn reset_while_charged() -> Script {
    Script::new(["2/10ns"])
        .before([acquire_of(1, 5)])
        .thread([reset_of(1)])
        .thread([acquire_of(1, 5), acquire_of(1, 5)])
        .after([peek_of(1, 5), acquire_of(1, 5)])
        .preemptions(3)
}
