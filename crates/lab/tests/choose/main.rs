//! `lab choose`: the ranking, who is ruled out, and code that compiles.

mod command;
#[path = "../measure/recorded.rs"]
mod recorded;
mod snippets;
