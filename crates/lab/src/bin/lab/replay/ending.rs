//! Being ended from outside, without leaving anything half finished behind.

use std::process::exit;

use windowpane_lab_ground::output::remove_unfinished;

/// What an interrupt ends with: 128 and the signal's number.
const INTERRUPTED: i32 = 130;

/// Removes what is half finished before an interrupt, a request to terminate or a hang-up ends the
/// program. Where there can be no handler, they end it as they always do.
pub(crate) fn leave_nothing_unfinished() {
    let _ = ctrlc::set_handler(|| {
        remove_unfinished();
        exit(INTERRUPTED);
    });
    #[cfg(unix)]
    unix::leave_nothing_unfinished();
}

#[cfg(unix)]
mod unix {
    use std::fs;
    use std::process::exit;
    use std::thread;

    use signal_hook::consts::{SIGHUP, SIGTERM};
    use signal_hook::iterator::Signals;
    use windowpane_lab_ground::output::remove_unfinished;

    pub(super) fn leave_nothing_unfinished() {
        // `nohup` has a hang-up ignored, and that is to stay so.
        let ignored = ignored();
        let ends = [SIGTERM, SIGHUP];
        let ends = ends
            .into_iter()
            .filter(|signal| ignored & (1 << (signal - 1)) == 0);
        let Ok(mut signals) = Signals::new(ends) else {
            return;
        };
        thread::spawn(move || {
            if let Some(signal) = signals.forever().next() {
                remove_unfinished();
                exit(128 + signal);
            }
        });
    }

    /// The signals that this process was started to ignore, as bits from the lowest on; none where
    /// the system does not tell.
    fn ignored() -> u64 {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
            .unwrap_or(0)
    }
}
