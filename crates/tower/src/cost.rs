//! What a request costs, as far as its head tells.

use http::request::Parts;
use windowpane_core::Cost;

/// Tells what a request costs before it is served.
///
/// A [`Cost`] is the same for all; a function looks at the request's head. What is known only later
/// is charged as an estimate and [settled](crate::RateLimit::settle).
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
    /// The cost of a request. It must not panic on anything that a client can send.
    fn cost(&self, request: &Parts) -> Cost;
}

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
