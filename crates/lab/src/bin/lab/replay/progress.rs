//! The progress bar of a replay that takes a while.

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use windowpane_lab::replay::Progress;

/// What is over sooner needs no bar.
const PATIENCE: Duration = Duration::from_secs(2);

/// A bar on the standard error if that is a terminal; otherwise nothing.
pub(super) struct Bar {
    start: Instant,
    /// Of the input in bytes, if it is known.
    length: Option<u64>,
    state: State,
}

enum State {
    Hidden,
    Waiting,
    Shown(ProgressBar),
}

impl Bar {
    /// A bar for an input of `length` bytes. Where rows go to the same terminal, there is none.
    pub(super) fn new(length: Option<u64>, rows_on_stdout: bool) -> Bar {
        let in_the_way = rows_on_stdout && io::stdout().is_terminal();
        Bar {
            start: Instant::now(),
            length,
            state: match io::stderr().is_terminal() && !in_the_way {
                true => State::Waiting,
                false => State::Hidden,
            },
        }
    }

    pub(super) fn show(&mut self, progress: Progress) {
        if matches!(self.state, State::Waiting) && self.start.elapsed() > PATIENCE {
            self.state = State::Shown(bar(self.length));
        }
        if let State::Shown(bar) = &self.state {
            bar.set_position(progress.bytes);
            bar.set_message(format!(
                "{} requests",
                indicatif::HumanCount(progress.requests)
            ));
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let State::Shown(bar) = &self.state {
            bar.finish_and_clear();
        }
    }
}

fn bar(length: Option<u64>) -> ProgressBar {
    let (bar, template) = match length {
        Some(length) => (
            ProgressBar::new(length),
            "{bar:40} {bytes}/{total_bytes}, {msg}, {eta} to go",
        ),
        None => (
            ProgressBar::new_spinner(),
            "{spinner} {bytes}, {msg}, {elapsed}",
        ),
    };
    let style = ProgressStyle::with_template(template);
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
