//! The steps of one schedule, so that a model that fails can tell how.

use std::cell::RefCell;
use std::fmt;
use std::panic::Location;

use super::checker::{self, Thread};

/// One operation on one atomic.
#[derive(Clone, Debug)]
pub struct Step {
    thread: Thread,
    place: &'static Location<'static>,
    operation: &'static str,
    found: u128,
    written: Option<u128>,
}

impl Step {
    /// Whether it wrote, or would have written had another thread not been quicker.
    pub fn writes(&self) -> bool {
        self.operation != "load"
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = self.place.file().rsplit(['/', '\\']).next().unwrap_or("");
        let (thread, line) = (self.thread, self.place.line());
        write!(
            f,
            "{thread:?} {file}:{line} {} found {:#x}",
            self.operation, self.found
        )?;
        match self.written {
            Some(written) => write!(f, ", wrote {written:#x}"),
            None => Ok(()),
        }
    }
}

thread_local! {
    // A model checker's threads are all on one thread of the system.
    static STEPS: RefCell<Option<Vec<Step>>> = const { RefCell::new(None) };
}

/// Forgets all steps and notes those to come, on this thread of the system.
pub fn start() {
    STEPS.set(Some(Vec::new()));
}

/// The steps since [`start`]; notes no more.
pub fn take() -> Vec<Step> {
    STEPS.take().unwrap_or_default()
}

#[track_caller]
pub(super) fn note(operation: &'static str, found: u128, written: Option<u128>) {
    let place = Location::caller();
    STEPS.with_borrow_mut(|steps| {
        if let Some(steps) = steps {
            steps.push(Step {
                thread: checker::me(),
                place,
                operation,
                found,
                written,
            });
        }
    });
}
