//! HTTP with the layer and without: requests a second, service times, and memory.

use std::process::ExitCode;

fn main() -> ExitCode {
    windowpane_lab_benches::http::main()
}
