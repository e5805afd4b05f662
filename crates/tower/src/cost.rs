//! The cost of a request, from its head.

mod learned;

use http::request::Parts;
use windowpane_core::Cost;

pub use learned::LearnedCost;

/// A cost of requests, known before they are served.
///
/// A [`Cost`] is the same for all requests; a function reads the request's head. A cost that is known
/// only later is charged as an estimate and [settled](crate::RateLimitBuilder::settle).
///
/// ```
/// use http::{header, request::Parts};
/// use windowpane_core::Cost;
///
/// /// One permit for each KiB of the upload, at least one.
/// fn by_length(request: &Parts) -> Cost {
///     let length = request.headers.get(header::CONTENT_LENGTH);
///     let length = length.and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
///     length.and_then(|bytes| Cost::new(bytes.div_ceil(1024))).unwrap_or(Cost::ONE)
/// }
/// # let _ = by_length;
/// ```
pub trait RequestCost: Send + Sync + 'static {
    /// Returns the cost of a request. It must not panic on anything that a client can send.
    fn cost(&self, request: &Parts) -> Cost;

    /// Returns a function that receives the real cost of this request once it is settled, to learn
    /// from. The default learns nothing.
    fn learn(&self, request: &Parts) -> Option<Learn> {
        let _ = request;
        None
    }
}

/// Receives the real cost of a request.
pub type Learn = Box<dyn FnOnce(u64) + Send + Sync>;

impl RequestCost for Cost {
    fn cost(&self, _: &Parts) -> Cost {
        *self
    }
}

impl<F: Fn(&Parts) -> Cost + Send + Sync + 'static> RequestCost for F {
    fn cost(&self, request: &Parts) -> Cost {
        self(request)
    }
}
