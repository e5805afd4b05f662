//! What happened, counted.

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
    /// What a store's connection went through, since it was made.
    StoreCounters => StoreCounts {
        /// Calls that were sent.
        sent,
        /// Calls that got no answer before their deadline.
        timeouts,
        /// Calls that were answered with an error of the server.
        refused,
        /// Calls whose connection broke while they waited.
        broken,
        /// Calls that were answered at once because there was no connection: the outage cost them
        /// nothing.
        not_sent,
        /// How often a working connection was given up.
        given_up,
        /// How often a connection was made.
        connected,
        /// Attempts to connect that failed.
        not_connected,
        /// Scripts sent whole because the server did not know them.
        scripts_sent,
    }
}

counters! {
    /// What a limiter answered, since it was made.
    LimiterCounters => LimiterCounts {
        /// Allowed by the store.
        allowed,
        /// Denied by the store.
        denied,
        /// Denied from the deny cache, without asking.
        denied_by_cache,
        /// Costs that could never fit, without asking.
        never_fits,
        /// Calls that the store did not decide.
        unavailable,
        /// Of those, allowed by the policy.
        allowed_by_policy,
        /// Of those, denied by the policy.
        denied_by_policy,
        /// Charges settled; those that had left every window are not among them.
        settled,
    }
}
