//! The rivals: one file each, with its adapters for one key and for many, and its entry in the
//! [table](crate::table).

pub(crate) mod governor;
pub(crate) mod plain_log;
pub(crate) mod rate_net;
pub(crate) mod ratelimit;
pub(crate) mod trypema;
