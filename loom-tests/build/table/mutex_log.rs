//! Mutants of the log.

use super::Limiter::{MutexLog, RejectingLog};
use super::{Mutant, Shipped};

pub(crate) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "checks_then_takes",
        bug: "It checks under the lock and takes under the lock, but releases it in between",
        of: Shipped::MutexLog,
        file: "limiter.rs",
        shipped: "self.log.with(|log| {
            let now = clock();
            let t = self.effective(log, now)?;
            log.seek(&self.quotas, t);
            let decision = match log.denial(&self.quotas, now, cost) {",
        seeded: "let now = clock();
        let denial = self.log.with(|log| -> Result<_, RequestError> {
            let t = self.effective(log, now)?;
            log.seek(&self.quotas, t);
            Ok(log.denial(&self.quotas, now, cost))
        })?;
        self.log.with(|log| {
            let t = self.effective(log, now)?;
            log.seek(&self.quotas, t);
            let decision = match denial {",
        found_by: &[
            (MutexLog, "any::last_permit"),
            (MutexLog, "any::three_for_two"),
            (MutexLog, "any::twice_each"),
            (MutexLog, "any::costly_requests"),
            (MutexLog, "any::unequal_costs"),
            (MutexLog, "any::denial_beside_allowance"),
            (MutexLog, "exact::second_quota_denies"),
            (MutexLog, "log::requests_and_tokens"),
        ],
    },
    Mutant {
        name: "reads_the_clock_outside",
        bug: "It reads the clock before it has the lock, so that the order of times is not that of the lock",
        of: Shipped::MutexLog,
        file: "limiter.rs",
        shipped: "self.decide(|| clock.now(), cost, |_, decision| decision)",
        seeded: "let now = clock.now();
        self.decide(|| now, cost, |_, decision| decision)",
        found_by: &[(RejectingLog, "log::clock_inside_the_lock")],
    },
    Mutant {
        name: "denials_prune",
        bug: "A denial forgets what has expired for it but not for an earlier time",
        of: Shipped::MutexLog,
        file: "limiter.rs",
        shipped: "if self.on_regression == OnRegression::Reject {",
        seeded: "if true {",
        found_by: &[(MutexLog, "log::early_reading_after_a_late_denial")],
    },
    Mutant {
        name: "records_early_times",
        bug: "It records an earlier time as it is",
        of: Shipped::MutexLog,
        file: "limiter.rs",
        shipped: "log.record(&self.quotas, t, cost); Decision::Allowed",
        seeded: "log.record(&self.quotas, now, cost); Decision::Allowed",
        found_by: &[(MutexLog, "any::readings_out_of_order")],
    },
    Mutant {
        name: "counts_the_edge",
        bug: "What was accepted one window ago still counts",
        of: Shipped::MutexLog,
        file: "log.rs",
        shipped: "t - entry.at < quota.window()",
        seeded: "t - entry.at <= quota.window()",
        found_by: &[
            (MutexLog, "any::expiry_edge"),
            (MutexLog, "any::looks_beside_takes"),
        ],
    },
    Mutant {
        name: "second_quota_not_asked",
        bug: "It asks the first quota alone",
        of: Shipped::MutexLog,
        file: "log.rs",
        shipped: "for (index, quota) in quotas.iter().enumerate() {",
        seeded: "for (index, quota) in quotas.iter().enumerate().take(1) {",
        found_by: &[
            (MutexLog, "exact::second_quota_denies"),
            (MutexLog, "exact::two_quotas_two_costs"),
            (MutexLog, "exact::denial_over_two_quotas"),
        ],
    },
    Mutant {
        name: "reset_keeps_the_time",
        bug: "A reset keeps the latest recorded time",
        of: Shipped::MutexLog,
        file: "limiter.rs",
        shipped: "self.log.with(|log| *log = Log::new(&self.quotas))",
        seeded: "self.log.with(|log| {
            let latest = log.latest();
            *log = Log::new(&self.quotas);
            log.prune(latest);
        })",
        found_by: &[(MutexLog, "any::reset_beside_takes")],
    },
];
