//! Reading ahead: one thread reads, parses and looks up the keys, while another decides.
//!
//! Batches go to and fro: a few of them, made before the reading begins, so that the reader waits
//! for whoever decides, and a log of any length takes no more memory than they and its keys do.

use std::io::Read;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use crate::batch::Batch;
use crate::error::InputError;
use crate::input::{Next, OpenError, Requests};
use crate::keys::Keys;

/// Batches under way: one that is decided, one that is read, and two for when either is slower for a
/// while.
const BATCHES: usize = 4;

/// A batch, or why there are no more.
type Parsed = Result<Batch, InputError>;

/// The reader, as whoever decides sees it.
pub struct Ahead {
    full: Receiver<Parsed>,
    empty: SyncSender<Batch>,
    thread: JoinHandle<Keys>,
}

impl Ahead {
    /// Begins to read `requests`, called `name` in messages. Bad lines end the reading unless they are
    /// skipped, and then they are counted.
    ///
    /// If this is dropped before the end, as after an error, nobody waits for the reader: a source may
    /// keep it for as long as it likes. It ends when its source next answers.
    ///
    /// # Panics
    /// If the system starts no thread.
    pub fn read(
        requests: Requests<impl Read + Send + 'static>,
        name: &str,
        skip_bad: bool,
    ) -> Ahead {
        let (to_decide, full) = sync_channel::<Parsed>(BATCHES);
        let (empty, to_fill) = sync_channel(BATCHES);
        for _ in 0..BATCHES {
            // There is room for all of them, and the reader's end is held here.
            let _ = empty.send(Batch::new());
        }
        let mut reader = Reader {
            requests,
            name: name.into(),
            skip_bad,
            keys: Keys::default(),
            bad_lines: 0,
        };
        // Named for whoever looks at the process with a profiler.
        let named = thread::Builder::new().name("replay reader".into());
        let read = move || {
            for batch in to_fill {
                let parsed = reader.fill(batch);
                let goes_on = parsed.as_ref().is_ok_and(|batch| !batch.is_last);
                // Nobody may be there to receive it, after an error.
                if to_decide.send(parsed).is_err() || !goes_on {
                    break;
                }
            }
            reader.keys
        };
        let thread = named.spawn(read).expect("a thread that reads ahead");
        Ahead {
            full,
            empty,
            thread,
        }
    }

    /// The next batch, in the input's order; after the last, or an error, there is none to be asked
    /// for.
    ///
    /// # Errors
    /// [`InputError`].
    pub fn next(self) -> Result<(Batch, Ahead), InputError> {
        match self.full.recv() {
            Ok(parsed) => Ok((parsed?, self)),
            // It sends the end before it ends, or else it has panicked.
            Err(_) => match self.thread.join() {
                Err(panic) => std::panic::resume_unwind(panic),
                Ok(_) => unreachable!("a reader ends with the last batch"),
            },
        }
    }

    /// The keys, after the last batch: waits until the reader has gone and given back what else it took.
    pub fn end(self) -> Keys {
        self.thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }

    /// Gives back a batch, to be filled anew.
    pub fn give_back(&self, batch: Batch) {
        // The reader may have ended.
        let _ = self.empty.send(batch);
    }
}

struct Reader<R> {
    requests: Requests<R>,
    name: String,
    skip_bad: bool,
    keys: Keys,
    bad_lines: u64,
}

impl<R: Read> Reader<R> {
    /// Fills a batch. What precedes an error in the same batch is not decided.
    fn fill(&mut self, mut batch: Batch) -> Parsed {
        batch.clear();
        while !batch.is_last && !batch.is_full() {
            let next = self.requests.next();
            match next.map_err(|error| OpenError::Io(error).of(&self.name))? {
                Next::Request(line, fields) => batch.push(line, &fields),
                Next::Bad(_) if self.skip_bad => self.bad_lines += 1,
                Next::Bad(bad) => {
                    let input = self.name.clone();
                    return Err(InputError::BadLine { input, bad });
                }
                Next::End => batch.is_last = true,
            }
        }
        batch.find_keys(&mut self.keys);
        batch.bytes = self.requests.bytes();
        batch.bad_lines = self.bad_lines;
        Ok(batch)
    }
}
