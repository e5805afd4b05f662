//! The models that each limiter must hold under: functions of `scripts`.

use Limiter::{
    BucketRing, CasRing, ChangingRing, FixedWindow, FlatTable, MutexLog, PackedCounter,
    RejectingLog, SettlingCounter, SettlingLog,
};

/// A limiter under test: a function of this package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limiter {
    MutexLog,
    RejectingLog,
    FixedWindow,
    PackedCounter,
    CasRing,
    BucketRing,
    FlatTable,
    SettlingLog,
    SettlingCounter,
    ChangingRing,
}

impl Limiter {
    /// Its name as a function.
    pub(crate) fn name(self) -> &'static str {
        match self {
            MutexLog => "mutex_log",
            RejectingLog => "rejecting_log",
            FixedWindow => "fixed_window",
            PackedCounter => "packed_counter",
            CasRing => "cas_ring",
            BucketRing => "bucket_ring",
            FlatTable => "flat_table",
            SettlingLog => "settling_log",
            SettlingCounter => "settling_counter",
            ChangingRing => "changing_ring",
        }
    }
}

pub(crate) const MODELS: &[(Limiter, &[&str])] = &[
    (
        MutexLog,
        &[
            "any::last_permit",
            "any::three_for_two",
            "any::twice_each",
            "any::costly_requests",
            "any::unequal_costs",
            "any::expiry_edge",
            "any::denial_beside_allowance",
            "any::looks_beside_takes",
            "any::readings_out_of_order",
            "any::reset_beside_takes",
            "exact::second_quota_denies",
            "exact::two_quotas_two_costs",
            "exact::denial_over_two_quotas",
            "log::requests_and_tokens",
            "log::early_reading_after_a_late_denial",
        ],
    ),
    (RejectingLog, &["log::clock_inside_the_lock"]),
    (
        FixedWindow,
        &[
            "any::last_permit",
            "any::three_for_two",
            "any::twice_each",
            "any::costly_requests",
            "any::unequal_costs",
            "any::reset_beside_takes",
            "windows::roll_beside_a_late_taker",
            "windows::idle_jump",
            "windows::costs_across_a_roll",
            "windows::denial_across_a_roll",
        ],
    ),
    (
        PackedCounter,
        &[
            "any::last_permit",
            "any::three_for_two",
            "any::twice_each",
            "any::costly_requests",
            "any::unequal_costs",
            "any::denial_beside_allowance",
            "any::looks_beside_takes",
            "any::readings_out_of_order",
            "any::reset_beside_takes",
            "windows::roll_raced",
            "windows::roll_beside_a_late_taker",
            "windows::idle_jump",
            "windows::costs_across_a_roll",
            "windows::denial_across_a_roll",
        ],
    ),
    (
        CasRing,
        &[
            "any::last_permit",
            "any::three_for_two",
            "any::twice_each",
            "any::costly_requests",
            "any::unequal_costs",
            "any::expiry_edge",
            "any::denial_beside_allowance",
            "any::looks_beside_takes",
            "any::readings_out_of_order",
            "any::reset_beside_takes",
            "exact::second_quota_denies",
            "exact::two_quotas_two_costs",
            "exact::denial_over_two_quotas",
            "ring::around_one_slot",
            "ring::sleeping_claimer",
            "ring::sleeping_helper",
            "ring::reader_on_an_old_head",
            "ring::room_to_spare",
            "ring::record_of_two_permits",
            "ring::record_of_three_permits",
            "ring::reset_goes_on",
            "ring::forgets_on_the_way",
        ],
    ),
    (
        BucketRing,
        &[
            "any::last_permit",
            "any::three_for_two",
            "any::twice_each",
            "any::costly_requests",
            "any::unequal_costs",
            "any::denial_beside_allowance",
            "any::looks_beside_takes",
            "any::readings_out_of_order",
            "any::reset_beside_takes",
            "buckets::roll_beside_an_acquire",
            "buckets::two_rolls_beside_an_acquire",
            "buckets::oldest_still_needed",
            "buckets::sleeping_helper",
            "buckets::around_the_ring",
            "buckets::around_the_ring_in_detail",
            "buckets::around_the_ring_with_a_look",
            "buckets::around_the_ring_in_vain",
            "buckets::idle_jump_past_the_ring",
            "buckets::record_beside_its_head",
            "buckets::reset_goes_on",
            "buckets::two_quotas",
        ],
    ),
    (
        FlatTable,
        &[
            "keys::inserted_twice",
            "keys::inserted_in_two_places",
            "keys::inserted_by_three",
            "keys::evicted_while_charged",
            "keys::reused_while_charged",
            "keys::forgotten_before_an_early_reading",
            "keys::swept_while_charged",
            "keys::swept_before_an_early_reading",
            "keys::swept_before_an_early_look",
            "keys::swept_while_inserted",
            "keys::charged_and_looked_at",
            "keys::looked_at_while_inserted",
            "keys::reset_while_charged",
        ],
    ),
    (
        SettlingLog,
        &[
            "changes::given_back_beside_a_take",
            "changes::charged_more_beside_a_take",
        ],
    ),
    (
        SettlingCounter,
        &[
            "changes::given_back_beside_a_take",
            "changes::charged_more_beside_a_take",
            "changes::two_settle_beside_a_take",
        ],
    ),
    (
        ChangingRing,
        &[
            "changes::raised_beside_takes",
            "changes::lowered_beside_takes",
            "changes::longer_window_beside_takes",
            "changes::reset_beside_a_change",
        ],
    ),
];
