//! The laboratory of windowpane: it runs the limiters, ours and others', on the same work, and
//! says what came out.
//!
//! | where | what |
//! |---|---|
//! | [`registry`] | which limiters exist |
//! | [`contestants`] | who is measured: those limiters and their rivals, behind one adapter |
//! | [`replay`] | recorded requests through the limiters, compared with the oracle |
//! | [`measure`] | throughput, latency, memory and accuracy, by rules that the types keep |
//! | [`report`] | what a run becomes: CSV, Markdown, SVG, HTML |
//! | `page` | the page around every report in HTML |
//! | [`soak`] | long random use that watches the invariant |
//! | [`choose`] | which limiter fits a need, by what a run measured |

#![forbid(unsafe_code)]

pub mod choose;
pub mod contestants;
pub mod measure;
mod page;
pub mod registry;
pub mod replay;
pub mod report;
pub mod soak;
