//! Costs known after the response, which replace the estimate.

use std::future::Future;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Context;
use std::time::Duration;

use http::{Response, StatusCode, header};
use windowpane_core::Cost;
use windowpane_core::wait::Timer;

use crate::cost::Learn;

/// The end of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum End {
    /// It has not ended: the response is still being made or sent.
    Running,
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
            _ => Some(self.bytes.div_ceil(unit.max(1))),
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

/// What a response used, as a function finds it.
pub(crate) type Using = Arc<dyn Fn(&Used) -> Option<u64> + Send + Sync>;

/// A sleep until a reservation expires.
pub(crate) type Sleep = Pin<Box<dyn Future<Output = ()> + Send>>;

/// What happens to a charge before its response has ended.
#[derive(Clone, Default)]
pub(crate) struct Meanwhile {
    /// The permits beyond the charge from which on it is raised.
    pub(crate) step: Option<u64>,
    /// Begins the sleep after which the charge falls to what was used.
    pub(crate) expiry: Option<Arc<dyn Fn() -> Sleep + Send + Sync>>,
}

impl Meanwhile {
    /// What `using` finds beyond the charge is charged in steps.
    pub(crate) fn charge_by(&mut self, step: u64) {
        self.step = Some(step.max(1));
    }

    /// The charge expires after `span`.
    pub(crate) fn expire_after<T>(&mut self, span: Duration, timer: T)
    where
        T: Timer + Send + Sync + 'static,
    {
        let timer = Arc::new(timer);
        self.expiry = Some(Arc::new(move || {
            let timer = Arc::clone(&timer);
            Box::pin(async move { timer.sleep(span).await })
        }));
    }
}

/// How to settle one charge.
pub(crate) struct Settling {
    /// The permits that are charged now.
    charged: Cost,
    estimate: Cost,
    using: Using,
    replace: Box<dyn FnMut(Cost, u64) + Send + Sync>,
    learn: Option<Learn>,
    step: Option<u64>,
    // In a mutex, so that a response is `Sync` as its body is. It is never locked.
    expiry: Option<Mutex<Sleep>>,
}

impl Settling {
    /// `replace` replaces the charge by a number of permits.
    pub(crate) fn new(
        estimate: Cost,
        using: Using,
        meanwhile: &Meanwhile,
        learn: Option<Learn>,
        replace: impl FnMut(Cost, u64) + Send + Sync + 'static,
    ) -> Settling {
        Settling {
            charged: estimate,
            estimate,
            using,
            replace: Box::new(replace),
            learn,
            step: meanwhile.step,
            expiry: meanwhile.expiry.as_ref().map(|sleep| Mutex::new(sleep())),
        }
    }

    fn replace(&mut self, actual: u64) {
        (self.replace)(self.charged, actual);
        self.charged = Cost::new(actual).unwrap_or(self.charged);
    }

    fn using(&self, used: &Used) -> Option<u64> {
        (self.using)(&Used {
            estimate: self.estimate,
            ..used.clone()
        })
    }

    /// Raises the charge to what was used so far.
    fn raise(&mut self, used: &Used) {
        let Some(step) = self.step else { return };
        let beyond = |actual: &u64| *actual >= self.charged.get().saturating_add(step);
        if let Some(actual) = self.using(used).filter(beyond) {
            self.replace(actual);
        }
    }

    /// Lets the charge fall to what was used so far if its time is over.
    fn poll_expiry(&mut self, context: &mut Context<'_>, used: impl Fn() -> Used) {
        let Some(expiry) = &mut self.expiry else {
            return;
        };
        let sleep = expiry.get_mut().unwrap_or_else(PoisonError::into_inner);
        if sleep.as_mut().poll(context).is_pending() {
            return;
        }
        self.expiry = None;
        // From here on each permit is charged as it is used. A charge of 0 could not be raised again.
        self.step = Some(1);
        let actual = self.using(&used()).unwrap_or(0).max(1);
        self.replace(actual);
    }

    fn end(mut self, used: &Used) {
        if let Some(actual) = self.using(used) {
            self.replace(actual);
            if let Some(learn) = self.learn.take() {
                learn(actual);
            }
        }
    }
}

/// The settlements of one request: of each limit that settles.
pub(crate) type Settlings = Vec<Settling>;

/// Settles the charges of one request, once: when its response has ended, or when it is dropped.
pub(crate) struct Settlement {
    settlings: Settlings,
    meter: Meter,
    status: Option<StatusCode>,
    /// How long the body will be, if the response says so.
    length: Option<u64>,
    bytes: u64,
}

impl Settlement {
    pub(crate) fn new(settlings: Settlings, meter: Meter) -> Settlement {
        Settlement {
            settlings,
            meter,
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
        let used = self.used(End::Running);
        for settling in &mut self.settlings {
            harmless(|| settling.raise(&used));
        }
    }

    /// Checks the expiry of the charges while the response is waited for.
    pub(crate) fn poll_expiry(&mut self, context: &mut Context<'_>) {
        let mut settlings = mem::take(&mut self.settlings);
        for settling in &mut settlings {
            harmless(|| settling.poll_expiry(context, || self.used(End::Running)));
        }
        self.settlings = settlings;
    }

    pub(crate) fn end(&mut self, end: End) {
        let used = self.used(end);
        for settling in mem::take(&mut self.settlings) {
            harmless(|| settling.end(&used));
        }
    }

    fn used(&self, end: End) -> Used {
        Used {
            // Each settlement puts its own here.
            estimate: Cost::ONE,
            metered: self.meter.reported(),
            status: self.status,
            bytes: self.bytes,
            end,
        }
    }
}

/// Runs a hook, which may be while a panicking handler is unwound: a second panic would end the
/// process. A hook that panics leaves the charge as it is.
fn harmless(hook: impl FnOnce()) {
    let _ = catch_unwind(AssertUnwindSafe(hook));
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
mod tests;
