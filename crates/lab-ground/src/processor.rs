//! What a thread and this process had of the processor.

use std::time::Duration;

/// Processor time and preemptions of the calling thread, since it began.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reading {
    /// `None` where the system does not count it by thread.
    pub(crate) time: Option<Duration>,
    /// How often the system gave the processor to another thread though this one could go on.
    pub(crate) preempted: u64,
}

/// Reads both for the calling thread.
#[cfg(target_os = "linux")]
pub(crate) fn read() -> Reading {
    use nix::sys::resource::{UsageWho, getrusage};
    use nix::time::{ClockId, clock_gettime};

    let usage = getrusage(UsageWho::RUSAGE_THREAD);
    Reading {
        time: clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID)
            .ok()
            .map(Duration::from),
        preempted: usage.map_or(0, |usage| {
            usage.involuntary_context_switches().max(0) as u64
        }),
    }
}

/// Processor time of this process since it began.
#[cfg(target_os = "linux")]
pub(crate) fn of_process() -> Option<Duration> {
    use nix::time::{ClockId, clock_gettime};

    let time = clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).ok()?;
    Some(Duration::from(time))
}

/// Elsewhere nothing is known.
#[cfg(not(target_os = "linux"))]
pub(crate) fn of_process() -> Option<Duration> {
    None
}

/// Elsewhere nothing is known.
#[cfg(not(target_os = "linux"))]
pub(crate) fn read() -> Reading {
    Reading::default()
}
