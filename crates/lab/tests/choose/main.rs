//! `lab choose`: the ranking, who is ruled out, and code that compiles.

mod command;
#[path = "../../../lab-report/tests/report/recorded.rs"]
mod recorded;
mod snippets;
