#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![warn(missing_debug_implementations)]

mod body;
mod builder;
mod by_text;
mod common;
mod cost;
mod engine;
mod future;
mod headers;
mod key;
mod observe;
mod policy;
mod rejection;
#[cfg(feature = "reload")]
pub mod reload;
mod service;
mod settings;
mod settle;
mod stack;
mod store;
mod written;

pub use body::ResponseBody;
pub use builder::RateLimitBuilder;
pub use by_text::ByText;
pub use cost::{Learn, LearnedCost, RequestCost};
pub use future::ResponseFuture;
pub use headers::{Draft, Reset};
pub use key::{
    ClientAddress, Everyone, Extract, Extracted, ForwardingHeader, FromExtension, FromFn,
    FromHeader, Map, MissingKey, Peer, from_fn,
};
pub use observe::{Event, Outcome};
#[cfg(feature = "metrics")]
pub use observe::{metric_names, record_store};
pub use policy::NameError;
pub use rejection::{OnFailure, Rejection};
pub use service::{RateLimitLayer, RateLimitService};
pub use settle::{End, Meter, Used};
pub use stack::{Limit, StackBuilder, StackError};
pub use store::{InMemory, Remote};
