//! What is read ahead comes in order, stops where it should, and is never much.

use std::io::{self, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use windowpane_core::Quotas;
use windowpane_lab::replay::{Decided, Observer, Options, ReplayError, replay};
use windowpane_lab_contestants::registry::find;
use windowpane_lab_ground::output::OutputError;
use windowpane_lab_input::InputError;

fn options(skip_bad: bool) -> Options {
    let quotas = Quotas::parse(["3/10s"]).unwrap();
    Options {
        skip_bad,
        compare: false,
        ..Options::new(quotas, vec![find("gcra").unwrap()])
    }
}

/// What it is told, by line; after so many lines it wants no more.
struct Lines {
    seen: Vec<u64>,
    at_most: usize,
}

impl Observer for Lines {
    fn decided(&mut self, decided: &Decided<'_>) -> Result<(), ReplayError> {
        let number: u64 = String::from_utf8_lossy(decided.key).parse().unwrap();
        assert_eq!(number, decided.line);
        self.seen.push(decided.line);
        match self.seen.len() < self.at_most {
            true => Ok(()),
            false => Err(OutputError::ClosedPipe.into()),
        }
    }
}

/// A header and lines up to the number `last`, whose key is the line's number; those of `bad` are none.
fn input(last: u64, bad: &[u64]) -> String {
    let line = |line: u64| match bad.contains(&line) {
        true => "no time,0\n".to_string(),
        false => format!("{line},{line}\n"),
    };
    let lines: String = (2..=last).map(line).collect();
    format!("time,key\n{lines}")
}

#[test]
fn all_lines_come_in_order_and_bad_ones_are_counted_where_they_stand() {
    let bad = [2, 3_000, 3_001, 9_000];
    let mut lines = Lines {
        seen: Vec::new(),
        at_most: usize::MAX,
    };
    let source = Cursor::new(input(9_000, &bad));
    let summary = replay(source, "x", &options(true), &mut [&mut lines], &mut |_| {}).unwrap();
    let expected: Vec<u64> = (2..=9_000).filter(|line| !bad.contains(line)).collect();
    assert_eq!(lines.seen, expected);
    assert_eq!(
        (summary.input.requests, summary.input.bad_lines),
        (expected.len() as u64, 4)
    );
}

#[test]
fn a_bad_line_far_in_is_told_with_its_number_after_what_came_long_before() {
    let mut lines = Lines {
        seen: Vec::new(),
        at_most: usize::MAX,
    };
    let source = Cursor::new(input(9_000, &[8_000]));
    let ended = replay(source, "x", &options(false), &mut [&mut lines], &mut |_| {});
    match ended {
        Err(ReplayError::Input(InputError::BadLine { bad, .. })) => assert_eq!(bad.line, 8_000),
        other => panic!("{other:?}"),
    }
    // By whole batches, and never what comes after.
    let seen = lines.seen.len() as u64;
    assert!((6_000..=7_998).contains(&seen), "{seen}");
    assert!(lines.seen.iter().copied().eq(2..2 + seen));
}

/// Gives its text, and then nothing for as long as somebody holds the other end.
struct Silent(Cursor<String>, mpsc::Receiver<()>);

impl Read for Silent {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer)? {
            0 => self.1.recv().map(|()| 0).or(Ok(0)),
            some => Ok(some),
        }
    }
}

#[test]
fn an_output_that_is_closed_ends_it_though_the_source_is_silent() {
    let (hold, silent) = mpsc::channel();
    let source = Silent(Cursor::new(input(5_000, &[])), silent);
    let (told, ended) = mpsc::channel();
    thread::spawn(move || {
        let mut lines = Lines {
            seen: Vec::new(),
            at_most: 10,
        };
        let result = replay(source, "x", &options(false), &mut [&mut lines], &mut |_| {});
        told.send(matches!(result, Err(error) if error.is_closed_pipe()))
    });
    // A minute: far longer than it takes, on a machine however busy.
    assert_eq!(ended.recv_timeout(Duration::from_secs(60)), Ok(true));
    drop(hold);
}

/// Lines without end; how many bytes were taken is told.
struct Endless(Arc<AtomicU64>);

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let before = self.0.load(Ordering::SeqCst);
        if before == 0 {
            buffer[..9].copy_from_slice(b"time,key\n");
            self.0.fetch_add(9, Ordering::SeqCst);
            return Ok(9);
        }
        let lines = buffer.len() / 4;
        for line in buffer.chunks_exact_mut(4) {
            line.copy_from_slice(b"1,k\n");
        }
        self.0.fetch_add(4 * lines as u64, Ordering::SeqCst);
        Ok(4 * lines)
    }
}

/// Lets the reader have all the time it wants.
struct Slow(Arc<AtomicU64>);

impl Observer for Slow {
    fn decided(&mut self, _: &Decided<'_>) -> Result<(), ReplayError> {
        thread::sleep(Duration::from_millis(200));
        // A few batches of requests, and a chunk of what follows.
        let taken = self.0.load(Ordering::SeqCst);
        assert!((4_096..1 << 20).contains(&taken), "{taken}");
        Err(OutputError::ClosedPipe.into())
    }
}

#[test]
fn a_reader_waits_for_whoever_decides() {
    let taken = Arc::new(AtomicU64::new(0));
    let (source, mut slow) = (Endless(Arc::clone(&taken)), Slow(Arc::clone(&taken)));
    let ended = replay(source, "x", &options(false), &mut [&mut slow], &mut |_| {});
    assert!(matches!(ended, Err(error) if error.is_closed_pipe()));
    assert!(taken.load(Ordering::SeqCst) > 0);
}
