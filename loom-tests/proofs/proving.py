"""What the proofs share: statements, each with a false one, and quotes of the shipped source.

A statement is proved when the solver finds no numbers that satisfy what is given and not the claim.
Beside it stands a false statement, which the solver must refute: a claim that is a little stronger, or
a rule with one seeded fault. Its counterexample is printed. A false statement that nothing refutes
means that what is given is contradictory, or that the statement says less than it seems to.
"""

import sys
import time
from pathlib import Path

from z3 import And, BitVecVal, If, Implies, Int, Not, Solver, sat, unsat

ROOT = Path(__file__).resolve().parents[2]

# Per statement; the slowest take a few seconds.
TIMEOUT_MS = 60_000

failures = 0


def shipped(path, *texts):
    """Fails unless each text stands in the shipped file, white space aside: a proof of arithmetic
    that has changed since proves nothing."""
    source = "".join((ROOT / path).read_text(encoding="utf-8").split())
    for text in texts:
        if "".join(text.split()) not in source:
            fail(f"{path} no longer has `{text}`: renew the statement that models it")


def fail(why):
    global failures
    failures += 1
    print(f"FAILED  {why}")


def solve(given, claim):
    solver = Solver()
    solver.set("timeout", TIMEOUT_MS)
    solver.add(*given)
    solver.add(Not(claim))
    start = time.monotonic()
    return solver.check(), solver, time.monotonic() - start


def statement(name, given, claim, false, false_given=None, false_claim=None):
    """Proves `claim` from `given`, and refutes `false`: the same with `false_given` or `false_claim`."""
    found, solver, seconds = solve(given, claim)
    if found == unsat:
        print(f"proved  {name}  ({seconds:.1f} s)")
    elif found == sat:
        fail(f"{name}: {shown(solver.model())}")
    else:
        fail(f"{name}: the solver gave up after {seconds:.0f} s: {solver.reason_unknown()}")
    given = given if false_given is None else false_given
    claim = claim if false_claim is None else false_claim
    found, solver, seconds = solve(given, claim)
    if found == sat:
        print(f"        refuted: {false}: {shown(solver.model())}  ({seconds:.1f} s)")
    else:
        fail(f"{name}: the false statement was not refuted ({found}): {false}")


def shown(model):
    pairs = sorted((str(name), model[name]) for name in model if name.arity() == 0)
    return ", ".join(f"{name} = {value}" for name, value in pairs)


def ints(names):
    return [Int(name) for name in names.split()]


def quotient(dividend, divisor, result):
    """`result` is `dividend / divisor`, rounded down; the divisor is above 0."""
    return And(result * divisor <= dividend, dividend < result * divisor + divisor)


def rounded_up(dividend, divisor, result):
    """`result` is `dividend / divisor`, rounded up; the divisor is above 0."""
    return And(result * divisor >= dividend, dividend > result * divisor - divisor)


def at_least_0(*values):
    return [value >= 0 for value in values]


def maximum(a, b):
    return If(a >= b, a, b)


def mask(bits):
    """The lowest `bits` bits of a word of 64."""
    return (BitVecVal(1, 64) << bits) - 1


def ended():
    sys.exit(1 if failures else 0)
