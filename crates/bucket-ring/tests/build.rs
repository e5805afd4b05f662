//! What a bucket ring refuses to be, and how much memory it takes.

use windowpane_bucket_ring::{BucketRing, MAX_BUCKETS, MAX_LIMIT};
use windowpane_core::{BuildError, Quotas, RateLimiter};

fn build(quotas: &[&str], buckets: u32) -> Result<BucketRing, BuildError> {
    BucketRing::with_buckets(Quotas::parse(quotas).unwrap(), buckets)
}

#[test]
fn one_quota_may_have_any_window_and_any_number_of_buckets() {
    for (quota, buckets, width) in [
        ("3/1ns", 1, 1),
        ("3/1ns", 3_600, 1),
        ("3/61ns", 60, 2),
        ("3/60s", 60, 1_000_000_000),
        ("3/365d", 3_600, 8_760_000_000_000),
        ("3/365d", 1, 31_536_000_000_000_000),
    ] {
        assert_eq!(build(&[quota], buckets).unwrap().width(), width, "{quota}");
    }
}

#[test]
fn the_number_of_buckets_is_1_to_3600() {
    for given in [0, MAX_BUCKETS + 1, u32::MAX] {
        let error = build(&["3/60s"], given).unwrap_err();
        let expected = BuildError::BucketsOutOfRange {
            given,
            max: MAX_BUCKETS,
        };
        assert_eq!(error, expected);
        assert!(error.to_string().contains("1 to 3600 buckets"), "{error}");
    }
}

#[test]
fn a_window_that_is_no_whole_number_of_buckets_is_refused_with_a_number_that_would_do() {
    // The suggestion is the next larger number of buckets, else the next smaller.
    for (quotas, buckets, cut, fits) in [
        (["9/1h", "2/1s"], 60, "2/1s", 3_600),
        (["9/60s", "2/7s"], 59, "9/60s", 60),
        (["9/61s", "2/1s"], 60, "9/61s", 61),
        (["9/60s", "2/15s"], 3_599, "9/60s", 3_200),
        (["9/3601ns", "2/277ns"], 100, "9/3601ns", 13),
    ] {
        let error = build(&quotas, buckets).unwrap_err();
        let BuildError::WindowNotInBuckets { quota, .. } = &error else {
            panic!("{error:?}");
        };
        assert_eq!(quota.to_string(), cut, "{error}");
        let told = format!("; {fits} buckets of ");
        assert!(error.to_string().contains(&told), "{error}");
        assert!(build(&quotas, fits).is_ok(), "{error}");
        assert!((buckets..fits).all(|between| build(&quotas, between).is_err()));
    }
    let error = build(&["9/1d", "2/1s"], 60).unwrap_err();
    assert_eq!(
        error.to_string(),
        "bucket-ring holds several quotas if each window is a whole number of buckets, and that of 2/1s is not, \
         with buckets of 1440s; no number of buckets up to 3600 would do: take mutex-log"
    );
}

#[test]
fn what_a_bucket_ring_cannot_count_is_refused_with_what_can() {
    let error = build(&["10/1s", "60req/60s"], 60).unwrap_err();
    assert!(matches!(error, BuildError::MixedUnits { .. }));
    assert!(error.to_string().contains("take mutex-log"), "{error}");
    assert!(build(&["10req/1s", "60req/60s"], 60).is_ok());

    let most = format!("{MAX_LIMIT}/60s");
    assert!(build(&[&most], 60).is_ok());
    let more = format!("{}/60s", MAX_LIMIT + 1);
    let error = build(&[&more], 60).unwrap_err();
    let too_large = matches!(error, BuildError::LimitTooLarge { max: MAX_LIMIT, .. });
    assert!(too_large, "{error:?}");
}

#[test]
fn a_ring_tells_its_quotas() {
    let quotas = Quotas::parse(["100/60s", "10/1s"]).unwrap();
    assert_eq!(BucketRing::new(quotas.clone()).unwrap().quotas(), quotas);
}

#[test]
fn x86_64_has_the_instruction() {
    if cfg!(target_arch = "x86_64") {
        assert!(BucketRing::is_lock_free());
    }
}

#[test]
fn the_constant_part_is_within_256_bytes() {
    assert!(
        size_of::<BucketRing>() <= 256,
        "{}",
        size_of::<BucketRing>()
    );
}
