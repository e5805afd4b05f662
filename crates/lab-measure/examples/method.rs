//! `cargo xtask method` runs this.

use std::process::ExitCode;

fn main() -> ExitCode {
    windowpane_lab_measure::method::main()
}
