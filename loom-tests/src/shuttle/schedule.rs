//! A schedule as text, kept while it happens and made to happen again.

use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, Mutex};

use shuttle::scheduler::{Schedule as Begun, Scheduler, Task, TaskId};

/// Who went on, step by step: `0*3 4*17 2` is three steps of the main thread, 17 of the fourth that it
/// started, one of the second.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule(Vec<(usize, u64)>);

impl Schedule {
    fn push(&mut self, thread: usize) {
        match self.0.last_mut() {
            Some((last, steps)) if *last == thread => *steps += 1,
            _ => self.0.push((thread, 1)),
        }
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (nth, (thread, steps)) in self.0.iter().enumerate() {
            let space = if nth == 0 { "" } else { " " };
            match steps {
                1 => write!(f, "{space}{thread}")?,
                _ => write!(f, "{space}{thread}*{steps}")?,
            }
        }
        Ok(())
    }
}

impl FromStr for Schedule {
    type Err = String;

    fn from_str(text: &str) -> Result<Schedule, String> {
        let stretch = |word: &str| {
            let (thread, steps) = word.split_once('*').unwrap_or((word, "1"));
            Some((thread.parse().ok()?, steps.parse().ok()?))
        };
        let stretches = text.split_whitespace().map(|word| {
            stretch(word).ok_or_else(|| {
                format!("`{word}` in a schedule: expected THREAD or THREAD*STEPS, such as 4*17")
            })
        });
        stretches.collect::<Result<_, _>>().map(Schedule)
    }
}

/// What a schedule was, so far: shared with who judges it.
#[derive(Clone, Debug, Default)]
pub(super) struct Kept(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    schedule: Schedule,
    /// The race is over: what the judge does is no part of it.
    over: bool,
    /// No further schedule is wanted.
    enough: bool,
}

impl Kept {
    pub(super) fn over(&self) {
        self.0.lock().unwrap().over = true;
    }

    pub(super) fn enough(&self) {
        self.0.lock().unwrap().enough = true;
    }

    pub(super) fn schedule(&self) -> Schedule {
        self.0.lock().unwrap().schedule.clone()
    }
}

/// Another scheduler, whose choices are kept.
pub(super) struct Keeping {
    scheduler: Box<dyn Scheduler + Send>,
    kept: Kept,
}

impl Keeping {
    pub(super) fn new(scheduler: impl Scheduler + Send + 'static) -> Keeping {
        Keeping {
            scheduler: Box::new(scheduler),
            kept: Kept::default(),
        }
    }

    /// What it keeps of a schedule.
    pub(super) fn kept(&self) -> Kept {
        self.kept.clone()
    }
}

impl Scheduler for Keeping {
    fn new_execution(&mut self) -> Option<Begun> {
        let mut kept = self.kept.0.lock().unwrap();
        if kept.enough {
            return None;
        }
        *kept = State::default();
        drop(kept);
        self.scheduler.new_execution()
    }

    fn next_task(
        &mut self,
        runnable: &[&Task],
        current: Option<TaskId>,
        is_yielding: bool,
    ) -> Option<TaskId> {
        let chosen = self.scheduler.next_task(runnable, current, is_yielding)?;
        let mut kept = self.kept.0.lock().unwrap();
        if !kept.over {
            kept.schedule.push(chosen.into());
        }
        Some(chosen)
    }

    fn next_u64(&mut self) -> u64 {
        self.scheduler.next_u64()
    }
}

/// Makes a schedule happen again; after its end, any thread that can go on does.
pub(super) struct Replaying {
    left: Vec<(usize, u64)>,
    begun: bool,
}

impl Replaying {
    pub(super) fn new(mut schedule: Schedule) -> Replaying {
        schedule.0.reverse();
        Replaying {
            left: schedule.0,
            begun: false,
        }
    }
}

impl Scheduler for Replaying {
    fn new_execution(&mut self) -> Option<Begun> {
        (!std::mem::replace(&mut self.begun, true)).then(|| Begun::new(0))
    }

    fn next_task(&mut self, runnable: &[&Task], _: Option<TaskId>, _: bool) -> Option<TaskId> {
        let Some((thread, steps)) = self.left.last_mut() else {
            return runnable.first().map(|task| task.id());
        };
        let wanted = TaskId::from(*thread);
        assert!(
            runnable.iter().any(|task| task.id() == wanted),
            "the schedule is another program's: thread {thread} cannot go on here"
        );
        *steps -= 1;
        if *steps == 0 {
            self.left.pop();
        }
        Some(wanted)
    }

    fn next_u64(&mut self) -> u64 {
        0
    }
}

/// A failure to look at again: `SEED:SCHEDULE`, as it was printed.
pub(super) fn replayed() -> Option<(u64, Schedule)> {
    let text = std::env::var("WINDOWPANE_SHUTTLE_REPLAY").ok()?;
    let parsed = text
        .split_once(':')
        .and_then(|(seed, schedule)| Some((seed.trim().parse().ok()?, schedule.parse().ok()?)));
    let expected = "expected SEED:SCHEDULE, as a failure prints it";
    Some(parsed.unwrap_or_else(|| panic!("WINDOWPANE_SHUTTLE_REPLAY is `{text}`: {expected}")))
}

/// How many schedules of one structure: `WINDOWPANE_SHUTTLE_SCHEDULES`.
pub(super) fn schedules() -> u64 {
    match std::env::var("WINDOWPANE_SHUTTLE_SCHEDULES") {
        Err(_) => 1_000,
        Ok(text) => text.parse().unwrap_or_else(|_| {
            panic!("WINDOWPANE_SHUTTLE_SCHEDULES is `{text}`: expected a number")
        }),
    }
}

/// The seed of the first.
pub(super) fn first_seed() -> u64 {
    match std::env::var("WINDOWPANE_SHUTTLE_SEED") {
        Err(_) => 0,
        Ok(text) => text
            .parse()
            .unwrap_or_else(|_| panic!("WINDOWPANE_SHUTTLE_SEED is `{text}`: expected a number")),
    }
}
