#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod body;
mod by_text;
mod cost;
mod headers;
mod key;
mod limit;
mod observe;
mod policy;
mod refusal;
#[cfg(feature = "reload")]
pub mod reload;
mod service;
mod settle;
mod written;

pub use body::ResponseBody;
pub use by_text::ByText;
pub use cost::RequestCost;
pub use headers::Reset;
pub use key::{
    ClientAddress, Extract, Extracted, ForwardingHeader, FromExtension, FromFn, FromHeader, Map,
    MissingKey, Peer, from_fn,
};
pub use limit::RateLimit;
pub use observe::{Event, Outcome};
#[cfg(feature = "metrics")]
pub use observe::{metric_names, record_store};
pub use policy::NameError;
pub use refusal::{OnFailure, Refusal};
pub use service::{RateLimitLayer, RateLimitService};
pub use settle::{End, Meter, Used};
