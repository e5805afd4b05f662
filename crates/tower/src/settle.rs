//! Costs known after the response, which replace the estimate.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use http::{Response, StatusCode, header};
use windowpane_core::Cost;

/// The end of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum End {
    /// Its whole body was handed to the connection.
    Complete,
    /// Its body was dropped before its end: the client went away, the server was shut down, or it
    /// was the answer to a `HEAD` request.
    Dropped,
    /// Its body failed.
    Failed,
    /// There was none: the handler panicked, failed, or was dropped because the client went away.
    NoResponse,
}

/// The use of a served request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Used {
    /// The permits that were charged.
    pub estimate: Cost,
    /// The permits that the handler reported to its [`Meter`]; `None` if it reported none.
    pub metered: Option<u64>,
    /// The response's status, if there was one.
    pub status: Option<StatusCode>,
    /// The bytes of the body that were handed to the connection.
    pub bytes: u64,
    /// The end of the response.
    pub end: End,
}

impl Used {
    /// Returns the permits that the handler reported, or `None`, which leaves the estimate charged. A
    /// handler that reports as it goes is settled by its reports so far, however it ended.
    pub fn metered(&self) -> Option<u64> {
        self.metered
    }

    /// Returns one permit for each `unit` bytes of body begun. Without a response it returns `None`,
    /// which leaves the estimate charged: leaving early must not be free.
    ///
    /// A `unit` of 0 is taken as 1.
    pub fn bytes_sent(&self, unit: u64) -> Option<u64> {
        match self.end {
            End::NoResponse => None,
            End::Complete | End::Dropped | End::Failed => Some(self.bytes.div_ceil(unit.max(1))),
        }
    }
}

/// A counter to which the handler or the response's body reports the real cost; clones share it.
///
/// It is in the extensions of every request that passes a layer that settles. A report after the end
/// of the body is too late.
#[derive(Clone, Debug)]
pub struct Meter(Arc<AtomicU64>);

/// Nothing was reported.
const SILENT: u64 = u64::MAX;

impl Meter {
    pub(crate) fn new() -> Meter {
        Meter(Arc::new(AtomicU64::new(SILENT)))
    }

    /// Adds permits to the report.
    pub fn add(&self, permits: u64) {
        // Relaxed, here and below: handing the body to the thread that ends it orders the two.
        let _ = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |reported| {
                let reported = if reported == SILENT { 0 } else { reported };
                Some(reported.saturating_add(permits).min(SILENT - 1))
            });
    }

    /// Replaces the report.
    pub fn set(&self, permits: u64) {
        self.0.store(permits.min(SILENT - 1), Ordering::Relaxed);
    }

    /// Returns the reported permits; `None` if none were reported.
    pub fn reported(&self) -> Option<u64> {
        match self.0.load(Ordering::Relaxed) {
            SILENT => None,
            reported => Some(reported),
        }
    }
}

/// A settlement, run once.
pub(crate) type Settling = Box<dyn FnOnce(&Used) + Send + Sync>;

/// Settles one charge, once: when its response has ended, or when it is dropped.
pub(crate) struct Settlement {
    settle: Option<Settling>,
    meter: Meter,
    estimate: Cost,
    status: Option<StatusCode>,
    /// How long the body will be, if the response says so.
    length: Option<u64>,
    bytes: u64,
}

impl Settlement {
    pub(crate) fn new(estimate: Cost, meter: Meter, settle: Settling) -> Settlement {
        Settlement {
            settle: Some(settle),
            meter,
            estimate,
            status: None,
            length: None,
            bytes: 0,
        }
    }

    /// There is a response; its body is still to come.
    pub(crate) fn responded<B>(&mut self, response: &Response<B>) {
        self.status = Some(response.status());
        let length = response.headers().get(header::CONTENT_LENGTH);
        self.length = length.and_then(|length| length.to_str().ok()?.parse().ok());
    }

    /// Counts bytes of the body that were handed to the connection.
    pub(crate) fn sent(&mut self, bytes: usize) {
        self.bytes = self.bytes.saturating_add(bytes as u64);
    }

    pub(crate) fn end(&mut self, end: End) {
        let Some(settle) = self.settle.take() else {
            return;
        };
        let used = Used {
            estimate: self.estimate,
            metered: self.meter.reported(),
            status: self.status,
            bytes: self.bytes,
            end,
        };
        // It may run while a panicking handler is unwound: a second panic would end the process. A
        // hook that panics leaves the estimate charged.
        let _ = catch_unwind(AssertUnwindSafe(|| settle(&used)));
    }
}

impl Drop for Settlement {
    fn drop(&mut self) {
        let end = match self.status {
            None => End::NoResponse,
            // A server that has sent the length it promised asks for no more.
            Some(_) if self.length == Some(self.bytes) => End::Complete,
            Some(_) => End::Dropped,
        };
        self.end(end);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    fn used(end: End, bytes: u64) -> Used {
        Used {
            estimate: Cost::ONE,
            metered: None,
            status: None,
            bytes,
            end,
        }
    }

    #[test]
    fn bytes_are_charged_by_the_unit_begun_but_leaving_early_is_not_free() {
        assert_eq!(used(End::Complete, 0).bytes_sent(1000), Some(0));
        assert_eq!(used(End::Complete, 1).bytes_sent(1000), Some(1));
        assert_eq!(used(End::Dropped, 1000).bytes_sent(1000), Some(1));
        assert_eq!(used(End::Failed, 1001).bytes_sent(1000), Some(2));
        assert_eq!(used(End::Complete, 7).bytes_sent(0), Some(7));
        assert_eq!(used(End::NoResponse, 0).bytes_sent(1000), None);
    }

    #[test]
    fn a_meter_tells_nothing_from_none() {
        let meter = Meter::new();
        assert_eq!(meter.reported(), None);
        meter.add(0);
        assert_eq!(meter.reported(), Some(0));
        meter.clone().add(7);
        assert_eq!(meter.reported(), Some(7));
        meter.add(u64::MAX);
        assert_eq!(meter.reported(), Some(u64::MAX - 1));
        meter.set(u64::MAX);
        assert_eq!(meter.reported(), Some(u64::MAX - 1));
        meter.set(3);
        assert_eq!(meter.reported(), Some(3));
    }

    #[test]
    fn a_charge_is_settled_once_and_a_panicking_hook_harms_nobody() {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let push = |seen: &Arc<Mutex<Vec<Used>>>| -> Settling {
            let seen = Arc::clone(seen);
            Box::new(move |used: &Used| seen.lock().unwrap().push(used.clone()))
        };
        let mut settlement = Settlement::new(Cost::ONE, Meter::new(), push(&seen));
        settlement.responded(&Response::new(()));
        settlement.sent(5);
        settlement.end(End::Complete);
        drop(settlement);
        drop(Settlement::new(Cost::ONE, Meter::new(), push(&seen)));
        let ends: Vec<(End, u64)> = seen
            .lock()
            .unwrap()
            .iter()
            .map(|u| (u.end, u.bytes))
            .collect();
        assert_eq!(ends, [(End::Complete, 5), (End::NoResponse, 0)]);

        // A server that has sent the promised length drops the body without asking for its end.
        seen.lock().unwrap().clear();
        for sent in [4, 5] {
            let mut settlement = Settlement::new(Cost::ONE, Meter::new(), push(&seen));
            let promised = Response::builder().header(header::CONTENT_LENGTH, 5);
            settlement.responded(&promised.body(()).unwrap());
            settlement.sent(sent);
        }
        let ends: Vec<End> = seen.lock().unwrap().iter().map(|u| u.end).collect();
        assert_eq!(ends, [End::Dropped, End::Complete]);

        let panics: Settling = Box::new(|_| panic!("a hook's own fault"));
        drop(Settlement::new(Cost::ONE, Meter::new(), panics));
    }
}
