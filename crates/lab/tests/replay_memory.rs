//! A replay keeps its keys, not its input.
//!
//! Alone in its program: what is counted is the whole program's.

use std::alloc::System;
use std::io::{self, Read};

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use windowpane_core::Quotas;
use windowpane_lab::replay::{Options, Progress, replay};
use windowpane_lab_contestants::registry::{Algorithm, algorithms};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

fn live() -> u64 {
    let stats = ALLOCATOR.stats();
    stats.bytes_allocated.wrapping_sub(stats.bytes_deallocated) as u64
}

/// Lines of one key, a millisecond apart, made when they are read.
struct Endless {
    line: u64,
    text: Vec<u8>,
    given: usize,
}

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.given == self.text.len() {
            use io::Write;
            self.text.clear();
            self.given = 0;
            match self.line {
                0 => self.text.extend_from_slice(b"time,key\n"),
                line => writeln!(self.text, "{line},a client of some length")?,
            }
            self.line += 1;
        }
        let some = (self.text.len() - self.given).min(buffer.len());
        buffer[..some].copy_from_slice(&self.text[self.given..][..some]);
        self.given += some;
        Ok(some)
    }
}

#[test]
fn lines_of_one_key_allocate_nothing_after_the_first() {
    let algorithms: Vec<&'static Algorithm> = algorithms().collect();
    let options = Options {
        meter: Some(live),
        ..Options::new(Quotas::parse(["100/10s"]).unwrap(), algorithms)
    };
    let lines = 120_000;
    let input = Endless {
        line: 0,
        text: Vec::with_capacity(100),
        given: 0,
    }
    .take(lines * 31);

    let mut warm = None;
    let mut calls = |progress: Progress| {
        if progress.requests >= 20_000 && warm.is_none() {
            warm = Some((ALLOCATOR.stats(), progress.requests));
        }
    };
    let summary = replay(input, "endless", &options, &mut [], &mut calls);
    let after = ALLOCATOR.stats();
    let requests = summary.unwrap().input.requests;
    let (warm, at) = warm.expect("some batches");
    assert!(requests - at >= 95_000, "{requests} - {at}");
    // A summary of a few names, and that is all.
    let since = after - warm;
    assert!(since.allocations + since.reallocations < 200, "{since:?}");
    assert!(since.bytes_allocated < 20_000, "{since:?}");
}
