"""GCRA: its bound, its rate, its wait, what remains, its range and changing."""

from z3 import And, Not

from proving import *

shipped(
    "crates/baselines/src/gcra.rs",
    "let interval = quota.window().div_ceil(quota.limit().max(1));",
    "let room = self.tolerance - charge * self.interval;",
    "if ahead > room",
    "retry_after: ahead - room,",
    "let tat = now + ahead + charge * self.interval;",
    "let room = self.tolerance.saturating_sub(Self::ahead(word, now));",
    "(room / self.interval).min(self.quota.limit())",
    "let last = u64::MAX - self.tolerance;",
    "let at = now.max(word.saturating_sub(self.most_ahead));",
    "let ahead = u128::from(Self::ahead(word, at)) * u128::from(rule.interval);",
    "let ahead = ahead.div_ceil(u128::from(self.interval));",
)

limit, window, burst, interval, charge = ints("limit window burst interval charge")
tat, now, ahead, wait, earlier = ints("tat now ahead wait earlier")
quota = [limit >= 1, window >= 1, burst >= 1, rounded_up(window, limit, interval)]
call = [charge >= 1, charge <= burst] + at_least_0(tat, now)


def allowed(time, cost=charge):
    return maximum(tat - time, 0) <= burst * interval - cost * interval


# By induction: what was accepted in a window, from the first of it at `first` on, has moved the TAT to
# at least `first` + permits x interval, whatever the clock does meanwhile.
first, permits = ints("first permits")
after = maximum(tat, now) + charge * interval
statement(
    "an acceptance moves the time by its whole cost",
    quota + call + at_least_0(permits) + [tat >= first + permits * interval, allowed(now)],
    And(after >= first + (permits + charge) * interval, after <= now + burst * interval),
    false="it moves it from the clock alone",
    false_claim=now + charge * interval >= first + (permits + charge) * interval,
)
last = ints("last")[0]
in_window = quota + at_least_0(permits) + [
    last - first < window,
    first + permits * interval <= last + burst * interval,
]
statement(
    "any window holds at most burst + limit - 1 permits",
    in_window,
    permits <= burst + limit - 1,
    false="at most burst + limit - 2",
    false_claim=permits <= burst + limit - 2,
)
statement(
    "with a burst of 1 it is a bound of the window",
    in_window + [burst == 1],
    permits <= limit,
    false="with a burst of 2, too",
    false_given=in_window + [burst == 2],
)
statement(
    "the rate is never above the quota, and at most a nanosecond an interval below it",
    quota,
    And(limit * interval >= window, limit * (interval - 1) < window),
    false="with the interval rounded down",
    false_given=quota[:-1] + [quotient(window, limit, interval)],
    false_claim=limit * interval >= window,
)

denied = quota + call + [
    Not(allowed(now)),
    wait == maximum(tat - now, 0) - (burst * interval - charge * interval),
]
statement(
    "after the wait the request is allowed",
    denied,
    And(wait >= 1, allowed(now + wait)),
    false="a wait a nanosecond shorter suffices",
    false_claim=allowed(now + wait - 1),
)
statement(
    "before the wait is over it is denied",
    denied + [0 <= earlier, earlier < wait],
    Not(allowed(now + earlier)),
    false="at its end, too",
    false_given=denied + [0 <= earlier, earlier <= wait],
)
left, room = ints("left room")
statement(
    "what remains is the largest cost that is allowed",
    quota
    + call
    + [interval >= 1, room == maximum(burst * interval - maximum(tat - now, 0), 0), quotient(room, interval, left)],
    allowed(now) == (charge <= left),
    false="one permit more",
    false_claim=allowed(now) == (charge <= left + 1),
)

most = 2**64 - 1
statement(
    "within the range the time fits its word",
    quota + call + [now <= most - burst * interval, allowed(now)],
    after <= most,
    false="at any time",
    false_given=quota + call + [now <= most, allowed(now)],
)

# A change at `now`: what is out, `ahead` of it, is scaled to the new interval.
new_interval, new_ahead = ints("new_interval new_ahead")
scaled = [interval >= 1, new_interval >= 1, ahead >= 0, rounded_up(ahead * new_interval, interval, new_ahead)]
statement(
    "a change keeps what is out, and adds less than a nanosecond",
    scaled,
    And(
        new_ahead * interval >= ahead * new_interval,
        new_ahead * interval < ahead * new_interval + interval,
    ),
    false="rounded down it keeps all",
    false_given=scaled[:-1] + [quotient(ahead * new_interval, interval, new_ahead)],
)
# A change at an earlier time `early` than `now`, at which it should have been made. Both are read as no
# earlier than the TAT less the tolerance. What counts less is at most what was out at `now`: one burst.
early, early_ahead, true_ahead, later = ints("early early_ahead true_ahead later")
earlier_change = [
    interval >= 1,
    new_interval >= 1,
    burst >= 1,
    early <= now,
    now <= tat,
    tat <= now + burst * interval,
    early >= tat - burst * interval,
    rounded_up((tat - early) * new_interval, interval, early_ahead),
    rounded_up((tat - now) * new_interval, interval, true_ahead),
]
statement(
    "a change at an earlier time gives back at most one burst",
    earlier_change + [later >= now],
    maximum(now + true_ahead - later, 0) - maximum(early + early_ahead - later, 0) <= burst * new_interval,
    false="it gives back nothing",
    false_claim=maximum(now + true_ahead - later, 0) - maximum(early + early_ahead - later, 0) <= 0,
)

ended()
