//! Counters of calls and decisions.

use std::sync::atomic::{AtomicU64, Ordering};

macro_rules! counters {
    ($(#[$doc:meta])* $live:ident => $counts:ident { $($(#[$field_doc:meta])* $field:ident),* $(,)? }) => {
        #[derive(Debug, Default)]
        pub(crate) struct $live {
            $(pub(crate) $field: Counter,)*
        }

        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct $counts {
            $($(#[$field_doc])* pub $field: u64,)*
        }

        impl $live {
            pub(crate) fn read(&self) -> $counts {
                $counts { $($field: self.$field.read(),)* }
            }
        }
    };
}

/// One number that only grows. Nothing is ordered by it.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn read(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

counters! {
    /// The counts of a store's calls and connections since it was made.
    StoreCounters => StoreStats {
        /// Calls that were sent.
        sent,
        /// Calls that had no answer before their deadline.
        timeouts,
        /// Calls that the server answered with an error.
        server_errors,
        /// Calls whose connection broke while they waited.
        broken,
        /// Calls that ended at once because there was no connection, or because the server refuses
        /// a command to this user.
        not_sent,
        /// Connections that were made.
        connections,
        /// Connections that broke, or were dropped because no call had an answer.
        dropped,
        /// Attempts to connect that failed.
        failed_attempts,
        /// Scripts that were sent whole because the server did not have them.
        scripts_sent,
    }
}

counters! {
    /// The counts of a limiter's decisions since it was made.
    LimiterCounters => LimiterStats {
        /// Requests that the store allowed.
        allowed,
        /// Requests that the store denied.
        denied,
        /// Requests that the deny cache denied, without a round trip.
        denied_by_cache,
        /// Requests whose cost could never fit. The store was not asked.
        never_fits,
        /// Requests for which the store was unavailable.
        unavailable,
        /// Of those, requests that the policy allowed.
        allowed_by_policy,
        /// Of those, requests that the policy denied.
        denied_by_policy,
        /// Charges that were settled. A charge that had left every window is not counted.
        settled,
    }
}
