//! The bench targets that need more than the laboratory's own crates.
//!
//! | module | content |
//! |---|---|
//! | [`throughput`] | throughput as single curves by thread count, in criterion's way |
//! | [`redis`] | the limiters on a store, on a server of its own |
//! | [`http`] | the layer before an HTTP service, and the service without it |

#![forbid(unsafe_code)]

pub mod http;
pub mod redis;
pub mod throughput;
