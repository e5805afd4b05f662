//! Why a request does not pass, and what its client is told.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use serde_json::{Value, json};
use windowpane_core::{Cost, Quota, StoreError};

/// Why a request does not pass.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// A quota denied it: 429.
    Denied {
        /// The name of the quota, as the headers tell it.
        policy: String,
        /// The quota itself.
        quota: Quota,
        /// The wait after which it would be allowed; `None` where no wait helps (a limit of 0).
        retry_after: Option<Duration>,
    },
    /// It costs more than a limit and could never pass: 413, which, other than 429, tells clients
    /// not to try the same again.
    NeverFits {
        /// The name of the quota whose limit it exceeds.
        policy: String,
        /// What it costs.
        cost: Cost,
        /// The limit.
        limit: u64,
    },
    /// It has no key: 400.
    MissingKey {
        /// What is missing.
        what: &'static str,
    },
    /// The store has no decision: 503. It is not a denial.
    Failed(StoreError),
}

impl Refusal {
    /// The status that the default answer has.
    pub fn status(&self) -> StatusCode {
        match self {
            Refusal::Denied { .. } => StatusCode::TOO_MANY_REQUESTS,
            Refusal::NeverFits { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Refusal::MissingKey { .. } => StatusCode::BAD_REQUEST,
            Refusal::Failed(_) => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// One sentence for the client. It tells nothing of the server's inside.
    pub fn detail(&self) -> String {
        match self {
            Refusal::Denied { quota, .. } if quota.limit() == 0 => {
                "nothing is allowed here".to_owned()
            }
            Refusal::Denied { quota, .. } => format!("the quota of {quota} is used up"),
            Refusal::NeverFits { cost, limit, .. } => {
                format!("the request costs {cost} and the limit is {limit}: it can never pass")
            }
            Refusal::MissingKey { what } => format!("the request lacks {what}"),
            Refusal::Failed(_) => "requests cannot be counted at the moment".to_owned(),
        }
    }

    /// The default body, `application/problem+json` (RFC 9457); a denial is of the type
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
            Refusal::Denied { policy, .. } => {
                problem["type"] = QUOTA_EXCEEDED.into();
                problem["title"] = "Quota exceeded".into();
                problem["violated-policies"] = json!([policy]);
            }
            Refusal::NeverFits {
                policy,
                cost,
                limit,
            } => {
                problem["policy"] = policy.as_str().into();
                problem["cost"] = cost.get().into();
                problem["limit"] = (*limit).into();
            }
            Refusal::MissingKey { .. } | Refusal::Failed(_) => {}
        }
        Value::to_string(&problem).into_bytes()
    }

    /// The default answer; the layer adds its headers to it.
    pub fn response(&self) -> Response<Bytes> {
        let mut response = Response::new(Bytes::from(self.problem()));
        *response.status_mut() = self.status();
        response.headers_mut().insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/problem+json"),
        );
        response
    }

    /// The answer to a gRPC call, whose clients read a status of their own and not HTTP's.
    pub(crate) fn grpc_response(&self) -> Response<Bytes> {
        /// <https://grpc.io/docs/guides/status-codes/>
        const INVALID_ARGUMENT: u16 = 3;
        const RESOURCE_EXHAUSTED: u16 = 8;
        const UNAVAILABLE: u16 = 14;
        let code = match self {
            Refusal::Denied { .. } => RESOURCE_EXHAUSTED,
            Refusal::NeverFits { .. } | Refusal::MissingKey { .. } => INVALID_ARGUMENT,
            Refusal::Failed(_) => UNAVAILABLE,
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
        if let Refusal::Denied {
            retry_after: Some(wait),
            ..
        } = self
        {
            // What gRPC's own retries obey, in milliseconds.
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

/// What to do with a request on which the store has no decision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OnFailure {
    /// It is refused with status 503.
    #[default]
    Refuse,
    /// It passes, uncounted and without headers.
    Pass,
}
