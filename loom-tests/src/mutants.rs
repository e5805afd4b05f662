//! The mutants: shipped source, each with one seeded bug. `build/table/` lists them.

// What a mutant leaves unused or undocumented is the shipped source's affair.
#![allow(
    dead_code,
    unused,
    missing_docs,
    unreachable_pub,
    clippy::all,
    unexpected_cfgs
)]

include!(concat!(env!("OUT_DIR"), "/mutants.rs"));

/// The modules of `windowpane-core` that its `one_word.rs` names, for the mutants of that file.
mod as_in_core {
    pub mod build {
        pub use windowpane_core::FromQuotas;
    }
    pub mod change_quotas {
        pub use windowpane_core::ChangeQuotas;
    }
    pub mod clock {
        pub use windowpane_core::{Clock, MonotonicClock, Nanos};
    }
    pub mod cost {
        pub use windowpane_core::Cost;
    }
    pub mod decision {
        pub use windowpane_core::{Decision, Denial, Detailed};
    }
    pub mod per_quota {
        pub use windowpane_core::PerQuota;
    }
    pub mod error {
        pub use windowpane_core::{BuildError, RequestError};
    }
    pub mod limiter {
        pub use windowpane_core::Limiter;
    }
    pub mod rate_limiter {
        pub use windowpane_core::RateLimiter;
    }
    pub mod outcome {
        pub use windowpane_core::{AcquireError, Allowed, Rejected, Status};
    }
    pub mod quota {
        pub use windowpane_core::{Quota, Unit};
    }
    pub mod quotas {
        pub use windowpane_core::{IntoQuotas, Quotas};
    }
    pub mod settle {
        pub use windowpane_core::{Charge, Settle};
    }
    pub mod sync {
        pub use windowpane_core::sync::*;
    }
}
