//! Latency alone: service time of closed loops, response time of open ones, each under its label.

use std::process::ExitCode;

fn main() -> ExitCode {
    windowpane_lab_report::versus::latency_main()
}
