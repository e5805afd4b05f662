//! Mutants of the bucket ring.

use super::Limiter::BucketRing;
use super::{Mutant, Shipped};

/// A mutant of the bucket ring: its name, the file that has the bug, the models that must find it,
/// the bug, what ships, and what the mutant has instead.
macro_rules! ring {
    ($name:literal $file:literal [$($model:literal)*] $bug:literal $shipped:literal => $seeded:literal) => {
        Mutant {
            name: $name,
            bug: $bug,
            of: Shipped::BucketRing,
            file: $file,
            shipped: $shipped,
            seeded: $seeded,
            found_by: &[$((BucketRing, $model)),*],
        }
    };
}

pub(crate) const MUTANTS: &[Mutant] = &[
    // What a claim rests on.
    ring! {
        "claims_blindly" "ring.rs"
        [
            "any::last_permit"
            "any::three_for_two"
            "any::denial_beside_allowance"
            "buckets::roll_beside_an_acquire"
            "buckets::around_the_ring_in_vain"
            "buckets::idle_jump_past_the_ring"
            "buckets::two_quotas"
        ]
        "It checks and then adds, whatever head it meets by then"
        "head.to_bits(), claimed.to_bits(),"
        => "self.words.head.load(Ordering::Relaxed), claimed.to_bits(),"
    },
    ring! {
        "charges_partly" "ring.rs"
        ["any::costly_requests" "any::unequal_costs"]
        "The first request of a bucket is charged one permit whatever it costs"
        "head.roll(at, charge, kept,"
        => "head.roll(at, 1, kept,"
    },
    ring! {
        "second_quota_not_asked" "ring.rs"
        ["buckets::two_quotas"]
        "It asks the first quota alone"
        "self.plan.rules().enumerate()"
        => "self.plan.rules().enumerate().take(1)"
    },
    ring! {
        "begins_without_the_record" "ring.rs"
        [
            "any::twice_each"
            "any::readings_out_of_order"
            "buckets::roll_beside_an_acquire"
            "buckets::record_beside_its_head"
        ]
        "It begins a bucket while the record of the one before is unpublished"
        "if !self.publish(head, view.newest) { return None; }"
        => ""
    },
    ring! {
        "has_no_spare_slot" "plan.rs"
        ["buckets::oldest_still_needed"]
        "The record of the newest bucket takes the place of one that is still needed"
        "self.longest().most() + 1"
        => "self.longest().most()"
    },
    // What publishing a record rests on.
    ring! {
        "publishes_without_a_check" "ring.rs"
        ["buckets::sleeping_helper" "buckets::two_rolls_beside_an_acquire"]
        "A helper does not check the head again, and a late one overwrites a later record"
        "if !self.is_current(head) { return false; }"
        => ""
    },
    ring! {
        "publishes_blindly" "ring.rs"
        ["buckets::sleeping_helper"]
        "A helper writes the slot whatever it holds by then"
        "slot.compare_exchange(found, record.0, Ordering::AcqRel,"
        => "slot.compare_exchange(slot.load(Ordering::Relaxed), record.0, Ordering::AcqRel,"
    },
    ring! {
        "published_by_its_bucket" "ring.rs"
        [
            "buckets::sleeping_helper"
            "buckets::roll_beside_an_acquire"
        ]
        "A record published before more went into its bucket counts as the last"
        "if found == record.0 {"
        => "if found >> 39 == record.0 >> 39 {"
    },
    // What a denial and a peek rest on.
    ring! {
        "denies_after_one_load" "ring.rs"
        ["buckets::around_the_ring"]
        "The fast path denies without a second load of the head"
        "Some(wait) if self.is_current(head) =>"
        => "Some(wait) =>"
    },
    ring! {
        "denies_slowly_after_one_load" "ring.rs"
        ["buckets::around_the_ring_in_detail"]
        "The slow path denies without a second load of the head"
        "let stands = self.is_current(head);"
        => "let stands = true;"
    },
    ring! {
        "peeks_after_one_load" "ring.rs"
        ["buckets::around_the_ring_with_a_look"]
        "It reports what remains without a second load of the head"
        "if self.is_current(head) { return Ok(self.detail("
        => "if true { return Ok(self.detail("
    },
    ring! {
        "reports_before_the_charge" "ring.rs"
        ["any::looks_beside_takes"]
        "It reports what was left before the request"
        "*left -= self.plan.charge(cost);"
        => "let _ = left;"
    },
    // Resets.
    ring! {
        "reset_keeps_the_bucket" "head.rs"
        ["any::reset_beside_takes"]
        "After a reset what was accepted still counts"
        "INDEX_MASK << COUNTING_SHIFT | RESET_BIT;"
        => "RESET_BIT;"
    },
    ring! {
        "reset_only_tries" "ring.rs"
        ["any::reset_beside_takes" "buckets::reset_goes_on"]
        "A reset gives up when its exchange is lost"
        "if reset.is_ok() {"
        => "if reset.is_ok() || reset.is_err() {"
    },
    ring! {
        "resets_do_not_count" "head.rs"
        ["buckets::resets_on_a_standing_clock"]
        "The head has the time alone, so that it comes back while the clock stands"
        "fn offset(resets: u64) -> u64 { resets }"
        => "fn offset(resets: u64) -> u64 { 0 }"
    },
    // What the memory orders are for.
    ring! {
        "claim_is_relaxed" "ring.rs"
        ["buckets::record_beside_its_head" "buckets::roll_beside_an_acquire"]
        "A head does not bring the records before it along"
        "claimed.to_bits(), Ordering::Release, Ordering::Relaxed"
        => "claimed.to_bits(), Ordering::Relaxed, Ordering::Relaxed"
    },
    ring! {
        "head_load_is_relaxed" "ring.rs"
        ["buckets::record_beside_its_head" "buckets::sleeping_helper"]
        "A thread that sees a head need not see the records before it"
        "let bits = self.words.head.load(Ordering::Acquire); let resets"
        => "let bits = self.words.head.load(Ordering::Relaxed); let resets"
    },
    ring! {
        "record_load_is_relaxed" "view.rs"
        ["buckets::around_the_ring"]
        "A slot of a later lap does not bring the head that allowed it along"
        "Record(slot.load(Ordering::Acquire))"
        => "Record(slot.load(Ordering::Relaxed))"
    },
    ring! {
        "helper_load_is_relaxed" "ring.rs"
        ["buckets::sleeping_helper" "buckets::roll_beside_an_acquire"]
        "A helper that finds a later record may still see the old head"
        "let found = slot.load(Ordering::Acquire);"
        => "let found = slot.load(Ordering::Relaxed);"
    },
    ring! {
        "write_does_not_release" "ring.rs"
        ["buckets::around_the_ring" "buckets::sleeping_helper"]
        "A slot does not bring the head along that its writer had seen"
        "Ordering::AcqRel, Ordering::Acquire); if written.is_ok()"
        => "Ordering::Acquire, Ordering::Acquire); if written.is_ok()"
    },
];
