//! `lab replay` as other programs call it: the built command, its exit status, and what it writes.

mod ahead;
mod any_lines;
mod bad_input;
mod conformance;
#[cfg(unix)]
mod ending;
mod every_format;
mod formats;
mod order;
mod outputs;
mod report;
mod suggest;
mod support;
mod traps;
mod who;
