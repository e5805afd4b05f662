//! The time bound of tests that wait.

mod bounded;

use std::panic::catch_unwind;
use std::thread;
use std::time::Duration;

use bounded::{bounded, within};

/// What `test` panics with.
fn panic_of(test: impl FnOnce() + std::panic::UnwindSafe) -> String {
    let panic = catch_unwind(test).unwrap_err();
    match panic.downcast::<String>() {
        Ok(message) => *message,
        Err(panic) => (*panic.downcast::<&str>().unwrap()).to_owned(),
    }
}

#[test]
fn a_test_that_hangs_fails() {
    let hangs = || loop {
        thread::park();
    };
    let message = panic_of(|| within(Duration::from_millis(20), hangs));
    assert!(message.contains("a_test_that_hangs_fails"), "{message}");
    assert!(message.contains("did not end within 20ms"), "{message}");
}

#[test]
fn a_test_that_ends_keeps_its_result() {
    assert_eq!(bounded(|| 7), 7);
    let message = panic_of(|| bounded(|| panic!("its own message")));
    assert_eq!(message, "its own message");
}
