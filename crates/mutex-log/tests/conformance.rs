//! All cases with right answers, on both mutexes.

#[path = "../../core/tests/conformance/mod.rs"]
mod conformance;

use windowpane_mutex_log::{LockKind, MutexLog, OnRegression, StdMutex};

fn check_all<K: LockKind>() {
    for case in conformance::exact() {
        let on_regression = match case.on_regression.as_str() {
            "clamp" => OnRegression::Clamp,
            "reject" => OnRegression::Reject,
            other => panic!("unknown regression policy {other}"),
        };
        case.check(|quotas| MutexLog::<K>::with_regression(quotas, on_regression));
    }
    for case in conformance::counter() {
        case.check_exact(MutexLog::<K>::new);
    }
}

#[test]
fn the_log_behind_the_std_mutex_answers_every_case() {
    check_all::<StdMutex>();
}

#[cfg(feature = "parking_lot")]
#[test]
fn the_log_behind_the_parking_lot_mutex_answers_every_case() {
    check_all::<windowpane_mutex_log::ParkingLotMutex>();
}
