//! The limiters on a store: decisions a second, service times, and memory.

use std::process::ExitCode;

fn main() -> ExitCode {
    windowpane_lab_benches::redis::main()
}
