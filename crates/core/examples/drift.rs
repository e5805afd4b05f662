//! How far the time-stamp counter and the system's clock drift apart on this machine.
//!
//! `cargo run --release -p windowpane-core --features tsc --example drift -- --minutes 10`
//!
//! `TscClock` measures the counter's rate once, when it is made, and never again. The system corrects
//! the rate of its own clock all the time. This program reads both for some minutes and prints by how
//! much the counter is ahead, in microseconds and in parts per million (1 ppm is 86 ms a day).

use std::process::ExitCode;
use std::time::Duration;

use windowpane_core::clock::{Clock, MonotonicClock, TscClock};

/// The lines that are printed.
const LINES: u32 = 10;
/// The readings of which the one with the narrowest bracket counts.
const TRIES: usize = 200;

/// One reading of the counter between two of the system's clock, in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Sample {
    /// The middle of the two readings of the system's clock.
    system: u64,
    /// How far the counter is ahead of that middle.
    ahead: i64,
    /// Half the time between the two: the error is at most that.
    error: u64,
}

impl Sample {
    fn take(system: &impl Clock, counter: &impl Clock) -> Sample {
        let read = || {
            let before = system.now();
            let counter = counter.now();
            let after = system.now();
            let error = (after - before).div_ceil(2);
            Sample {
                system: before + error,
                ahead: counter as i64 - (before + error) as i64,
                error,
            }
        };
        let mut narrowest = read();
        for _ in 1..TRIES {
            let next = read();
            if next.error < narrowest.error {
                narrowest = next;
            }
        }
        narrowest
    }
}

/// A clock rate against another, and the bound of its error, both in parts per million.
fn rate(first: Sample, last: Sample) -> (f64, f64) {
    let span = (last.system - first.system) as f64;
    let drift = (last.ahead - first.ahead) as f64;
    let error = (last.error + first.error) as f64;
    (1e6 * drift / span, 1e6 * error / span)
}

fn minutes() -> Result<f64, String> {
    let usage = "usage: drift [--minutes N], N above 0 and at most 1440; the default is 10";
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let given = match &arguments[..] {
        [] => return Ok(10.0),
        [flag, value] if flag == "--minutes" => value,
        _ => return Err(format!("unknown arguments {arguments:?}; {usage}")),
    };
    match given.parse() {
        Ok(minutes) if minutes > 0.0 && minutes <= 1440.0 => Ok(minutes),
        _ => Err(format!("`{given}` is not a number of minutes; {usage}")),
    }
}

fn main() -> ExitCode {
    let minutes = match minutes() {
        Ok(minutes) => minutes,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::from(2);
        }
    };
    let (system, counter) = (MonotonicClock::new(), TscClock::new());
    let pause = Duration::from_secs_f64(60.0 * minutes / f64::from(LINES));
    let first = Sample::take(&system, &counter);
    println!("minutes  ahead (us)  error (us)  rate (ppm)");
    let mut last = first;
    for line in 1..=LINES {
        std::thread::sleep(pause);
        last = Sample::take(&system, &counter);
        println!(
            "{:7.2}  {:10.3}  {:10.3}  {:+10.3}",
            minutes * f64::from(line) / f64::from(LINES),
            (last.ahead - first.ahead) as f64 / 1e3,
            (last.error + first.error) as f64 / 1e3,
            rate(first, last).0,
        );
    }
    let (drift, error) = rate(first, last);
    println!(
        "\nIn {minutes} minutes the time-stamp counter drifted {drift:+.3} ppm (error at most {error:.3}) \
         from the system's monotonic clock: {:+.1} ms a day.",
        drift * 86.4
    );
    ExitCode::SUCCESS
}

#[cfg(test)]
mod tests {
    use windowpane_core::clock::ManualClock;

    use super::*;

    /// Shows the time of another clock, `ppm` parts per million faster, and takes 30 ns to be read.
    struct Fast<'c>(&'c ManualClock, u64);

    impl Clock for Fast<'_> {
        fn now(&self) -> u64 {
            self.0.advance(Duration::from_nanos(30));
            let now = self.0.now();
            now + now * self.1 / 1_000_000
        }
    }

    #[test]
    fn a_known_drift_is_found() {
        for ppm in [0, 3, 120] {
            let system = ManualClock::new(0);
            let counter = Fast(&system, ppm);
            let first = Sample::take(&system, &counter);
            system.advance(Duration::from_secs(600));
            let last = Sample::take(&system, &counter);
            let (drift, error) = rate(first, last);
            assert!((drift - ppm as f64).abs() <= error, "{drift} {error}");
            assert!(error < 0.001, "{error}");
        }
    }
}
