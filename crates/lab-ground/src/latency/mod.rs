//! How long one decision takes: *service time* in a closed loop, *response time* in an open one.
//!
//! The two answer different questions and are different types from the loop to the report. In a
//! closed loop the next decision waits for the last, so a stall is one slow sample however many
//! requests it would have kept waiting; in an open loop requests come on a schedule that does not
//! wait, and each is timed from its intended start, so a stall counts for all who waited.

mod percentile;

use hdrhistogram::Histogram;
use windowpane_core::clock::TscClock;
use windowpane_core::{Clock, Nanos};

pub use percentile::{LABELS, Percentiles};

/// The longest time that a histogram holds; longer ones count as this.
const LONGEST: Nanos = 60_000_000_000;

/// An empty histogram: 1 ns to 60 s, three digits.
pub fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, LONGEST, 3).expect("sensible bounds")
}

#[inline]
fn record(histogram: &mut Histogram<u64>, nanos: Nanos) {
    histogram.saturating_record(nanos.max(1));
}

mod sealed {
    pub trait Sealed {}
}

/// What a latency histogram's times mean. There are two kinds, and no way from one to the other.
pub trait Latency: sealed::Sealed {
    /// The label in every table, chart and file.
    const LABEL: &'static str;

    /// The times.
    fn times(&self) -> &Histogram<u64>;
}

/// Times of a closed loop: from the start of a decision to its end.
///
/// It cannot be told as response time:
///
/// ```compile_fail
/// use windowpane_lab_ground::latency::{ResponseTime, ServiceTime};
///
/// fn publish(_: &ResponseTime) {}
/// fn closed_loop() -> ServiceTime { unimplemented!() }
/// publish(&closed_loop());
/// ```
///
/// ```compile_fail
/// use windowpane_lab_ground::latency::{ResponseTime, ServiceTime};
///
/// fn relabel(times: ServiceTime) -> ResponseTime { times.into() }
/// ```
#[derive(Clone, Debug)]
pub struct ServiceTime(Histogram<u64>);

/// Times of an open loop: from the *intended* start of a decision to its end. Only an
/// [`OpenLoop`] makes one.
///
/// ```compile_fail
/// use windowpane_lab_ground::latency::ResponseTime;
///
/// let anything = hdrhistogram::Histogram::<u64>::new(3).unwrap();
/// let response = ResponseTime(anything);
/// ```
#[derive(Clone, Debug)]
pub struct ResponseTime(Histogram<u64>);

impl sealed::Sealed for ServiceTime {}
impl sealed::Sealed for ResponseTime {}

impl Latency for ServiceTime {
    const LABEL: &'static str = "service time";

    fn times(&self) -> &Histogram<u64> {
        &self.0
    }
}

impl Latency for ResponseTime {
    const LABEL: &'static str = "response time";

    fn times(&self) -> &Histogram<u64> {
        &self.0
    }
}

impl ServiceTime {
    /// How many decisions were timed.
    pub fn decisions(&self) -> u64 {
        self.0.len()
    }

    /// Nothing recorded.
    pub fn empty() -> ServiceTime {
        ServiceTime(histogram())
    }

    /// These times and the other's.
    pub fn merge(&mut self, other: &ServiceTime) {
        self.0.add(&other.0).expect("the same bounds");
    }
}

impl ResponseTime {
    /// How many decisions were timed.
    pub fn decisions(&self) -> u64 {
        self.0.len()
    }

    /// Nothing recorded.
    pub fn empty() -> ResponseTime {
        ResponseTime(histogram())
    }

    /// These times and the other's.
    pub fn merge(&mut self, other: &ResponseTime) {
        self.0.add(&other.0).expect("the same bounds");
    }
}

/// One worker's closed loop: each decision starts when the last has ended.
#[derive(Debug)]
pub struct ClosedLoop {
    clock: TscClock,
    until: Nanos,
    times: ServiceTime,
    allowed: u64,
}

impl ClosedLoop {
    /// A loop that stops when `clock` reads `until`.
    pub fn new(clock: TscClock, until: Nanos) -> ClosedLoop {
        ClosedLoop {
            clock,
            until,
            times: ServiceTime::empty(),
            allowed: 0,
        }
    }

    /// Runs the loop; `decide` answers whether it allowed.
    #[inline]
    pub fn drive(&mut self, decide: impl Fn() -> bool) {
        loop {
            let start = self.clock.now();
            let allowed = decide();
            let end = self.clock.now();
            self.allowed += u64::from(allowed);
            record(&mut self.times.0, end.saturating_sub(start));
            if end >= self.until {
                return;
            }
        }
    }

    /// The times, and how many decisions were allowed.
    pub fn finish(self) -> (ServiceTime, u64) {
        (self.times, self.allowed)
    }
}

/// One worker's open loop: decision `n` is due at `first + n × interval`, whatever became of those
/// before it.
#[derive(Debug)]
pub struct OpenLoop {
    clock: TscClock,
    /// When the first decision is due, in nanoseconds.
    first: f64,
    /// Nanoseconds between two, not whole: a rate is met exactly, not to the next nanosecond.
    interval: f64,
    count: u64,
    /// After this the rest is given up: the schedule is not met and the achieved rate says so.
    give_up: Nanos,
    times: ResponseTime,
    lateness: Histogram<u64>,
    allowed: u64,
}

/// What an open loop recorded.
#[derive(Debug)]
pub struct OpenRecord {
    /// From intended start to end.
    pub times: ResponseTime,
    /// How much later than intended decisions were started, by the generator's own fault or because
    /// the decision before was not done.
    pub lateness: Lateness,
    /// How many decisions were allowed.
    pub allowed: u64,
}

/// How much later than intended an open loop started its decisions.
#[derive(Clone, Debug)]
pub struct Lateness(Histogram<u64>);

impl Lateness {
    /// Nothing recorded.
    pub fn empty() -> Lateness {
        Lateness(histogram())
    }

    /// These and the other's.
    pub fn merge(&mut self, other: &Lateness) {
        self.0.add(&other.0).expect("the same bounds");
    }

    /// The histogram.
    pub fn times(&self) -> &Histogram<u64> {
        &self.0
    }
}

impl OpenLoop {
    /// A schedule of `count` decisions, the first due when `clock` reads `first`, one every
    /// `interval` nanoseconds, given up when `clock` reads `give_up`.
    pub fn new(clock: TscClock, first: f64, interval: f64, count: u64, give_up: Nanos) -> OpenLoop {
        OpenLoop {
            clock,
            first,
            interval,
            count,
            give_up,
            times: ResponseTime::empty(),
            lateness: histogram(),
            allowed: 0,
        }
    }

    /// Runs the schedule; `decide` answers whether it allowed.
    #[inline]
    pub fn drive(&mut self, decide: impl Fn() -> bool) {
        for n in 0..self.count {
            let due = (self.first + n as f64 * self.interval) as Nanos;
            let start = self.wait_until(due);
            let allowed = decide();
            let end = self.clock.now();
            self.allowed += u64::from(allowed);
            record(&mut self.times.0, end.saturating_sub(due));
            record(&mut self.lateness, start.saturating_sub(due));
            if end >= self.give_up {
                return;
            }
        }
    }

    /// Spins until `due`, if that is still to come; what the clock read then.
    #[inline]
    fn wait_until(&self, due: Nanos) -> Nanos {
        loop {
            let now = self.clock.now();
            if now >= due {
                return now;
            }
            std::hint::spin_loop();
        }
    }

    /// What was recorded.
    pub fn finish(self) -> OpenRecord {
        OpenRecord {
            times: self.times,
            lateness: Lateness(self.lateness),
            allowed: self.allowed,
        }
    }
}
