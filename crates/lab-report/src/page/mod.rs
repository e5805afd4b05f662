//! A page of HTML in one file: what every report of the laboratory looks like in a browser.
//!
//! A page asks nothing of the network and runs no script: its stylesheet and its charts stand in
//! it. It follows the reader's light or dark, fits a phone, and prints. What it shows is text until
//! someone makes [`Markup`](maud::Markup) of it, so that no name in the data becomes a tag.

mod figure;
mod shell;

pub use figure::{Column, chart, table};
pub use shell::{Page, Section};
