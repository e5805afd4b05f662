//! All cases with right answers for clocks that are clamped.

#[path = "../../core/tests/conformance/mod.rs"]
mod conformance;

use windowpane_cas_ring::CasRing;

#[test]
fn the_ring_answers_every_case() {
    let cases = conformance::exact();
    let clamped = cases.iter().filter(|case| case.on_regression == "clamp");
    assert!(clamped.clone().count() >= 20);
    for case in clamped {
        case.check(|quotas| CasRing::new(quotas).unwrap());
    }
    for case in conformance::counter() {
        case.check_exact(|quotas| CasRing::new(quotas).unwrap());
    }
}
