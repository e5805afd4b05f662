"""The ring: the fields of head and slots, ages, its wait, changing."""

from z3 import UGE, ULE, ULT, And, BitVecs, Function, If, Implies, IntSort, LShR, Not, Or

from proving import *

shipped(
    "crates/cas-ring/src/head.rs",
    "const INDEX_BITS: u32 = 24;",
    "const INDEX_SHIFT: u32 = 32;",
    "const RESET_BITS: u32 = ships_or_models(8, 1) as u32;",
    "pub(crate) const LAP_BITS: u32 = ships_or_models(8, 1) as u32;",
    "let mut place = (self.place & !INDEX_MASK).wrapping_add(cost << INDEX_SHIFT);",
    "if self.next_index() + cost >= capacity",
    ".wrapping_sub(capacity << INDEX_SHIFT) .wrapping_add(1 << LAP_SHIFT);",
    "place: place | (kept + cost).min(capacity),",
    "let one_lap = if next < nth { capacity } else { 0 }; next + one_lap - nth",
    "lap: (self.place >> LAP_SHIFT).wrapping_sub(one_lap) & LAP_MASK,",
    "self.stamp.wrapping_add(time.wrapping_sub(self.time))",
    "let is_own = (place >> RESET_SHIFT ^ resets) & RESET_MASK == 0;",
    "announced.wrapping_sub(announced.wrapping_sub(place >> RESET_SHIFT) & RESET_MASK)",
)

INDEX = mask(24)
place, filled, tag, index, lap, capacity, cost, kept, nth = BitVecs(
    "place filled reset_tag index lap capacity cost kept nth", 64
)
head = [
    UGE(capacity, 1),
    ULE(capacity, INDEX),
    ULE(filled, capacity),
    ULE(tag, 255),
    ULT(index, capacity),
    ULE(lap, 255),
    place == (lap << 56 | index << 32 | tag << 24 | filled),
]
claiming = head + [UGE(cost, 1), ULE(cost, capacity), ULE(kept, filled)]


def claim(keep):
    moved = (keep & ~INDEX) + (cost << 32)
    wrapped = moved - (capacity << 32) + (BitVecVal(1, 64) << 56)
    sum_ = kept + cost
    return If(UGE(index + cost, capacity), wrapped, moved) | If(ULE(sum_, capacity), sum_, capacity)


claimed = claim(place)
wraps = UGE(index + cost, capacity)
after = And(
    LShR(claimed, 56) == (lap + If(wraps, BitVecVal(1, 64), BitVecVal(0, 64)) & 255),
    LShR(claimed, 32) & INDEX == If(wraps, index + cost - capacity, index + cost),
    ULT(LShR(claimed, 32) & INDEX, capacity),
    LShR(claimed, 24) & 255 == tag,
    claimed & INDEX == If(ULE(kept + cost, capacity), kept + cost, capacity),
)
statement(
    "a claim changes each field as whole numbers would, and carries into none",
    claiming,
    after,
    false="for a cost above the capacity",
    false_given=head + [UGE(cost, 1), ULE(cost, capacity + 1), ULE(kept, filled)],
)
borrow = If(ULT(index, nth), BitVecVal(1, 64), BitVecVal(0, 64))
position = index + If(ULT(index, nth), capacity, BitVecVal(0, 64)) - nth
its_lap = LShR(place, 56) - borrow & 255
# As whole numbers: lap x capacity + index - nth, the lap before the first being the last.
statement(
    "the n-th newest permit is n positions back",
    head + [UGE(nth, 1), ULE(nth, capacity)],
    And(
        ULT(position, capacity),
        (lap - borrow) * capacity + position == lap * capacity + index - nth,
        its_lap == (lap - borrow & 255),
    ),
    false="of one more than the capacity, too",
    false_given=head + [UGE(nth, 1), ULE(nth, capacity + 1)],
)

# The reset tag: the announced number is the head's own, or one more while a reset is not finished.
own, announced = BitVecs("own announced", 64)


def read_resets(bits):
    low = mask(bits)
    stored = own & low
    return If((stored ^ announced) & low == 0, announced, announced - (announced - stored & low))


statement(
    "a head's number of resets follows from the announced one and one bit",
    [Or(announced == own, announced == own + 1)],
    And(read_resets(8) == own, read_resets(1) == own),
    false="one bit tells two resets apart that are not finished",
    false_given=[Or(announced == own, announced == own + 1, announced == own + 2)],
    false_claim=read_resets(1) == own,
)
time, later, stamp = BitVecs("time later stamp", 64)
statement(
    "the stamp of a later time has the same number of resets above it",
    [stamp == time + own, ULE(time, later)],
    And(stamp + (later - time) - own == later, stamp + (later - time) == later + own),
    false="and is larger as a number",
    false_claim=UGE(stamp + (later - time), stamp),
)

shipped(
    "crates/cas-ring/src/slot.rs",
    "const STAMP_BITS: u32 = 56;",
    "Slot(position.lap << STAMP_BITS | stamp & STAMP_MASK)",
    "reference.wrapping_sub(self.0) & STAMP_MASK",
)
shipped(
    "crates/cas-ring/src/ring.rs",
    "const FORGET_EVERY_BITS: u32 = 52;",
    "at - head.time >= self.longest_window || (at ^ head.time) >> FORGET_EVERY_BITS != 0;",
    "let wait = (self.first.window() - first).saturating_add(at - now);",
    "let Some(spare) = quota.limit().checked_sub(cost.get()) else",
    "let age = self.age(head, spare + 1).saturating_add(at - head.time);",
    "if age < quota.window()",
    "denial = Some(Denial::longest(denial, Denial::new(index, Some(wait))));",
)
STAMP = mask(56)
slot, age = BitVecs("slot age", 64)
record = slot == (lap << 56 | stamp & STAMP)
statement(
    "a slot's age is exact below 2^56, and its lap comes back",
    [ULE(lap, 255), ULE(age, STAMP), record],
    And(stamp + age - slot & STAMP == age, LShR(slot, 56) == lap),
    false="an age of 2^56, too",
    false_given=[ULE(lap, 255), ULE(age, STAMP + 1), record],
)
YEAR = 365 * 86_400_000_000_000
oldest, head_time, at = ints("oldest head_time at")
# `head_time` is the head's at the last claim that crossed a multiple of 2^52 or forgot, `at` a later one
# that did not: the multiple below both is the same.
multiple = ints("multiple")[0]
ages = [
    head_time >= 0,
    head_time - oldest < YEAR,
    quotient(head_time, 2**52, multiple),
    quotient(at, 2**52, multiple),
    at >= head_time,
]
statement(
    "what counts is never 2^56 ns older than the head: 365 days and 2^52 ns are less",
    ages,
    at - oldest < 2**56,
    false="nor 2^54",
    false_given=ages,
    false_claim=at - oldest < 2**54,
)
resets, later_resets, before, now = ints("resets later_resets before now")
between = [0 <= before, 0 <= resets, later_resets >= resets]
statement(
    "each lap makes a slot's stamp larger: a window has passed or the ring was reset, and the clock stands or moves on",
    between + [before <= now, Or(now > before, later_resets > resets)],
    now + later_resets > before + resets,
    false="on a clock that steps back with a reset, too",
    false_given=between + [before - 1 <= now, Or(now > before, later_resets > resets)],
)

# The wait. `newest(n)` is when the n-th newest permit was accepted; the n-th is in the window at `t`
# while newest(n) > t - window. A request of `cost` fits if the (limit - cost + 1)-th is not.
newest = Function("newest", IntSort(), IntSort())
limit, window, price, wait, earlier, called = ints("limit window cost wait earlier called")
second_limit, second_window, first_wait, second_wait = ints("second_limit second_window first_wait second_wait")
asked = [window >= 1, 1 <= price, price <= limit, 0 <= called, called <= at]
at_deciding = newest(limit - price + 1)


def allowed(t, limit=limit, window=window):
    return newest(limit - price + 1) <= t - window


denied = asked + [
    at_deciding <= at,
    Not(allowed(at)),
    wait == window - (at - at_deciding) + (at - called),
]
statement(
    "after the wait the request is allowed, told on the caller's clock, and not before",
    denied + [at - called <= earlier, earlier < wait],
    And(wait >= 1, allowed(called + wait), Not(allowed(called + earlier))),
    false="without how far behind the clock is",
    false_given=denied[:-1] + [wait == window - (at - at_deciding), at - called <= earlier, earlier < wait],
)
second_deciding = newest(second_limit - price + 1)
both = asked + [
    second_window >= 1,
    price <= second_limit,
    at_deciding <= at,
    second_deciding <= at,
    Not(And(allowed(at), allowed(at, second_limit, second_window))),
    first_wait == If(allowed(at), 0, window - (at - at_deciding)),
    second_wait == If(allowed(at, second_limit, second_window), 0, second_window - (at - second_deciding)),
]


def both_allowed(t):
    return And(allowed(t), allowed(t, second_limit, second_window))


statement(
    "with several quotas the longest wait suffices, and nothing less does",
    both + [wait == maximum(first_wait, second_wait), 0 <= earlier, earlier < wait],
    And(both_allowed(at + wait), Not(both_allowed(at + earlier))),
    false="the shortest one suffices",
    false_given=both + [wait == If(first_wait < second_wait, first_wait, second_wait), earlier == 0],
    false_claim=both_allowed(at + wait),
)

ended()
