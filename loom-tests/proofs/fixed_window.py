"""The fixed window: its bound, its wait, what remains, its fields and changing."""

from z3 import UGE, ULE, And, BitVecs, Implies, LShR, Not, Or

from proving import *

shipped(
    "crates/baselines/src/fixed_window.rs",
    "let at = now.max(start); if at - start < window",
    "let windows = (at - start) / window;",
    "if windows > self.last_index() - index",
    "if charge <= self.quota.limit().saturating_sub(rolled.count)",
    "(self.quota.window() - (rolled.at - rolled.start)).saturating_add(rolled.at - now)",
    "let index_bits = bits(u64::MAX / quota.window()).min(u64::BITS - count_bits);",
    "fields.index << self.offset_bits | fields.offset,",
    "time << self.count_bits | count",
    "time.max(word >> self.count_bits)",
    "(((fields.offset + 1) << self.offset_shift) - 1).min(self.quota.window() - 1)",
    "let at = now.max(self.latest(&fields));",
    "base: start - start % quota.window(),",
)

limit, window, charge, count, start, now, at = ints("limit window charge count start now at")
quota = [limit >= 1, window >= 1, charge >= 1, charge <= limit]

# A window (t - window, t] meets two aligned windows, or one of 1 ns.
older, newer, oldest, newest = ints("older newer oldest newest")
meets = [limit >= 1, window >= 1] + at_least_0(older, newer) + [
    older <= limit,
    newer <= limit,
    # The oldest and the newest permit of the two, by their times from the start of the newer window.
    Implies(older > 0, And(-window <= oldest, oldest < 0)),
    Implies(newer > 0, And(0 <= newest, newest < window)),
    Implies(And(older > 0, newer > 0), newest - oldest < window),
]
statement(
    "any window holds at most twice the limit, and of 1 ns the limit",
    meets,
    And(older + newer <= 2 * limit, Implies(window == 1, older + newer <= limit)),
    false="of 2 ns it holds the limit, too",
    false_claim=Implies(window == 2, older + newer <= limit),
)

# `at` is the call's time, or the start of the recorded window where that is later.
state = quota + at_least_0(count, start, now) + [at == maximum(now, start)]
in_window = at < start + window


def allowed(time):
    """Whether a call is allowed that counts as made at `time`, in the recorded window or after it."""
    return Or(
        time >= start + window,
        And(time < start + window, charge <= maximum(limit - count, 0)),
    )


wait, earlier = ints("wait earlier")
denied = state + [
    in_window,
    Not(allowed(at)),
    wait == (window - (at - start)) + (at - now),
]
statement(
    "after the wait the request is allowed, also by a clock that is behind",
    denied,
    And(wait >= 1, allowed(maximum(now + wait, start))),
    false="a wait that forgets how far behind the clock is",
    false_given=denied[:-1] + [wait == window - (at - start)],
)
statement(
    "before the wait is over it is denied",
    denied + [0 <= earlier, earlier < wait],
    Not(allowed(maximum(now + earlier, start))),
    false="at its end, too",
    false_given=denied + [0 <= earlier, earlier <= wait],
)

remaining = maximum(limit - count, 0)
statement(
    "what remains is the largest cost that is allowed, also above a lowered limit",
    state + [in_window],
    allowed(at) == (charge <= remaining),
    false="without the bound at 0, of any cost",
    false_claim=limit - count >= 0,
)

index, last, windows = ints("index last windows")
statement(
    "a roll within the range has an index that fits, and one beyond it is an error",
    at_least_0(index, start) + [index <= last, window >= 1, at >= start, quotient(at - start, window, windows), windows <= last - index],
    And(index + windows <= last, start + windows * window <= at, at < start + (windows + 1) * window),
    false="without the check",
    false_given=at_least_0(index, start) + [index <= last, window >= 1, at >= start, quotient(at - start, window, windows)],
)

accepted_at, latest, new_window = ints("accepted_at latest new_window")
its_index, change_index = ints("its_index change_index")
change = at_least_0(accepted_at, now) + [
    new_window >= 1,
    accepted_at <= latest,
    quotient(accepted_at, new_window, its_index),
    quotient(at, new_window, change_index),
]
statement(
    "a change counts what was accepted in no earlier new window than it lies in",
    change + [at == maximum(now, latest)],
    its_index <= change_index,
    false="a change decides by its own time",
    false_given=change + [at == now],
)

wide, offset_wide = BitVecs("count_bits offset_bits", 64)
word, an_index, an_offset, a_count = BitVecs("word index offset count", 64)
laid_out = [UGE(wide, 1), ULE(wide, 63), ULE(offset_wide, 63), ULE(wide + offset_wide, 63)]
packed = word == (((an_index << offset_wide) | an_offset) << wide | a_count)
fields = laid_out + [
    ULE(a_count, mask(wide)),
    ULE(an_offset, mask(offset_wide)),
    ULE(an_index, LShR(BitVecVal(-1, 64), wide + offset_wide)),
    packed,
]
statement(
    "the fields of every layout come back, and none carries into another",
    fields,
    And(
        LShR(word, wide + offset_wide) == an_index,
        LShR(word, wide) & mask(offset_wide) == an_offset,
        word & mask(wide) == a_count,
    ),
    false="an index one above the last",
    false_given=laid_out
    + [a_count == 0, an_offset == 0, ULE(an_index, LShR(BitVecVal(-1, 64), wide + offset_wide) + 1), packed],
)

ended()
