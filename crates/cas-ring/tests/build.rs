//! What a ring refuses to be, and how much memory it takes.

use windowpane_cas_ring::{CasRing, MAX_CAPACITY};
use windowpane_core::{BuildError, Quotas, RateLimiter};

#[test]
fn what_a_ring_cannot_hold_is_refused_with_what_can() {
    let requests = CasRing::new(Quotas::parse(["10/1s", "60req/60s"]).unwrap()).unwrap_err();
    assert!(matches!(requests, BuildError::RequestsNotSupported { .. }));
    assert!(
        requests.to_string().contains("take mutex-log"),
        "{requests}"
    );

    let too_large = format!("{}/1s", MAX_CAPACITY + 1);
    let too_large = CasRing::new(Quotas::parse([too_large.as_str()]).unwrap()).unwrap_err();
    assert!(matches!(
        too_large,
        BuildError::LimitTooLarge {
            max: MAX_CAPACITY,
            ..
        }
    ));

    let small = CasRing::with_capacity(Quotas::parse(["10/1s"]).unwrap(), 9).unwrap_err();
    assert_eq!(
        small,
        BuildError::CapacityTooSmall {
            capacity: 9,
            limit: 10
        }
    );
}

/// 128 MiB.
#[test]
fn the_largest_ring_is_as_large_as_it_says() {
    let ring = CasRing::with_capacity(Quotas::parse(["10/1s"]).unwrap(), MAX_CAPACITY).unwrap();
    assert_eq!(ring.capacity(), MAX_CAPACITY);
}

#[test]
fn the_constant_part_is_within_256_bytes() {
    assert!(size_of::<CasRing>() <= 256, "{}", size_of::<CasRing>());
}

#[test]
fn x86_64_has_the_instruction() {
    if cfg!(target_arch = "x86_64") {
        assert!(CasRing::is_lock_free());
    }
}

#[test]
fn a_ring_tells_its_quotas_and_capacity() {
    let quotas = Quotas::parse(["100/60s", "10/1s"]).unwrap();
    let ring = CasRing::with_capacity(quotas.clone(), 128).unwrap();
    assert_eq!((ring.quotas(), ring.capacity()), (quotas, 128));
}
