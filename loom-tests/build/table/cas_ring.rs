//! Mutants of the ring.

use super::Limiter::CasRing;
use super::{Mutant, Shipped};

/// A mutant of the ring: its name, the file that has the bug, the models that must find it, the bug,
/// what ships, and what the mutant has instead.
macro_rules! ring {
    ($name:literal $file:literal [$($model:literal)*] $bug:literal $shipped:literal => $seeded:literal) => {
        Mutant {
            name: $name,
            bug: $bug,
            of: Shipped::CasRing,
            file: $file,
            shipped: $shipped,
            seeded: $seeded,
            found_by: &[$((CasRing, $model)),*],
        }
    };
}

pub(crate) const MUTANTS: &[Mutant] = &[
    // What a claim rests on.
    ring! {
        "claims_blindly" "ring.rs"
        [
            "any::last_permit"
            "any::twice_each"
            "any::denial_beside_allowance"
            "exact::second_quota_denies"
            "ring::room_to_spare"
        ]
        "It checks and then takes, whatever head it meets by then"
        "head.to_bits(), claimed.to_bits(),"
        => "self.head.load(Ordering::Relaxed), claimed.to_bits(),"
    },
    ring! {
        "claims_before_published" "ring.rs"
        [
            "any::three_for_two"
            "exact::two_quotas_two_costs"
            "ring::sleeping_claimer"
        ]
        "It claims while the record before is unpublished"
        "None if self.help(head) =>"
        => "None =>"
    },
    ring! {
        "charges_partly" "ring.rs"
        [
            "any::costly_requests"
            "any::unequal_costs"
            "exact::two_quotas_two_costs"
        ]
        "It claims one permit whatever the cost"
        "head.claim(at, cost.get(), filled, self.capacity())"
        => "head.claim(at, 1, filled, self.capacity())"
    },
    ring! {
        "forgets_too_much" "ring.rs"
        ["ring::forgets_on_the_way"]
        "It forgets all when it forgets"
        "self.used(head, at, self.longest_window, head.filled())"
        => "0"
    },
    ring! {
        "second_quota_not_asked" "ring.rs"
        ["exact::second_quota_denies"]
        "It asks the first quota alone"
        ".all(|quota| age(quota) >= quota.window())"
        => ".all(|_| true)"
    },
    // What a denial and a peek rest on.
    ring! {
        "denies_after_one_load" "ring.rs"
        ["ring::reader_on_an_old_head"]
        "The fast path denies without a second load of the head"
        "let stands = self.is_current(head);"
        => "let stands = true;"
    },
    ring! {
        "denies_slowly_after_one_load" "ring.rs"
        ["exact::denial_over_two_quotas"]
        "The slow path denies without a second load of the head"
        "Some(denied) if self.is_current(head) =>"
        => "Some(denied) =>"
    },
    ring! {
        "peeks_after_one_load" "ring.rs"
        ["any::looks_beside_takes"]
        "It reports what remains without a second load of the head"
        "if self.is_current(head) { return Ok(self.detail("
        => "if true { return Ok(self.detail("
    },
    ring! {
        "expires_late" "ring.rs"
        ["any::denial_beside_allowance"]
        "It denies at the very end of the window"
        "first < self.first.window()"
        => "first <= self.first.window()"
    },
    ring! {
        "expires_early" "ring.rs"
        ["any::expiry_edge" "any::readings_out_of_order"]
        "It allows one nanosecond before the end of the window"
        "age.saturating_add(at - head.time)"
        => "age.saturating_add(at + 1 - head.time)"
    },
    ring! {
        "missing_is_gone" "ring.rs"
        ["any::last_permit" "any::looks_beside_takes" "ring::around_one_slot"]
        "It reads an unpublished record as one that has expired"
        "slot.age(head.stamp()) } else { 0 }"
        => "slot.age(head.stamp()) } else { ANCIENT }"
    },
    ring! {
        "missing_is_read" "ring.rs"
        ["ring::around_one_slot" "ring::record_of_two_permits"]
        "It reads a slot of another lap as if it were of this one"
        "if slot.is_of(position) { slot.age"
        => "if true { slot.age"
    },
    // What publishing a record rests on.
    ring! {
        "publishes_without_a_check" "ring.rs"
        ["ring::sleeping_helper"]
        "A helper does not check the head again, and a late one overwrites a later lap"
        "if !self.is_current(head) { return false; }"
        => ""
    },
    ring! {
        "publishes_blindly" "ring.rs"
        ["ring::sleeping_helper"]
        "A helper writes the slot whatever it holds by then"
        "slot.compare_exchange(found, record.0, Ordering::AcqRel,"
        => "slot.compare_exchange(slot.load(Ordering::Relaxed), record.0, Ordering::AcqRel,"
    },
    ring! {
        "publishes_its_own_blindly" "ring.rs"
        ["ring::sleeping_claimer"]
        "A claimer that slept writes its slot whatever it holds by then"
        "slot.compare_exchange(found, record.0, Ordering::Release,"
        => "slot.compare_exchange(slot.load(Ordering::Relaxed), record.0, Ordering::Release,"
    },
    ring! {
        "publishes_the_newest_first" "ring.rs"
        ["ring::record_of_three_permits"]
        "It writes a record from its newest permit on, so that the published part is not a beginning"
        "(1..=missing).rev().all("
        => "(1..=missing).all("
    },
    ring! {
        "helps_with_one" "ring.rs"
        ["any::unequal_costs" "ring::record_of_three_permits"]
        "It publishes at most one permit of a record"
        "missing += 1;"
        => "missing += 1; break;"
    },
    ring! {
        "has_no_lap_tag" "slot.rs"
        ["ring::around_one_slot" "ring::room_to_spare"]
        "Every slot counts as one of this lap"
        "self.0 >> STAMP_BITS == position.lap"
        => "self.0 >> STAMP_BITS <= position.lap + 255"
    },
    ring! {
        "does_not_count_laps" "head.rs"
        ["any::twice_each" "ring::reader_on_an_old_head"]
        "All laps have the same tag"
        ".wrapping_add(1 << LAP_SHIFT)"
        => ".wrapping_add(0)"
    },
    ring! {
        "reset_starts_over" "head.rs"
        ["ring::reset_goes_on"]
        "A reset goes back to the first position, and a lap is written twice"
        "place: self.place & !fields |"
        => "place: 0 |"
    },
    ring! {
        "reset_only_tries" "ring.rs"
        ["any::reset_beside_takes" "ring::reset_goes_on"]
        "A reset gives up when its exchange is lost"
        "if reset.is_ok() {"
        => "if reset.is_ok() || reset.is_err() {"
    },
    // What resets rest on.
    ring! {
        "resets_do_not_count" "head.rs"
        ["ring::resets_on_a_standing_clock"]
        "The stamp is the time alone, so that a lap comes back while the clock stands"
        "fn offset(resets: u64) -> u64 { resets }"
        => "fn offset(resets: u64) -> u64 { 0 }"
    },
    ring! {
        "announces_over_a_reset" "ring.rs"
        ["ring::two_resets"]
        "A reset is announced while another is not finished"
        "if head.reset_tag() != reset_tag(announced) { return announced; }"
        => ""
    },
    ring! {
        "reads_the_number_first" "ring.rs"
        ["any::reset_beside_takes" "ring::reset_goes_on"]
        "The number of resets is read before the head, and a reset lies between"
        "Head::from_bits(bits, resets) }"
        => "let bits = self.head.load(Ordering::Acquire); Head::from_bits(bits, resets) }"
    },
    // What the memory orders are for.
    ring! {
        "claim_is_relaxed" "ring.rs"
        ["any::denial_beside_allowance" "ring::sleeping_claimer"]
        "A head does not bring the record before it along"
        "claimed.to_bits(), Ordering::Release, Ordering::Relaxed"
        => "claimed.to_bits(), Ordering::Relaxed, Ordering::Relaxed"
    },
    ring! {
        "head_load_is_relaxed" "ring.rs"
        ["any::looks_beside_takes" "ring::sleeping_claimer"]
        "A thread that sees a head need not see the record before it"
        "let bits = self.head.load(Ordering::Acquire); let resets"
        => "let bits = self.head.load(Ordering::Relaxed); let resets"
    },
    ring! {
        "age_load_is_relaxed" "ring.rs"
        ["any::looks_beside_takes" "exact::denial_over_two_quotas"]
        "A slot of a later lap does not bring the head that allowed it along"
        "let slot = Slot(self.slot(position.index).load(Ordering::Acquire)); if slot.is_of(position) { slot.age"
        => "let slot = Slot(self.slot(position.index).load(Ordering::Relaxed)); if slot.is_of(position) { slot.age"
    },
    ring! {
        "deciding_load_is_relaxed" "ring.rs"
        ["ring::reader_on_an_old_head"]
        "The same on the fast path"
        "Slot(slot.load(Ordering::Acquire)).age(head.stamp())"
        => "Slot(slot.load(Ordering::Relaxed)).age(head.stamp())"
    },
    ring! {
        "published_load_is_relaxed" "ring.rs"
        [
            "any::costly_requests"
            "ring::record_of_two_permits"
            "ring::record_of_three_permits"
        ]
        "A record seen published is not passed on with the next head"
        "Slot(self.slot(position.index).load(Ordering::Acquire)).is_of(position)"
        => "Slot(self.slot(position.index).load(Ordering::Relaxed)).is_of(position)"
    },
    ring! {
        "help_load_is_relaxed" "ring.rs"
        ["ring::record_of_three_permits"]
        "A helper that finds a later lap in the record may still see the old head"
        "let slot = Slot(self.slot(position.index).load(Ordering::Acquire)); if slot.is_of(position) { break"
        => "let slot = Slot(self.slot(position.index).load(Ordering::Relaxed)); if slot.is_of(position) { break"
    },
    ring! {
        "helper_load_is_relaxed" "ring.rs"
        ["ring::sleeping_helper"]
        "A helper that finds a later lap may still see the old head"
        "let found = slot.load(Ordering::Acquire); if Slot(found)"
        => "let found = slot.load(Ordering::Relaxed); if Slot(found)"
    },
    ring! {
        "own_write_is_relaxed" "ring.rs"
        ["any::looks_beside_takes" "ring::reader_on_an_old_head"]
        "A slot of a later lap does not bring the head that allowed it along"
        "slot.compare_exchange(found, record.0, Ordering::Release, Ordering::Relaxed)"
        => "slot.compare_exchange(found, record.0, Ordering::Relaxed, Ordering::Relaxed)"
    },
    ring! {
        "helper_write_does_not_release" "ring.rs"
        ["any::costly_requests" "ring::record_of_three_permits"]
        "A slot that a helper wrote does not bring the head along"
        "Ordering::AcqRel, Ordering::Acquire); if written.is_ok()"
        => "Ordering::Acquire, Ordering::Acquire); if written.is_ok()"
    },
];
