//! `lab choose`: the answers, and what rules out.

mod command;
mod needs;
#[path = "../../../lab-report/tests/report/recorded.rs"]
mod recorded;
