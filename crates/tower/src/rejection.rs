//! The reasons for which a request does not pass, and the responses to it.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use serde_json::{Value, json};
use windowpane_core::{Cost, Quota, StoreError};

/// The reason for which a request does not pass.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rejection {
    /// A quota denied the request: 429.
    Denied {
        /// The name of the quota, as in the headers.
        policy: String,
        /// The quota itself.
        quota: Quota,
        /// The wait after which it would be allowed; `None` where no wait helps (a limit of 0).
        retry_after: Option<Duration>,
        /// The names of the quotas of other limits that deny too: of a
        /// [stack](crate::RateLimitLayer::stack).
        others: Vec<String>,
    },
    /// The request costs more than a limit and could never pass: 413. Clients retry a 429, and this
    /// must not be retried.
    NeverFits {
        /// The name of the quota whose limit it exceeds.
        policy: String,
        /// The cost of the request.
        cost: Cost,
        /// The limit.
        limit: u64,
    },
    /// The request has no key: 400.
    MissingKey {
        /// The part that is missing.
        what: &'static str,
    },
    /// The server is not set up to find keys: 500.
    ServerFault {
        /// The fault and its fix, for the operator. The response does not contain it.
        what: &'static str,
    },
    /// The store is full or unavailable, and the policy is [`OnFailure::Error`]: 503. It is not a
    /// denial.
    Failed {
        /// The failure.
        error: StoreError,
        /// The wait that the client is asked for.
        retry_after: Duration,
    },
    /// The store is full or unavailable, and the policy is [`OnFailure::Deny`]: 429. No quota is
    /// used up.
    DeniedOnFailure {
        /// The failure; `None` if a policy of the store denied.
        error: Option<StoreError>,
        /// The wait that the client is asked for.
        retry_after: Duration,
    },
}

impl Rejection {
    /// Returns the status of the default response.
    pub fn status(&self) -> StatusCode {
        match self {
            Rejection::Denied { .. } => StatusCode::TOO_MANY_REQUESTS,
            Rejection::NeverFits { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Rejection::MissingKey { .. } => StatusCode::BAD_REQUEST,
            Rejection::ServerFault { .. } => StatusCode::INTERNAL_SERVER_ERROR,
            Rejection::Failed { .. } => StatusCode::SERVICE_UNAVAILABLE,
            Rejection::DeniedOnFailure { .. } => StatusCode::TOO_MANY_REQUESTS,
        }
    }

    /// Returns the wait that the client is asked for; `None` if no wait helps.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Rejection::Denied { retry_after, .. } => *retry_after,
            Rejection::Failed { retry_after, .. }
            | Rejection::DeniedOnFailure { retry_after, .. } => Some(*retry_after),
            _ => None,
        }
    }

    /// Returns one sentence for the client. It contains nothing about the inside of the server.
    pub fn detail(&self) -> String {
        match self {
            Rejection::Denied { quota, .. } if quota.limit() == 0 => {
                "nothing is allowed here".to_owned()
            }
            Rejection::Denied { quota, .. } => format!("the quota of {quota} is used up"),
            Rejection::NeverFits { cost, limit, .. } => {
                format!("the request costs {cost} and the limit is {limit}: it can never pass")
            }
            Rejection::MissingKey { what } => format!("the request lacks {what}"),
            Rejection::ServerFault { .. } => {
                "the server is not set up to count requests".to_owned()
            }
            Rejection::Failed { error, .. } => failure(Some(error)).to_owned(),
            Rejection::DeniedOnFailure { error, .. } => failure(error.as_ref()).to_owned(),
        }
    }

    /// Returns the default body, `application/problem+json` (RFC 9457); a denial is of the type
    /// `quota-exceeded`, whose `violated-policies` name the quotas as `RateLimit-Policy` does.
    pub fn problem(&self) -> Vec<u8> {
        const QUOTA_EXCEEDED: &str =
            "https://iana.org/assignments/http-problem-types#quota-exceeded";
        let status = self.status();
        let mut problem = json!({
            "title": status.canonical_reason(),
            "status": status.as_u16(),
            "detail": self.detail(),
        });
        match self {
            Rejection::Denied { policy, others, .. } => {
                let violated: Vec<&String> = std::iter::once(policy).chain(others).collect();
                problem["type"] = QUOTA_EXCEEDED.into();
                problem["title"] = "Quota exceeded".into();
                problem["violated-policies"] = json!(violated);
            }
            Rejection::NeverFits {
                policy,
                cost,
                limit,
            } => {
                problem["policy"] = policy.as_str().into();
                problem["cost"] = cost.get().into();
                problem["limit"] = (*limit).into();
            }
            Rejection::MissingKey { .. }
            | Rejection::ServerFault { .. }
            | Rejection::Failed { .. }
            | Rejection::DeniedOnFailure { .. } => {}
        }
        Value::to_string(&problem).into_bytes()
    }

    /// Returns the default response; the layer adds its headers to it.
    pub fn response(&self) -> Response<Bytes> {
        self.response_of(self.problem().into())
    }

    /// The default response with its body.
    pub(crate) fn response_of(&self, problem: Bytes) -> Response<Bytes> {
        let mut response = Response::new(problem);
        *response.status_mut() = self.status();
        response.headers_mut().insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/problem+json"),
        );
        response
    }

    /// Returns the response to a gRPC call, whose clients read a gRPC status and not HTTP's.
    pub(crate) fn grpc_response(&self) -> Response<Bytes> {
        /// <https://grpc.io/docs/guides/status-codes/>
        const INVALID_ARGUMENT: u16 = 3;
        const RESOURCE_EXHAUSTED: u16 = 8;
        const INTERNAL: u16 = 13;
        const UNAVAILABLE: u16 = 14;
        let code = match self {
            Rejection::Denied { .. } | Rejection::DeniedOnFailure { .. } => RESOURCE_EXHAUSTED,
            Rejection::NeverFits { .. } | Rejection::MissingKey { .. } => INVALID_ARGUMENT,
            Rejection::ServerFault { .. } => INTERNAL,
            Rejection::Failed { .. } => UNAVAILABLE,
        };
        let mut response = Response::new(Bytes::new());
        let headers = response.headers_mut();
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/grpc"),
        );
        headers.insert("grpc-status", code.into());
        // Printable ASCII without `%`, which would have to be escaped.
        if let Ok(message) = HeaderValue::try_from(self.detail().replace('%', " percent")) {
            headers.insert("grpc-message", message);
        }
        if let Some(wait) = self.retry_after() {
            // The wait that gRPC's own retries obey, in milliseconds.
            let wait = wait.as_nanos().div_ceil(1_000_000);
            let wait = u64::try_from(wait).unwrap_or(u64::MAX);
            headers.insert("grpc-retry-pushback-ms", wait.into());
        }
        response
    }
}

/// Whether a request is a gRPC call, by its content type.
pub(crate) fn is_grpc(headers: &HeaderMap) -> bool {
    headers
        .get(header::CONTENT_TYPE)
        .is_some_and(|content| content.as_bytes().starts_with(b"application/grpc"))
}

/// Returns the sentence about a store without a decision. It never mentions a quota.
fn failure(error: Option<&StoreError>) -> &'static str {
    match error {
        Some(StoreError::Full { .. }) => {
            "the server counts no further clients at the moment: its store is full"
        }
        Some(StoreError::Unavailable { .. }) => {
            "the server cannot count requests at the moment: its store is unavailable"
        }
        _ => "the server cannot count requests at the moment",
    }
}

/// The policy for a request about which the store gives no decision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OnFailure {
    /// The client receives the error: status 503.
    #[default]
    Error,
    /// The request passes, without a charge and without headers.
    Allow,
    /// The request is denied: status 429, with a text that names the failure and no quota.
    Deny,
}
