"""The packed counter: its bound, its wait, what remains, its fields, settling and changing."""

from z3 import UGE, ULE, ULT, And, BitVec, BitVecs, If, Implies, LShR, Not, Or

from proving import *

RULE = "crates/packed-counter/src/rule.rs"
LAYOUT = "crates/packed-counter/src/layout.rs"

shipped(
    RULE,
    "u128::from(previous) * overlap + u128::from(current + charge) * window",
    "if weighted <= u128::from(self.quota.limit()) * window",
    "let previous = if windows == 1 { counts.current } else { 0 };",
    "if previous <= room { return 0; }",
    "window - weight",
    "if let Some(room) = limit.checked_sub(current + charge)",
    "return elapsed - now.elapsed;",
    "(window - now.elapsed) + self.elapsed_until(current, limit - charge)",
    "(u128::from(counts.previous) * overlap).div_ceil(window) as u64",
    "self.quota.limit().saturating_sub(counts.current + weight)",
    "let at = at.max(self.latest(word));",
    "base: at - at % quota.window(),",
)
shipped(
    LAYOUT,
    "let time = counts.index << self.offset_bits | counts.offset;",
    "(time << self.count_bits | counts.current) << self.count_bits | counts.previous",
    "let index_bits = bits(u64::MAX / quota.window()).min(u64::BITS - 2 * count_bits);",
    "let offset_bits = (u64::BITS - 2 * count_bits - index_bits).min(window_bits);",
    "((offset + 1) << self.offset_shift) - 1",
)

limit, window, elapsed, charge = ints("limit window elapsed charge")
current, previous, wait, earlier = ints("current previous wait earlier")
quota = [limit >= 1, window >= 1, charge >= 1, charge <= limit]
state = quota + at_least_0(current, previous, elapsed) + [elapsed < window]


def allowed(at, cost=charge):
    """Whether the rule allows it, `at` counting from the start of the recorded window."""
    same = previous * (window - at) + (current + cost) * window <= limit * window
    following = current * (2 * window - at) + cost * window <= limit * window
    return If(at < window, same, If(at < 2 * window, following, cost <= limit))


# Of a window (t - window, t], `older` permits lie in one aligned window, which counts `previous`, and
# `newer` in the next one. The last of those was accepted `elapsed` after its window began.
older, newer = ints("older newer")
in_two = [limit >= 1, window >= 1, newer >= 0, 0 <= older, older <= previous, previous <= limit]
accepted = And(
    0 <= elapsed,
    elapsed < window,
    previous * (window - elapsed) + newer * window <= limit * window,
)
statement(
    "any window holds at most 2 x limit - 1 permits",
    in_two + [Or(newer == 0, accepted)],
    older + newer <= 2 * limit - 1,
    false="at most 2 x limit - 2",
    false_claim=older + newer <= 2 * limit - 2,
)
statement(
    "the bound is reached, where the limit is at most the window in nanoseconds",
    [limit >= 1, limit <= window, previous == limit, newer == limit - 1, elapsed == window - 1],
    accepted,
    false="it is reached for every limit and window",
    false_given=[limit >= 1, window >= 1, previous == limit, newer == limit - 1, elapsed == window - 1],
)
statement(
    "an allowance leaves a current count within the limit",
    state + [allowed(elapsed)],
    current + charge <= limit,
    false="and both counts together",
    false_claim=current + charge + previous <= limit,
)

# The wait, as `wait` and `elapsed_until` compute it. Counts above the limit are left by a lowered limit.
weight, weight_next = ints("weight weight_next")
fits_here = current + charge <= limit
shipped_wait = If(
    fits_here,
    window - weight - elapsed,
    (window - elapsed) + (window - weight_next),
)
denied = state + [
    Not(allowed(elapsed)),
    Implies(fits_here, quotient((limit - current - charge) * window, previous, weight)),
    Implies(Not(fits_here), quotient((limit - charge) * window, current, weight_next)),
    wait == shipped_wait,
]
rounded_wrongly = denied[:-1] + [wait == shipped_wait - 1]
statement(
    "after the wait the request is allowed",
    denied,
    And(wait >= 1, allowed(elapsed + wait)),
    false="a wait a nanosecond shorter suffices",
    false_given=rounded_wrongly,
    false_claim=allowed(elapsed + wait),
)
statement(
    "before the wait is over it is denied",
    denied + [0 <= earlier, earlier < wait],
    Not(allowed(elapsed + earlier)),
    false="it is denied at its end too",
    false_given=denied + [0 <= earlier, earlier <= wait],
)

left, heavy = ints("left heavy")
remaining = state + [
    rounded_up(previous * (window - elapsed), window, heavy),
    left == maximum(limit - (current + heavy), 0),
]
statement(
    "what remains is the largest cost that is allowed",
    remaining,
    allowed(elapsed) == (charge <= left),
    false="with the weight rounded down",
    false_given=state
    + [
        quotient(previous * (window - elapsed), window, heavy),
        left == maximum(limit - (current + heavy), 0),
    ],
)

actual, most, settled = ints("actual most settled")
settling = at_least_0(actual, current) + [charge >= 1, current <= most]
shipped_settled = If(maximum(current + actual - charge, 0) <= most, maximum(current + actual - charge, 0), most)
statement(
    "a settled count stays in its field, and is exact where it fits",
    settling + [settled == shipped_settled],
    And(
        0 <= settled,
        settled <= most,
        Implies(
            And(current + actual >= charge, current + actual - charge <= most),
            settled == current + actual - charge,
        ),
    ),
    false="without the upper bound",
    false_given=settling + [settled == maximum(current + actual - charge, 0)],
)

# A change. The accepted time lies within the unit of the offset, and the change is made no earlier.
accepted_at, latest, now, at, new_window = ints("accepted_at latest now at new_window")
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

# The word. `bits(limit)` is at most 31 where ten years have room, and the fields fill it at most.
counts_wide, offset_wide, shift = BitVecs("count_bits offset_bits offset_shift", 64)
word, index, offset, now_count, before_count = BitVecs("word index offset current previous", 64)
laid_out = [
    UGE(counts_wide, 1),
    ULE(counts_wide, 31),
    ULE(offset_wide, 63),
    ULE(2 * counts_wide + offset_wide, 63),
]
fields = laid_out + [
    ULE(now_count, mask(counts_wide)),
    ULE(before_count, mask(counts_wide)),
    ULE(offset, mask(offset_wide)),
    ULE(index, LShR(BitVecVal(-1, 64), 2 * counts_wide + offset_wide)),
    word
    == ((((index << offset_wide) | offset) << counts_wide | now_count) << counts_wide | before_count),
]
unpacked = And(
    LShR(word, 2 * counts_wide + offset_wide) == index,
    LShR(word, 2 * counts_wide) & mask(offset_wide) == offset,
    LShR(word, counts_wide) & mask(counts_wide) == now_count,
    word & mask(counts_wide) == before_count,
)
statement(
    "the fields of every layout come back, and none carries into another",
    fields,
    unpacked,
    false="a count may be as large as 2^bits",
    false_given=laid_out
    + [ULE(now_count, mask(counts_wide) + 1), before_count == 0, offset == 0, index == 0, fields[-1]],
)

since = BitVec("since", 64)
statement(
    "the unit of an offset holds the time that it was made from",
    [ULE(shift, 55), ULT(since, BitVecVal(1 << 55, 64)), offset == LShR(since, shift)],
    And(UGE(((offset + 1) << shift) - 1, since), ULT(((offset + 1) << shift) - 1 - since, BitVecVal(1, 64) << shift)),
    false="so does the start of the unit",
    false_claim=UGE(offset << shift, since),
)

required, start, base, time, indices, last = ints("required start base time indices index")
in_range = at_least_0(start, base, required) + [
    window >= 1,
    base <= start,
    start < base + window,
    (indices - 1) * window >= required,
    start <= time,
    time <= start + required,
    quotient(time - base, window, last),
]
statement(
    "a layout that is built has an index for every time of its ten years",
    in_range,
    And(0 <= last, last <= indices - 1),
    false="with one index less required",
    false_given=[indices * window >= required if term is in_range[6] else term for term in in_range],
)

ended()
