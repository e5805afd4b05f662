//! The recommendation: a sentence for each row of WHICH.md.

use windowpane_core::Quotas;
use windowpane_lab_ground::comparison::{Comparison, Outcome};
use windowpane_lab_ground::figures::{digits, thousands};

use super::Item;
use super::first::contended;
use crate::cells::Cell as Measured;
use crate::choose::{self, Accuracy, Candidate, Need, in_bytes};
use crate::on_threads;
use crate::run::Run;

/// A need of the recommendation, and with what its answer is compared.
struct Advice {
    /// The row of WHICH.md, an id.
    id: &'static str,
    need: &'static str,
    quotas: &'static str,
    change: fn(Need) -> Need,
    beside: &'static str,
    /// What the promises lead to, and why; figures can put another first.
    answer: &'static str,
    why: &'static str,
}

const ADVICE: [Advice; 6] = [
    Advice {
        id: "exact",
        need: "A hard bound in every window",
        quotas: "1000/60s",
        change: |need| need,
        beside: "mutex-log",
        answer: "cas-ring",
        why: "exact, no lock; in a `KeyedLimiter` for many keys",
    },
    Advice {
        id: "log",
        need: "Token budgets, quotas of requests, limits far above the use",
        quotas: "500000/60s",
        change: |need| Need {
            cost: 2_000,
            threads: 1,
            ..need
        },
        beside: "cas-ring",
        answer: "mutex-log",
        why: "exact, one entry a request; contended, `mutex-log-parking-lot`",
    },
    Advice {
        id: "never-above",
        need: "Never above the limit, denials may come 1/60 of the window early",
        quotas: "1000000/1h",
        change: |need| Need {
            accuracy: Accuracy::NeverAbove,
            ..need
        },
        beside: "cas-ring",
        answer: "bucket-ring",
        why: "no lock; memory does not grow with the limit",
    },
    Advice {
        id: "estimate",
        need: "The least memory, and up to twice the limit at worst is fine",
        quotas: "1000/60s",
        change: |need| Need {
            accuracy: Accuracy::AtMost(1.0),
            keys: 1_000_000,
            ..need
        },
        beside: "cas-ring",
        answer: "packed-counter",
        why: "an estimate, a word a key in a `FlatTable`",
    },
    Advice {
        id: "smooth",
        need: "A smooth rate with bursts, no bound on a window",
        quotas: "100/1s",
        change: |need| Need {
            accuracy: Accuracy::Smooth,
            ..need
        },
        beside: "governor",
        answer: "gcra",
        why: "the rule of `governor`; in a `FlatTable` for many keys",
    },
    Advice {
        id: "machines",
        need: "Several machines share the limit",
        quotas: "1000/60s",
        change: |need| Need {
            machines: 2,
            ..need
        },
        beside: "redis/two-counter",
        answer: "redis/log",
        why: "exact, on one Redis or Valkey; `redis/two-counter` for little memory, `redis/gcra` for a smooth rate",
    },
];

/// Returns the recommendation, a sentence a need, from the same ranking as `lab choose`.
pub(crate) fn advice(run: &Run) -> Vec<Item> {
    let threads = contended(run);
    let sentence = |advice: &Advice| {
        let quotas = Quotas::parse(advice.quotas).ok()?;
        let need = (advice.change)(Need {
            threads,
            ..Need::of(quotas)
        });
        let (ranking, _) = choose::ranking(run, &need);
        let first = ranking.first()?;
        Some(Item {
            id: format!("advice-{}", advice.id),
            lead: format!("{}:", advice.need),
            text: format!(
                "`{}`, {}.{}",
                first.limiter,
                match first.limiter == advice.answer {
                    true => advice.why,
                    false => promise(first),
                },
                beside(run, &need, &ranking, advice.beside)
            ),
        })
    };
    ADVICE.iter().filter_map(sentence).collect()
}

/// What a limiter promises, in words.
fn promise(one: &Candidate) -> &'static str {
    match (one.exact, one.keeps_quota, one.lock_free) {
        (true, _, true) => "exact, no lock",
        (true, _, false) => "exact, with a lock",
        (_, true, _) => "never above the limit",
        _ => "up to twice the limit at worst",
    }
}

/// How the first of a choice compares with another that holds the need.
fn beside(run: &Run, need: &Need, ranking: &[Candidate], beside: &str) -> String {
    let first = &ranking[0];
    let Some(other) = ranking.iter().find(|one| one.limiter == beside) else {
        return String::new();
    };
    let cell = choose::cell(run, need, need.threads);
    let mut words = Vec::new();
    // At other costs than 1 no speed was measured.
    if need.machines == 1 && need.cost == 1 {
        let compared = run.compared(first.name(), other.name(), cell, ranking.len());
        let (Measured::OneKey(_, threads) | Measured::Keys(_, threads)) = cell;
        if compared.ratio.is_finite() {
            let keys = if need.keys > 1 {
                " over 10,000 keys"
            } else {
                " on one key"
            };
            words.push(format!(
                "{}, {}{keys}",
                ratio(&compared),
                on_threads(threads)
            ));
        }
    }
    if let (Some(own), Some(theirs)) = (first.figures.bytes, other.figures.bytes) {
        words.push(format!("{} instead of {}", in_bytes(own), in_bytes(theirs)));
    }
    match words.is_empty() {
        true => String::new(),
        false => format!(
            " Beside `{}` at {}{}: {}.",
            other.name(),
            need.quotas,
            match need.keys {
                1 => String::new(),
                keys => format!(" for {} keys", thousands(keys)),
            },
            words.join(", ")
        ),
    }
}

/// A comparison in words: the ratio, its interval, and what it shows.
pub(crate) fn ratio(compared: &Comparison) -> String {
    let shown = format!("{} × as fast", digits(compared.ratio));
    let interval = format!("{} to {}", digits(compared.low), digits(compared.high));
    match compared.outcome {
        Outcome::Faster | Outcome::Slower => format!("{shown} ({interval})"),
        Outcome::Equal => format!("equal within 5 % ({interval})"),
        Outcome::CannotTell => format!(
            "{shown} ({interval}: cannot tell, {} × would have shown)",
            digits(compared.smallest)
        ),
        // Said once, in the first line.
        Outcome::NotCompared => shown,
    }
}
