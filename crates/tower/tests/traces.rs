//! What traces tell.
//!
//! In a file, thus a process, of its own: `tracing` asks once for each place in the code whether
//! anyone listens there, and a test beside this one that comes there first, without a subscriber,
//! would settle that for both.

mod common;

use std::io;
use std::sync::{Arc, Mutex};

use common::observed::{CLIENT, traffic};

/// Where the traces go.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn traces_warn_of_failures_and_contain_no_key() {
    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    tracing::subscriber::with_default(subscriber, || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        runtime.block_on(traffic());
    });
    let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    let count = |parts: &[&str]| {
        let has_all = |line: &&str| parts.iter().all(|part| line.contains(part));
        text.lines().filter(has_all).count()
    };
    assert_eq!(
        count(&["TRACE", "outcome=\"allowed\"", "limiter=\"address\""]),
        3,
        "{text}"
    );
    let denied = [
        "DEBUG",
        "outcome=\"denied\"",
        "policy=\"address 3/60s\"",
        "retry_after=60s",
    ];
    assert_eq!(count(&denied), 2, "{text}");
    // One error line, however many requests have no peer address.
    let fault = [
        "ERROR",
        "limiter=\"address\"",
        "into_make_service_with_connect_info",
    ];
    assert_eq!(count(&fault), 1, "{text}");
    assert_eq!(count(&["DEBUG", "outcome=\"server_fault\""]), 2, "{text}");
    let failed = [
        "WARN",
        "outcome=\"unavailable\"",
        "error=",
        "no answer within 50ms",
    ];
    assert_eq!(count(&failed), 1, "{text}");
    assert_eq!(count(&[CLIENT]), 0, "{text}");
}
