//! Reading ahead: one thread reads, parses and looks up the keys, while another decides.
//!
//! Batches go to and fro: a few of them, made before the reading begins, so that the reader waits
//! for whoever decides, and a log of any length takes no more memory than they and its keys do.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use crate::batch::Batch;
use crate::error::InputError;
use crate::keys::Keys;
use crate::stream::{ReadSummary, Stream};

/// Batches under way: one that is decided, one that is read, and two for when either is slower for a
/// while.
const BATCHES: usize = 4;

/// A batch, or why there are no more.
type Parsed = Result<Batch, InputError>;

/// The reader, as whoever decides sees it.
pub struct Ahead {
    full: Receiver<Parsed>,
    empty: SyncSender<Batch>,
    thread: JoinHandle<(Keys, ReadSummary)>,
}

impl Ahead {
    /// Begins to read a stream. Bad lines end the reading unless they are skipped.
    ///
    /// If this is dropped before the end, as after an error, nothing waits for the reader: a source may
    /// keep it for as long as it likes. It ends when its source next answers.
    ///
    /// # Panics
    /// If the system starts no thread.
    pub fn read(stream: Stream) -> Ahead {
        let (to_decide, full) = sync_channel::<Parsed>(BATCHES);
        let (empty, to_fill) = sync_channel(BATCHES);
        for _ in 0..BATCHES {
            // There is room for all of them, and the reader's end is held here.
            let _ = empty.send(Batch::new());
        }
        let mut reader = Reader {
            stream,
            keys: Keys::default(),
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
            (reader.keys, reader.stream.into_summary())
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

    /// The keys and what was read, after the last batch: waits until the reader has ended and freed
    /// what else it took.
    pub fn end(self) -> (Keys, ReadSummary) {
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

struct Reader {
    stream: Stream,
    keys: Keys,
}

impl Reader {
    fn fill(&mut self, mut batch: Batch) -> Parsed {
        batch.clear();
        self.stream.fill(&mut batch)?;
        batch.find_keys(&mut self.keys);
        Ok(batch)
    }
}
