//! The two kinds of stores that a layer asks.

/// A store in this process, which answers immediately: a
/// [`KeyedRateLimiter`](windowpane_core::KeyedRateLimiter).
#[derive(Clone, Copy, Debug)]
pub struct InMemory<S>(pub(crate) S);

/// A store that answers later, for instance on another machine: an
/// [`AsyncKeyedRateLimiter`](windowpane_core::AsyncKeyedRateLimiter).
#[derive(Clone, Copy, Debug)]
pub struct Remote<S>(pub(crate) S);
