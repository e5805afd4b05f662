//! The textbook bursts, decided and waited for as the two-window rule says.

#[path = "../../core/tests/conformance/mod.rs"]
mod conformance;

use windowpane_packed_counter::PackedCounter;

#[test]
fn the_counter_answers_every_case() {
    for case in conformance::counter() {
        case.check_counter(|quotas| PackedCounter::new(quotas).unwrap());
    }
}
