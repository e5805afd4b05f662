//! One thread stopped in the middle of a decision.

use std::time::Duration;

use windowpane_lab_contestants as contestants;
use windowpane_lab_measure::stalled::{STALL, row};
use windowpane_lab_measure::state::State;

#[test]
fn who_waits_behind_a_lock_sees_the_stall_and_who_does_not_goes_on() {
    for contestant in contestants::all() {
        let name = contestant.info().name;
        if !["mutex-log", "cas-ring", "packed-counter"].contains(&name) {
            continue;
        }
        let row = row(contestant, State::Denied, Duration::from_millis(80));
        assert!(row.stalls > 0, "{row:?}");
        if name == "mutex-log" {
            // Some thread waited for the lock nearly as long as its holder slept.
            assert!(row.max > STALL.as_nanos() as u64 / 2, "{row:?}");
        } else {
            // Thousands of decisions a stall; a thread behind a lock makes but a handful.
            assert!(row.meanwhile / row.stalls > 1_000, "{row:?}");
        }
    }
}
