//! Threads that make their calls all at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A call, its answer, and its place in the order of all beginnings and ends.
pub(super) struct Timed<C, A> {
    pub(super) call: C,
    pub(super) answer: A,
    pub(super) began: u64,
    pub(super) ended: u64,
}

/// Makes the calls of each thread one after the other, those of different threads at once; thread by
/// thread, what came of them.
pub(super) fn together<C, A>(
    threads: Vec<Vec<C>>,
    make: impl Fn(C) -> A + Send + Sync + 'static,
) -> Vec<Vec<Timed<C, A>>>
where
    C: Copy + Send + 'static,
    A: Send + 'static,
{
    let order = Arc::new(AtomicU64::new(0));
    let make = Arc::new(make);
    let threads: Vec<_> = threads
        .into_iter()
        .map(|calls| {
            let (order, make) = (order.clone(), make.clone());
            shuttle::thread::spawn(move || {
                let made = calls.into_iter().map(|call| {
                    let began = order.fetch_add(1, Ordering::SeqCst);
                    let answer = make(call);
                    let ended = order.fetch_add(1, Ordering::SeqCst);
                    Timed {
                        call,
                        answer,
                        began,
                        ended,
                    }
                });
                made.collect()
            })
        })
        .collect();
    threads
        .into_iter()
        .map(|thread| thread.join().expect("no call panics"))
        .collect()
}
