//! `lab choose`: the ranking, who is ruled out.

mod command;
#[path = "../../../lab-report/tests/report/recorded.rs"]
mod recorded;
