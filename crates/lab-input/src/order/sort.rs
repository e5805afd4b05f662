//! An external merge sort: requests by time, in memory of a fixed size and files for the rest.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};

use windowpane_core::{Cost, Nanos};

use crate::held::{Held, Place, Sink};
use crate::input::Fields;

/// What a request takes beside its texts, in memory.
const ENTRY: usize = size_of::<Entry>();
/// The most files that are merged at once.
const MOST_RUNS: usize = 200;

/// A request among those in memory.
#[derive(Clone, Copy)]
struct Entry {
    time: Nanos,
    /// The place in the order of reading, so that requests of one time keep it.
    nth: u64,
    place: Place,
    cost: Cost,
    denied: Option<bool>,
    text: usize,
    time_len: u32,
    key_len: u32,
}

/// Takes requests in any order.
pub(crate) struct Sorter {
    /// The bytes above which what is in memory goes to a file.
    most: usize,
    entries: Vec<Entry>,
    text: Vec<u8>,
    runs: Vec<Run>,
    count: u64,
}

impl Sorter {
    pub(crate) fn new(most: usize) -> Sorter {
        Sorter {
            most,
            entries: Vec::new(),
            text: Vec::new(),
            runs: Vec::new(),
            count: 0,
        }
    }

    /// Writes what is in memory to a file if it takes more than it may.
    pub(crate) fn relieve(&mut self) -> io::Result<()> {
        if self.entries.len() * ENTRY + self.text.len() <= self.most {
            return Ok(());
        }
        self.sort();
        let mut file = BufWriter::new(tempfile::tempfile()?);
        for entry in &self.entries {
            write(&mut file, entry.place, &fields(&self.text, entry))?;
        }
        self.runs.push(Run::of(file)?);
        self.entries.clear();
        self.text.clear();
        if self.runs.len() == MOST_RUNS {
            self.merge_runs()?;
        }
        Ok(())
    }

    /// Makes one file of all.
    fn merge_runs(&mut self) -> io::Result<()> {
        let mut merged = Sorted::of(std::mem::take(&mut self.runs))?;
        let mut file = BufWriter::new(tempfile::tempfile()?);
        let mut held = Held::new();
        while merged.read(&mut held)? {
            write(&mut file, held.place, &held.fields())?;
        }
        self.runs.push(Run::of(file)?);
        Ok(())
    }

    fn sort(&mut self) {
        self.entries
            .sort_unstable_by_key(|entry| (entry.time, entry.nth));
    }

    /// All requests by time.
    pub(crate) fn end(mut self) -> io::Result<Sorted> {
        self.sort();
        let mut sorted = Sorted::of(self.runs)?;
        sorted.text = self.text;
        sorted.entries = self.entries;
        Ok(sorted)
    }
}

impl Sink for Sorter {
    fn push(&mut self, place: Place, fields: &Fields<'_>) {
        // A line is far shorter than what 32 bits count.
        let entry = Entry {
            time: fields.time,
            nth: self.count,
            place,
            cost: fields.cost,
            denied: fields.denied,
            text: self.text.len(),
            time_len: fields.time_text.len() as u32,
            key_len: fields.key.len() as u32,
        };
        self.entries.push(entry);
        self.text.extend_from_slice(fields.time_text);
        self.text.extend_from_slice(fields.key);
        self.count += 1;
    }
}

fn fields<'a>(text: &'a [u8], entry: &Entry) -> Fields<'a> {
    let text = &text[entry.text..][..(entry.time_len + entry.key_len) as usize];
    let (time_text, key) = text.split_at(entry.time_len as usize);
    Fields {
        time: entry.time,
        time_text,
        key,
        cost: entry.cost,
        denied: entry.denied,
    }
}

/// Requests by time: those of files, and after them, of equals, those in memory.
pub(crate) struct Sorted {
    runs: Vec<Run>,
    next: BinaryHeap<Reverse<(Nanos, usize)>>,
    text: Vec<u8>,
    entries: Vec<Entry>,
    given: usize,
}

impl Sorted {
    fn of(mut runs: Vec<Run>) -> io::Result<Sorted> {
        let mut next = BinaryHeap::new();
        for (nth, run) in runs.iter_mut().enumerate() {
            if run.advance()? {
                next.push(Reverse((run.head.time, nth)));
            }
        }
        Ok(Sorted {
            runs,
            next,
            text: Vec::new(),
            entries: Vec::new(),
            given: 0,
        })
    }

    /// Gives the next request to `sink`; false if there is none. O(log files).
    pub(crate) fn read(&mut self, sink: &mut impl Sink) -> io::Result<bool> {
        let in_memory = self.entries.get(self.given);
        let first = self.next.peek().map(|Reverse(first)| *first);
        match (first, in_memory) {
            (Some((time, nth)), entry) if entry.is_none_or(|entry| time <= entry.time) => {
                let run = &mut self.runs[nth];
                sink.push(run.head.place, &run.head.fields());
                self.next.pop();
                if run.advance()? {
                    self.next.push(Reverse((run.head.time, nth)));
                }
            }
            (_, Some(entry)) => {
                sink.push(entry.place, &fields(&self.text, entry));
                self.given += 1;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// A file of requests by time. The file has no name: it goes with the program, however that ends.
struct Run {
    file: BufReader<File>,
    left: u64,
    head: Held,
    text: Vec<u8>,
}

impl Run {
    fn of(written: BufWriter<File>) -> io::Result<Run> {
        let mut file = written
            .into_inner()
            .map_err(io::IntoInnerError::into_error)?;
        let left = file.stream_position()?;
        file.rewind()?;
        Ok(Run {
            file: BufReader::new(file),
            left,
            head: Held::new(),
            text: Vec::new(),
        })
    }

    /// Reads the next request; false if there is none.
    fn advance(&mut self) -> io::Result<bool> {
        if self.left == 0 {
            return Ok(false);
        }
        let mut numbers = [0; NUMBERS];
        self.file.read_exact(&mut numbers)?;
        let number = |nth: usize| {
            let bytes = numbers[nth * 8..].first_chunk().copied();
            u64::from_le_bytes(bytes.unwrap_or_default())
        };
        let (time_len, key_len) = (number(4) as usize, number(5) as usize);
        self.text.resize(time_len + key_len, 0);
        self.file.read_exact(&mut self.text)?;
        let (time_text, key) = self.text.split_at(time_len);
        let place = Place {
            line: number(1),
            input: number(2) as u32,
        };
        let fields = Fields {
            time: number(0),
            time_text,
            key,
            cost: Cost::new(number(3)).unwrap_or(Cost::ONE),
            denied: [None, Some(false), Some(true)][(number(6) % 3) as usize],
        };
        self.head.push(place, &fields);
        self.left -= (NUMBERS + self.text.len()) as u64;
        Ok(true)
    }
}

/// The bytes of a request's numbers in a file.
const NUMBERS: usize = 7 * 8;

fn write(file: &mut impl Write, place: Place, fields: &Fields<'_>) -> io::Result<()> {
    let denied = match fields.denied {
        None => 0,
        Some(false) => 1,
        Some(true) => 2,
    };
    for number in [
        fields.time,
        place.line,
        u64::from(place.input),
        fields.cost.get(),
        fields.time_text.len() as u64,
        fields.key.len() as u64,
        denied,
    ] {
        file.write_all(&number.to_le_bytes())?;
    }
    file.write_all(fields.time_text)?;
    file.write_all(fields.key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What a sink was given: time, line and key.
    #[derive(Default)]
    struct Seen(Vec<(u64, u64, Vec<u8>)>);

    impl Sink for Seen {
        fn push(&mut self, place: Place, fields: &Fields<'_>) {
            assert_eq!(fields.time_text, fields.time.to_string().as_bytes());
            assert_eq!(fields.cost.get(), place.line + 1);
            assert_eq!(
                fields.denied,
                [None, Some(false), Some(true)][place.input as usize % 3]
            );
            self.0.push((fields.time, place.line, fields.key.to_vec()));
        }
    }

    fn sorted(times: &[u64], most: usize) -> Vec<(u64, u64, Vec<u8>)> {
        let mut sorter = Sorter::new(most);
        for (line, time) in (0..).zip(times) {
            let place = Place {
                input: line as u32,
                line,
            };
            let key = "k".repeat((line % 5) as usize);
            let text = time.to_string();
            let fields = Fields {
                time: *time,
                time_text: text.as_bytes(),
                key: key.as_bytes(),
                cost: Cost::new(line + 1).unwrap(),
                denied: [None, Some(false), Some(true)][line as usize % 3],
            };
            sorter.push(place, &fields);
            sorter.relieve().unwrap();
        }
        let mut sorted = sorter.end().unwrap();
        let mut seen = Seen::default();
        while sorted.read(&mut seen).unwrap() {}
        seen.0
    }

    #[test]
    fn many_files_are_merged_into_one_and_order_holds() {
        let times: Vec<u64> = (0..3 * MOST_RUNS as u64).map(|n| n * 7_919 % 50).collect();
        assert_eq!(sorted(&times, 0), sorted(&times, usize::MAX));
    }

    proptest! {
        #[test]
        fn files_and_memory_sort_as_a_stable_sort_does(
            times in prop::collection::vec(0..20_u64, 0..200),
            most in 0..4_000_usize,
        ) {
            let mut expected: Vec<(u64, u64)> = times.iter().copied().zip(0..).collect();
            expected.sort_by_key(|(time, _)| *time);
            let seen = sorted(&times, most);
            let places: Vec<(u64, u64)> = seen.iter().map(|(time, line, _)| (*time, *line)).collect();
            prop_assert_eq!(places, expected);
            prop_assert!(seen.iter().all(|(_, line, key)| key.len() as u64 == line % 5));
        }
    }
}
