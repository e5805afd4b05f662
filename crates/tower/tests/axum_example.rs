//! The axum example answers as its quotas say.

mod common;
#[path = "../examples/axum.rs"]
#[allow(dead_code)] // its `main` serves until it is killed
mod example;

use common::wire::serve;
use common::{header, number};
use http::StatusCode;

#[tokio::test]
async fn eleventh_request_of_a_second_is_denied() {
    let server = serve(example::app().unwrap()).await;
    let began = std::time::Instant::now();
    let mut denied = None;
    // A slow machine may take longer than the window; then none needs to be denied.
    for _ in 0..11 {
        let response = server.get("/", &[]).await;
        match response.status() {
            StatusCode::OK => assert_eq!(response.body(), "hello\n"),
            status => {
                assert_eq!(status, StatusCode::TOO_MANY_REQUESTS);
                denied = Some(response);
            }
        }
    }
    match denied {
        Some(denied) => {
            assert_eq!(number(&denied, "retry-after"), Some(1));
            let left = header(&denied, "ratelimit").unwrap();
            assert!(left.contains("\"10/1s\";r=0"), "{left}");
        }
        None => assert!(began.elapsed().as_secs() >= 1, "11 requests passed"),
    }
    server.stop().await;
}
