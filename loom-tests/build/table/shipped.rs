//! What mutants are made of.

/// A group of shipped files that make one limiter, or a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shipped {
    /// The log and its lock.
    MutexLog,
    /// The keeper of the one-word limiters; its mutants apply the shipped rules.
    OneWord,
    /// The rule of the packed counter; its mutants are kept by the shipped keeper.
    PackedCounter,
    /// The ring.
    CasRing,
    /// The bucket ring.
    BucketRing,
    /// The flat table of keys.
    FlatTable,
    /// What makes a limiter's quotas changeable.
    Changeable,
    /// The store of keys.
    Keyed,
    /// The line of those who wait.
    Queue,
}

impl Shipped {
    /// All of them.
    pub(crate) const ALL: [Shipped; 9] = [
        Shipped::MutexLog,
        Shipped::OneWord,
        Shipped::PackedCounter,
        Shipped::CasRing,
        Shipped::BucketRing,
        Shipped::FlatTable,
        Shipped::Changeable,
        Shipped::Keyed,
        Shipped::Queue,
    ];

    /// The module of its mutants.
    pub(crate) fn module(self) -> &'static str {
        match self {
            Shipped::MutexLog => "mutex_log",
            Shipped::OneWord => "one_word",
            Shipped::PackedCounter => "packed_counter",
            Shipped::CasRing => "cas_ring",
            Shipped::BucketRing => "bucket_ring",
            Shipped::FlatTable => "flat_table",
            Shipped::Changeable => "changeable",
            Shipped::Keyed => "keyed",
            Shipped::Queue => "queue",
        }
    }

    /// Where its source is, seen from this package.
    pub(crate) fn folder(self) -> &'static str {
        match self {
            Shipped::MutexLog => "../crates/mutex-log/src",
            Shipped::OneWord => "../crates/core/src",
            Shipped::PackedCounter => "../crates/packed-counter/src",
            Shipped::CasRing => "../crates/cas-ring/src",
            Shipped::BucketRing => "../crates/bucket-ring/src",
            Shipped::FlatTable => "../crates/keyed/src/flat",
            Shipped::Changeable => "../crates/core/src",
            Shipped::Keyed => "../crates/keyed/src",
            Shipped::Queue => "../crates/core/src/wait",
        }
    }

    /// The files of a mutant.
    pub(crate) fn files(self) -> &'static [&'static str] {
        match self {
            Shipped::MutexLog => &["log.rs", "lock.rs", "limiter.rs"],
            Shipped::OneWord => &["one_word.rs"],
            Shipped::PackedCounter => &["layout.rs", "rule.rs"],
            Shipped::CasRing => &["head.rs", "slot.rs", "ring.rs"],
            Shipped::BucketRing => &[
                "width.rs",
                "head.rs",
                "record.rs",
                "plan.rs",
                "view.rs",
                "ring.rs",
            ],
            Shipped::Changeable => &["change.rs"],
            Shipped::Keyed => &[
                "ask.rs",
                "builder.rs",
                "counters.rs",
                "evict.rs",
                "hasher.rs",
                "key.rs",
                "limiter.rs",
                "shards.rs",
                "slots.rs",
                "tiers.rs",
                "time.rs",
                "unknown.rs",
            ],
            Shipped::Queue => &["jitter.rs", "queue.rs", "waiter.rs", "waiters.rs"],
            Shipped::FlatTable => &[
                "entry.rs",
                "places.rs",
                "counts.rs",
                "insert.rs",
                "known.rs",
                "table.rs",
            ],
        }
    }

    /// What a mutant's module holds beside its files.
    pub(crate) fn glue(self) -> &'static str {
        match self {
            Shipped::MutexLog => "pub use limiter::{MutexLog, OnRegression};",
            Shipped::OneWord => {
                "use crate::mutants::as_in_core::*;\n\
                 use windowpane_core::one_word::{OneWordRule, Verdict};\n\
                 pub use one_word::OneWordLimiter;"
            }
            Shipped::PackedCounter => "pub use rule::TwoWindowRule;",
            Shipped::CasRing => "pub use ring::CasRing;",
            Shipped::Keyed => {
                "pub use limiter::KeyedLimiter;\nas_keys!(store limiter::KeyedLimiter);"
            }
            Shipped::Queue => {
                "use crate::mutants::as_in_core::*;\n\
                 use windowpane_core::wait::Timer;\n\
                 pub use queue::Queue;\n\
                 as_line!(queue::Queue);"
            }
            Shipped::BucketRing => "pub use ring::BucketRing;",
            Shipped::Changeable => {
                "use crate::mutants::as_in_core::*;\n\
                 pub use self::change::Changeable;\n\
                 #[cfg(any(windowpane_loom, windowpane_shuttle))]\n\
                 impl<L: windowpane_core::ChangeQuotas + 'static> crate::Change for Changeable<L> {\n\
                     fn change_at(\n\
                         &self,\n\
                         now: windowpane_core::Nanos,\n\
                         quotas: &windowpane_core::Quotas,\n\
                     ) -> Result<(), windowpane_core::BuildError> {\n\
                         Changeable::change_at(self, now, quotas)\n\
                     }\n\
                 }"
            }
            Shipped::FlatTable => {
                "use std::hash::RandomState as DefaultHasher;\n\
                 use windowpane_keyed::{Stats, WhenFull};\n\
                 const UNRECORDED: u64 = u64::MAX;\n\
                 pub use table::FlatTable;\n\
                 #[cfg(any(windowpane_loom, windowpane_shuttle))]\n\
                 as_keys!(table::FlatTable);"
            }
        }
    }
}
