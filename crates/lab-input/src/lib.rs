//! Recorded requests as a stream, from CSV or an access log.
//!
//! | module | content |
//! |---|---|
//! | `lines`, `columns`, `clf`, `time`, `date`, `input` | a stream of bytes becomes a stream of requests |
//! | `keys`, `batch` | the keys as small numbers, and the requests that are decided together |
//! | `ahead` | the thread that reads and parses while another decides |
//! | `requests` | recorded requests one by one, for other measurements |
//! | `excerpt` | untrusted text for a terminal |

#![forbid(unsafe_code)]

mod ahead;
mod batch;
mod clf;
mod columns;
mod date;
mod error;
mod excerpt;
mod input;
mod keys;
mod lines;
mod requests;
mod time;

pub use ahead::Ahead;
pub use batch::{Batch, Request};
pub use columns::ColumnNames;
pub use error::InputError;
pub use excerpt::{excerpt, one_line};
pub use input::{BadLine, Format, InputOptions, Requests};
pub use keys::Keys;
pub use requests::requests;
pub use time::{TimeError, TimeUnit, parse_time};
