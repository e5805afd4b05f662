"""The bucket ring: what counts, its wait, the fields of head and slots, changing."""

from z3 import UGE, ULE, ULT, And, BitVecs, If, Implies, LShR, Not

from proving import *

shipped(
    "crates/bucket-ring/src/width.rs",
    "let buckets = window.div_ceil(width.nanos());",
    "surplus: buckets * width.nanos() - window,",
    "let one_has_left = moment.offset + 1 + self.surplus >= width.nanos();",
    ".saturating_sub(self.buckets - u64::from(one_has_left))",
    "self.buckets + 1",
)
shipped(
    "crates/bucket-ring/src/view.rs",
    "Some(since) if since <= located.offset + plan.width.nanos() =>",
    "let is_one_before = since > located.offset;",
    "let behind = (self.moment.bucket - self.newest + age).saturating_mul(width);",
    "let rest = width - 1 - self.moment.offset;",
    "(rule.span.window(self.plan.width) + rest) .saturating_sub(behind) .saturating_add(self.at - now)",
    "if self.head.accepted_since(after) <= spare",
)
shipped("crates/bucket-ring/src/plan.rs", "quotas.longest_window().div_ceil(u64::from(buckets))")
shipped("crates/bucket-ring/src/change.rs", "changed.claim(changed.view(head, end.min(view.at)), charge);")

window, width, buckets, time, bucket, offset = ints("window width buckets time bucket offset")
some, oldest = ints("some_bucket oldest")
surplus = buckets * width - window
located = [
    window >= 1,
    width >= 1,
    rounded_up(window, width, buckets),
    bucket >= 0,
    0 <= offset,
    offset < width,
    time == bucket * width + offset,
]
has_left = offset + 1 + surplus >= width
oldest_is = oldest == maximum(bucket - (buckets - If(has_left, 1, 0)), 0)


def counts(which, at):
    return (which + 1) * width - 1 > at - window


statement(
    "the oldest bucket that counts is the first whose last instant is inside the window",
    located + [oldest_is, 0 <= some, some <= bucket],
    (some >= oldest) == counts(some, time),
    false="without the instant at the edge",
    false_given=located
    + [oldest == maximum(bucket - (buckets - If(offset + surplus >= width, 1, 0)), 0), 0 <= some, some <= bucket],
)
accepted_at, its_bucket = ints("accepted_at its_bucket")
accepted = [accepted_at >= 0, accepted_at <= time, quotient(accepted_at, width, its_bucket)]
statement(
    "it is never above the quota: whatever the window holds counts",
    located + accepted + [accepted_at > time - window],
    counts(its_bucket, time),
    false="so does what left it a nanosecond ago",
    false_given=located + accepted + [accepted_at > time - window - 1],
)
statement(
    "what counts lies within window + width - 1",
    located + accepted + [counts(its_bucket, time)],
    accepted_at > time - (window + width - 1),
    false="within window + width - 2",
    false_claim=accepted_at > time - (window + width - 2),
)
statement(
    "at most one bucket more counts than the window is long",
    located + [0 <= some, some <= bucket, counts(some, time)],
    bucket - some + 1 <= buckets + 1,
    false="never more than the window is long",
    false_claim=bucket - some + 1 <= buckets,
)

# The wait for bucket `some`, after which at most `spare` was accepted; it counts, and so does all since.
wait, earlier, now = ints("wait earlier now")
behind = (bucket - some) * width
shipped_wait = maximum((window + (width - 1 - offset)) - behind, 0) + (time - now)
waiting = located + [0 <= some, some <= bucket, counts(some, time), 0 <= now, now <= time]
statement(
    "the wait ends as that bucket, and all older ones, leave, told on the caller's clock",
    waiting + [wait == shipped_wait, 0 <= earlier, earlier <= some],
    And(wait >= 1, Not(counts(earlier, now + wait))),
    false="a nanosecond earlier it has left",
    false_given=waiting + [wait == shipped_wait - 1, 0 <= earlier, earlier <= some],
)
statement(
    "until then it counts, and so do all younger ones",
    waiting + [wait == shipped_wait, now + wait - 1 >= time, earlier >= some],
    counts(earlier, now + wait - 1),
    false="at its end, too",
    false_claim=counts(earlier, now + wait),
)

# Where the newest bucket is, without a division: the head's time is `since` before the call's.
since, newest = ints("since newest")
head_located = located + [0 <= since, since <= time, since <= offset + width, quotient(time - since, width, newest)]
statement(
    "a head at most a bucket older is located without a division",
    head_located,
    newest == bucket - If(since > offset, 1, 0),
    false="where it is older",
    false_given=[term for term in head_located if term is not head_located[9]],
)

new_width, end, its_new, counted_new, at = ints("new_width end its_new counted_new at")
change = [
    new_width >= 1,
    accepted_at >= 0,
    accepted_at <= at,
    accepted_at <= end,
    quotient(accepted_at, new_width, its_new),
]
statement(
    "a change counts what was accepted in no earlier new bucket than it lies in",
    change + [quotient(If(end <= at, end, at), new_width, counted_new)],
    its_new <= counted_new,
    false="by the start of its old bucket",
    false_given=change + [end >= width, quotient(end - width + 1, new_width, counted_new), width >= 2],
)

# The head's lower half: the count (39 bits), a reset's bit, how many buckets count (12), a slot (12).
shipped(
    "crates/bucket-ring/src/head.rs",
    "pub(crate) const COUNT_BITS: u32 = 39;",
    "const COUNTING_SHIFT: u32 = COUNT_BITS + 1;",
    "const INDEX_BITS: u32 = 12;",
    "let index = if next == slots { 0 } else { next };",
    "let fields = index << INDEX_SHIFT | (kept + 1) << COUNTING_SHIFT;",
    "place: fields | self.place & RESET_BIT | self.accepted_after(charge),",
    "place: self.place & !COUNT_MASK | self.accepted_after(charge),",
    "self.place.wrapping_add(charge) & COUNT_MASK",
    "self.place.wrapping_sub(earlier) & COUNT_MASK",
)
COUNT = mask(39)
place, index, counting, tag, total, charge, kept, slots = BitVecs(
    "place index counting reset_bit accepted charge kept slots", 64
)
head = [
    ULE(total, COUNT),
    ULE(tag, 1),
    ULE(slots, 4096),
    UGE(slots, 2),
    ULT(index, slots),
    ULT(counting, slots),
    ULE(charge, COUNT),
    place == (index << 52 | counting << 40 | tag << 39 | total),
]


def fields(word):
    return LShR(word, 52), LShR(word, 40) & 0xFFF, LShR(word, 39) & 1, word & COUNT


def are(word, *expected):
    return And(*[is_ == should for is_, should in zip(fields(word), expected)])


charged = (place & ~COUNT) | (place + charge & COUNT)
sum_ = total + charge & COUNT
statement(
    "a charge changes the count alone, modulo 2^39",
    head,
    are(charged, index, counting, tag, sum_),
    false="an addition that is not masked",
    false_claim=are(place + charge, index, counting, tag, sum_),
)
following = If(index + 1 == slots, BitVecVal(0, 64), index + 1)
rolled = following << 52 | (kept + 1) << 40 | place & (BitVecVal(1, 64) << 39) | (place + charge & COUNT)
statement(
    "a roll sets each field and carries into none",
    head + [ULT(kept, slots - 1)],
    And(are(rolled, following, kept + 1, tag, sum_), ULT(following, slots)),
    false="where all slots may count",
    false_given=head + [ULE(kept, slots)],
)
before = BitVecs("before", 64)[0]
statement(
    "a difference of two counts is exact if it is below 2^39",
    [ULT(charge, BitVecVal(1 << 39, 64)), total == (before + charge & COUNT), ULE(before, COUNT)],
    total - before & COUNT == charge,
    false="and at 2^39",
    false_given=[ULE(charge, BitVecVal(1 << 39, 64)), total == (before + charge & COUNT), ULE(before, COUNT)],
)

shipped(
    "crates/bucket-ring/src/record.rs",
    "let number = bucket.wrapping_add(resets) & NUMBER_MASK;",
    "bucket .wrapping_add(resets) .wrapping_sub(self.0 >> COUNT_BITS) & NUMBER_MASK",
)
NUMBER = mask(24)
number, resets, age, record = BitVecs("bucket resets age record", 64)
recorded = record == ((number + resets & NUMBER) << 39 | total)
aged = (number + age) + resets - LShR(record, 39) & NUMBER
statement(
    "a record keeps its count, and its age below 2^24",
    [ULE(total, COUNT), ULE(age, NUMBER), recorded],
    And(aged == age, record & COUNT == total),
    false="its age of 2^24, too",
    false_given=[ULE(total, COUNT), ULE(age, NUMBER + 1), recorded],
)
per_window = ints("per_window")[0]
statement(
    "what counts has an age and a slot: 3,600 buckets and two fit 4,096 slots and 24 bits",
    [1 <= per_window, per_window <= 3_600],
    And(per_window + 2 <= 4096, per_window + 1 < 2**24),
    false="of 4,095 buckets",
    false_given=[1 <= per_window, per_window <= 4_095],
)

ended()
