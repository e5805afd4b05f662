//! Recorded requests as a stream, from CSV and from logs of many kinds: `FORMATS.md` lists them.
//!
//! | module | content |
//! |---|---|
//! | `decode`, `lines` | a stream of bytes, compressed or not, becomes lines |
//! | `record`, `formats`, `detect` | a line becomes fields, in a format that is found by the first lines |
//! | `columns`, `fields`, `key`, `filter`, `time`, `date`, `unit` | fields become a time, a key and a cost |
//! | `input` | all of it: a stream of requests |
//! | `keys`, `batch` | the keys as small numbers, and the requests that are decided together |
//! | `ahead` | the thread that reads and parses while another decides |
//! | `source`, `held`, `order`, `stream` | several inputs as one, merged, reordered or sorted by time |
//! | `requests` | recorded requests one by one, for other measurements |
//! | `excerpt` | untrusted text for a terminal |

#![forbid(unsafe_code)]

mod ahead;
mod bad_line;
mod batch;
mod columns;
mod date;
mod decode;
mod detect;
mod error;
mod excerpt;
mod fields;
mod filter;
mod format;
mod formats;
mod held;
mod input;
mod key;
mod keys;
mod lines;
mod open;
mod order;
mod record;
mod requests;
mod source;
mod stream;
mod time;
mod unit;

pub use ahead::Ahead;
pub use bad_line::{BadKind, BadLine};
pub use batch::{Batch, Request};
pub use columns::ColumnNames;
pub use error::InputError;
pub use excerpt::{excerpt, one_line};
pub use filter::{Filter, parse_statuses};
pub use format::Format;
pub use input::{InputOptions, Requests};
pub use key::KeyOptions;
pub use keys::Keys;
pub use order::Order;
pub use requests::requests;
pub use source::{BadLines, BadLinesOfKind, Input, Opener};
pub use stream::{ReadSummary, Stream};
pub use time::{TimeError, TimeUnit, parse_time};
