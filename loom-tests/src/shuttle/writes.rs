//! A denial writes nothing, counted at the facade: every atomic operation goes through it.

use std::sync::{Arc, Mutex};

use windowpane_core::sync::steps;

use super::alone;
use crate::run::{Callee, Stage};
use crate::script::{Call, Script, acquire, acquire_of, detailed, peek, peek_of};
use crate::subject::Subject;

/// Denied calls and looks of a limiter write nothing.
///
/// # Panics
/// With the call that wrote, and what it wrote.
pub fn denials_write_nothing<L: Callee, O: Callee>(subject: Subject<L, O>) {
    let (calls, wrote) = writes(subject);
    assert!(wrote.is_empty(), "{} writes: {wrote:?}", subject.name);
    println!(
        "writes: none | {} | {calls} denials and looks",
        subject.name
    );
}

/// A twin whose denials write is found.
///
/// # Panics
/// If it is not.
pub fn denials_that_write<L: Callee, O: Callee>(twin: Subject<L, O>) {
    let (calls, wrote) = writes(twin);
    assert!(
        !wrote.is_empty(),
        "{} writes nothing in {calls} calls",
        twin.name
    );
    println!("writes: found | {} | {}", twin.name, wrote[0]);
}

/// How many calls were denied or looked, and what each of them wrote.
fn writes<L: Callee, O: Callee>(subject: Subject<L, O>) -> (u64, Vec<String>) {
    let of_keys = subject.name.contains("flat");
    let told = Arc::new(Mutex::new((0, Vec::new())));
    let inside = told.clone();
    alone(move || {
        let (script, calls) = script(of_keys);
        let stage = Stage::new((subject.build)(&script));
        for call in calls {
            steps::start();
            let answer = stage.make(call);
            let mut told = inside.lock().unwrap();
            let denied = answer.is_denial_of_limiter(call) || denies_key(&answer);
            if denied {
                told.0 += 1;
                let written = steps::take().into_iter().filter(|step| step.writes());
                told.1
                    .extend(written.map(|step| format!("{call:?}: {step}")));
            }
        }
    });
    let told = told.lock().unwrap();
    assert!(
        told.0 >= 6,
        "{}: only {} calls were denied or looked",
        subject.name,
        told.0
    );
    (told.0, told.1.clone())
}

fn denies_key(answer: &crate::Answer) -> bool {
    matches!(answer, crate::Answer::OfKey(Ok(decision)) if !decision.is_allowed())
}

/// Calls one after another: allowed until none is left, denied at the same and at earlier times, in
/// the next window, over a cost of two.
fn script(of_keys: bool) -> (Script, Vec<Call>) {
    let script = Script::new(["2/10ns"]);
    let calls = match of_keys {
        true => vec![
            acquire_of(1, 5),
            acquire_of(1, 5),
            acquire_of(1, 6),
            acquire_of(1, 4),
            peek_of(1, 6),
            peek_of(2, 6),
            acquire_of(1, 16),
            acquire_of(1, 16).costing(2),
            peek_of(1, 17),
            peek_of(3, 30),
        ],
        false => vec![
            peek(1),
            acquire(5),
            acquire(5),
            acquire(6),
            acquire(4),
            detailed(6),
            peek(6),
            acquire(16),
            acquire(16).costing(2),
            detailed(16).costing(2),
            peek(17).costing(2),
            peek(40),
        ],
    };
    (script, calls)
}
