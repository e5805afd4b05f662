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
pub fn denials_write_nothing<L: Callee, O: Callee>(subject: Subject<L, O>, calls: Vec<Call>) {
    let (calls, wrote) = writes(subject, calls);
    assert!(wrote.is_empty(), "{} writes: {wrote:?}", subject.name);
    println!(
        "writes: none | {} | {calls} denials and looks",
        subject.name
    );
}

/// A mutant whose denials write is found.
///
/// # Panics
/// If it is not.
pub fn denials_that_write<L: Callee, O: Callee>(mutant: Subject<L, O>, calls: Vec<Call>) {
    let (calls, wrote) = writes(mutant, calls);
    assert!(
        !wrote.is_empty(),
        "{} writes nothing in {calls} calls",
        mutant.name
    );
    println!("writes: found | {} | {}", mutant.name, wrote[0]);
}

/// How many calls were denied or looked, and what each of them wrote.
fn writes<L: Callee, O: Callee>(subject: Subject<L, O>, calls: Vec<Call>) -> (u64, Vec<String>) {
    let told = Arc::new(Mutex::new((0, Vec::new())));
    let inside = told.clone();
    alone(move || {
        let stage = Stage::new((subject.build)(&Script::new(["2/10ns"])));
        for &call in &calls {
            steps::start();
            let answer = stage.make(call);
            let mut told = inside.lock().unwrap();
            if answer.is_denial_or_look(call) {
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

/// Calls one after another: allowed until none is left, denied at the same and at earlier times, in
/// the next window, over a cost of two.
pub fn to_a_limiter() -> Vec<Call> {
    vec![
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
    ]
}

/// The same of a key of a store, and looks at others, unknown ones too.
pub fn to_a_store() -> Vec<Call> {
    vec![
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
    ]
}
