//! Throughput as single curves by thread count, in criterion's way.

use std::process::ExitCode;

fn main() -> ExitCode {
    windowpane_lab_benches::throughput::main()
}
