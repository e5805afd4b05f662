"""The flat table: the arithmetic of a key's probe sequence, and what stands for a key."""

from z3 import ULT, And, BitVecs, If, Implies, LShR

from proving import *

shipped(
    "crates/keyed/src/flat/places.rs",
    "pub(super) const BLOCK: usize = ships_or_models(8, 2);",
    "const BLOCKS_A_KEY: usize = 4;",
    "stride: 1 + scaled(key.bits().rotate_left(32), self.0.len() / BLOCKS_A_KEY),",
    "scaled(key.bits(), self.0.len())",
    "(0..LINE).map(move |nth| &home[(offset ^ nth) % BLOCK])",
    "let mut block = way.home + nth / BLOCK * way.stride; if block >= self.0.len() { block -= self.0.len(); }",
    "&self.0[block].0[(way.offset ^ nth) % BLOCK]",
    "((u128::from(bits) * end as u128) >> 64) as usize",
    "self.0.len().min(BLOCKS_A_KEY) * BLOCK",
)
shipped(
    "crates/keyed/src/flat/entry.rs",
    "match hash & !CLAIMED { 0 => Fingerprint(CLAIMED << 1), bits => Fingerprint(bits), }",
    "Entry(u128::from(key.0 | CLAIMED) << 64 | u128::from(number))",
)

# A hash scaled down to below `end`: the upper half of their product.
bits, end, scaled = ints("bits end scaled")
to_scale = [0 <= bits, bits < 2**64, end >= 0, quotient(bits * end, 2**64, scaled)]
statement(
    "a hash scaled to a number of blocks is below it, and 0 where that is 0",
    to_scale,
    And(scaled >= 0, Implies(end > 0, scaled < end), Implies(end == 0, scaled == 0)),
    false="of a hash of 2^64",
    false_given=[0 <= bits, bits <= 2**64, end >= 0, quotient(bits * end, 2**64, scaled)],
)

# Blocks on a probe sequence: `first` and `second` are two of the at most four.
blocks, quarter, home, stride, first, second = ints("blocks quarter home stride first second")
steps = [0 <= first, first < second, second < 4, second < blocks]


def block(nth):
    there = home + nth * stride
    return If(there >= blocks, there - blocks, there)


def sequence(divisor):
    return [
        blocks >= 1,
        quotient(blocks, divisor, quarter),
        0 <= home,
        home < blocks,
        1 <= stride,
        stride <= maximum(quarter, 1),
    ] + steps


statement(
    "a probe sequence stays in the table and meets no block twice",
    sequence(4),
    And(0 <= block(first), 0 <= block(second), block(second) < blocks, block(first) < blocks, block(first) != block(second)),
    false="with strides up to a third of the blocks",
    false_given=sequence(3),
)

offset, nth, other = BitVecs("offset nth other", 64)
within = [ULT(nth, 8), ULT(other, 8), nth != other]
statement(
    "within a block no entry is met twice, and the first four are of one cache line",
    within,
    And(
        (offset ^ nth) & 7 != (offset ^ other) & 7,
        Implies(And(ULT(nth, 4), ULT(other, 4)), LShR(offset ^ nth, 2) == LShR(offset ^ other, 2)),
    ),
    false="where the offset is added and cut to the line",
    false_claim=(offset + nth) & 3 != (offset + other) & 3,
)

hash_, key, rival = BitVecs("hash key rival", 64)
fingerprint = If(hash_ & ~1 == 0, BitVecVal(2, 64), hash_ & ~1)
statement(
    "no key stands for an empty entry, and no claim of one key for another key",
    [key == fingerprint, rival & 1 == 0, rival != 0],
    And(key != 0, key & 1 == 0, key | 1 != rival, Implies(key | 1 == rival | 1, key == rival)),
    false="without the case of a hash of 0 or 1",
    false_given=[key == hash_ & ~1, rival & 1 == 0, rival != 0],
)

ended()
