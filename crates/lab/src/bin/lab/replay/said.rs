//! What commands say on the standard error about what they read.

use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use windowpane_lab::replay::{InputSummary, number, span, step_back};
use windowpane_lab_input::{BadLines, one_line};

/// A step back above this is not a matter of two threads that write one log.
const SECOND: u64 = 1_000_000_000;

/// One line on the standard error, whatever the names in it are made of. A closed standard error is
/// not an error.
pub(crate) fn tell(line: &str) {
    let _ = writeln!(io::stderr(), "{}", one_line(line));
}

/// Notes on how inputs are read: they are kept, since an error is one line.
static NOTES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// What divides an input's name from how it is read.
const READ_AS: &str = ": read as ";

/// Keeps a note, or a warning.
pub(crate) fn note(line: &str) {
    let line = match line.starts_with("warning: ") {
        true => line.into(),
        false => format!("note: {line}"),
    };
    notes().push(line);
}

/// Tells the notes, once.
pub(crate) fn tell_notes() {
    let mut notes = notes();
    let mut told: Vec<(&str, u64)> = Vec::new();
    for note in notes.iter() {
        let what = note.split_once(READ_AS).map_or(&note[..], |(_, what)| what);
        match told.iter_mut().find(|(said, _)| said.ends_with(what)) {
            Some((_, more)) => *more += 1,
            None => told.push((note, 0)),
        }
    }
    for (note, more) in told {
        match more {
            0 => tell(note),
            more => tell(&format!("{note}, and {more} more alike")),
        }
    }
    notes.clear();
}

fn notes() -> MutexGuard<'static, Vec<String>> {
    NOTES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What steps back in time, and what to do about it.
pub(crate) fn steps_back(input: &InputSummary, reordered: bool) {
    let Some(steps) = &input.steps_back else {
        return;
    };
    let what = step_back(steps, input);
    if steps.furthest_ns <= SECOND {
        return tell(&format!("note: time steps back: {what}"));
    }
    let option = match reordered {
        true => "a longer --reorder, or --sort",
        false => "--sort, or --reorder WINDOW for lines that are a little late",
    };
    tell(&format!(
        "warning: time steps back: {what}. Each counts as the latest time of its key, so more is \
         denied than in the order of time; expected {option}",
    ));
}

/// Times so far apart that some of them are likely in another unit.
pub(crate) fn length(input: &InputSummary) {
    const YEARS: u64 = 10 * 365 * 86_400 * SECOND;
    let length = input.latest_ns - input.earliest_ns;
    if length > YEARS {
        tell(&format!(
            "warning: the times are {} apart; expected --time-unit, or inputs of one unit",
            span(length)
        ));
    }
}

/// IPv6 addresses of few networks: a client of one has as many addresses as it likes.
pub(crate) fn networks(input: &InputSummary) {
    let (addresses, networks) = input.ipv6;
    if addresses >= 10 && addresses >= 2 * networks {
        tell(&format!(
            "warning: {} keys are IPv6 addresses of {} networks of 64 bits, and a client may use all \
             of one; expected --group-v6 64",
            number(addresses),
            number(networks),
        ));
    }
}

/// The bad lines that were skipped. Returns whether they are more than `most`, a share of all lines.
pub(crate) fn bad_lines(input: &InputSummary, most: f64) -> bool {
    let bad: &BadLines = &input.bad;
    if bad.lines == 0 {
        return false;
    }
    let all = input.requests + bad.lines;
    let share = bad.lines as f64 / all as f64;
    let are = if bad.lines == 1 {
        "line is"
    } else {
        "lines are"
    };
    tell(&format!(
        "{}: {} bad {are} skipped, {:.2} % of {}",
        input.name,
        bad.lines,
        share * 100.0,
        number(all),
    ));
    for (kind, of) in &bad.kinds {
        tell(&format!(
            "  {} {}, the first: {}:{}: {}",
            number(of.lines),
            kind.name(),
            of.input,
            of.first.line,
            of.first,
        ));
    }
    let too_many = share > most;
    if too_many {
        tell(&format!(
            "warning: that is more than --max-bad {}%; the status is 3",
            most * 100.0
        ));
    }
    too_many
}
