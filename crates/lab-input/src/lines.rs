//! Lines of bytes from a stream of any length, in memory of a fixed size.

use std::io::{self, Read};

/// The longest line, in bytes. What is longer is no request, and reading on for its end must not
/// fill the memory.
pub(crate) const LONGEST_LINE: usize = 1 << 20;

/// How much is asked of the source at once: little enough to stay in the processor's cache.
const CHUNK: usize = 128 << 10;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// One line, or where none can be had.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    /// The line's number, counting from 1, and the line with its end: `\n`, `\r\n`, or nothing at
    /// the end of the input.
    Text(u64, &'a [u8]),
    /// The line of this number is longer than [`LONGEST_LINE`] and was passed over.
    TooLong(u64),
    /// The input has ended.
    End,
}

/// What comes next: a [`Line`] whose text is where `latest` says.
#[derive(Clone, Copy)]
enum Found {
    Text,
    TooLong,
    End,
}

/// Reads lines and counts them.
pub(crate) struct Lines<R> {
    source: R,
    buffer: Box<[u8]>,
    /// What has been read and not yet given out is `buffer[start..end]`.
    start: usize,
    end: usize,
    ended: bool,
    /// Of the latest line, counting from 1.
    number: u64,
    bytes: u64,
    /// Where the latest line began and ended.
    latest: (usize, usize),
    /// What [`back`](Self::back) returns to: a place in the buffer, and the number of the line
    /// before it.
    held: Option<(usize, u64)>,
}

impl<R: Read> Lines<R> {
    pub(crate) fn new(source: R) -> Lines<R> {
        Lines {
            source,
            buffer: vec![0; LONGEST_LINE + CHUNK].into(),
            start: 0,
            end: 0,
            ended: false,
            number: 0,
            bytes: 0,
            latest: (0, 0),
            held: None,
        }
    }

    /// How many bytes the source has given.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The next line; too long, too, if more than [`LONGEST_LINE`] would have to be held. A byte order
    /// mark before the first is passed over.
    pub(crate) fn next(&mut self) -> io::Result<Line<'_>> {
        let found = self.advance()?;
        Ok(self.line(found))
    }

    /// The next line that has more than its end.
    pub(crate) fn next_not_blank(&mut self) -> io::Result<Line<'_>> {
        loop {
            let found = self.advance()?;
            if !matches!(self.line(found), Line::Text(_, text) if without_end(text).is_empty()) {
                return Ok(self.line(found));
            }
        }
    }

    fn line(&self, found: Found) -> Line<'_> {
        match found {
            Found::TooLong => Line::TooLong(self.number),
            Found::End => Line::End,
            Found::Text => {
                let text = &self.buffer[self.latest.0..self.latest.1];
                let text = match self.number {
                    1 => text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text),
                    _ => text,
                };
                Line::Text(self.number, text)
            }
        }
    }

    fn advance(&mut self) -> io::Result<Found> {
        let Some(length) = self.find_end()? else {
            if self.held.is_none() {
                self.skip_to_end()?;
            }
            self.number += 1;
            return Ok(Found::TooLong);
        };
        if length == 0 {
            return Ok(Found::End);
        }
        self.latest = (self.start, self.start + length);
        self.start += length;
        self.number += 1;
        Ok(Found::Text)
    }

    /// Gives the latest line out once more.
    pub(crate) fn again(&mut self) {
        self.start = self.latest.0;
        self.number -= 1;
    }

    /// Keeps what follows the latest line, for [`back`](Self::back) to give it out once more.
    /// After a line that is too long nothing but that, or [`release`](Self::release), makes sense.
    pub(crate) fn hold(&mut self) {
        self.held = Some((self.start, self.number));
    }

    /// Holds nothing any more.
    pub(crate) fn release(&mut self) {
        self.held = None;
    }

    /// Returns to where [`hold`](Self::hold) was called and releases it. Returns the number of the
    /// latest line until then, or `None` if nothing is held.
    pub(crate) fn back(&mut self) -> Option<u64> {
        let latest = self.number;
        (self.start, self.number) = self.held.take()?;
        Some(latest)
    }

    /// Where the bytes that are still needed begin.
    fn kept(&self) -> usize {
        self.held.map_or(self.start, |(start, _)| start)
    }

    /// The length of the next line with its end, 0 at the end of the input, `None` if it is too
    /// long.
    fn find_end(&mut self) -> io::Result<Option<usize>> {
        let mut searched = 0;
        loop {
            let unread = &self.buffer[self.start..self.end];
            if let Some(at) = memchr::memchr(b'\n', &unread[searched..]) {
                let length = searched + at;
                // The same, however much of it a reading brought.
                return Ok((length <= LONGEST_LINE).then_some(length + 1));
            }
            searched = unread.len();
            if self.ended {
                return Ok(Some(searched));
            }
            if self.end - self.kept() > LONGEST_LINE {
                return Ok(None);
            }
            self.read_more()?;
        }
    }

    /// Passes over the rest of a line that is too long.
    fn skip_to_end(&mut self) -> io::Result<()> {
        loop {
            let unread = &self.buffer[self.start..self.end];
            if let Some(at) = memchr::memchr(b'\n', unread) {
                self.start += at + 1;
                return Ok(());
            }
            self.start = self.end;
            if self.ended {
                return Ok(());
            }
            self.read_more()?;
        }
    }

    fn read_more(&mut self) -> io::Result<()> {
        // Usually a part of one line; and at most the longest, so that a chunk fits behind it.
        let kept = self.kept();
        self.buffer.copy_within(kept..self.end, 0);
        self.end -= kept;
        self.start -= kept;
        self.held = self.held.map(|(_, number)| (0, number));
        let read = loop {
            match self.source.read(&mut self.buffer[self.end..][..CHUNK]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => break result?,
            }
        };
        self.ended = read == 0;
        self.end += read;
        self.bytes += read as u64;
        Ok(())
    }
}

/// A line without its end.
pub(crate) fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A source that gives a few bytes at a time.
    struct Trickle<'a>(&'a [u8]);

    impl Read for Trickle<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let some = buffer.len().min(7);
            self.0.read(&mut buffer[..some])
        }
    }

    fn read_all(input: &[u8]) -> Vec<(u64, String)> {
        let mut lines = Lines::new(Trickle(input));
        let mut all = Vec::new();
        loop {
            match lines.next().unwrap() {
                Line::Text(number, text) => {
                    all.push((number, String::from_utf8_lossy(text).into_owned()));
                }
                Line::TooLong(number) => all.push((number, "too long".into())),
                Line::End => return all,
            }
        }
    }

    fn numbered<const N: usize>(lines: [&str; N]) -> Vec<(u64, String)> {
        (1..).zip(lines.map(String::from)).collect()
    }

    #[test]
    fn lines_come_with_their_ends_and_without_the_byte_order_mark() {
        assert_eq!(
            read_all(b"\xef\xbb\xbftime,key\r\n1,a rather long line\n\nlast"),
            numbered(["time,key\r\n", "1,a rather long line\n", "\n", "last"])
        );
        assert_eq!(read_all(b""), []);
        assert_eq!(read_all(b"\n"), numbered(["\n"]));
    }

    #[test]
    fn a_line_can_be_given_out_once_more() {
        let mut lines = Lines::new(&b"\xef\xbb\xbfone\ntwo\n"[..]);
        for _ in 0..2 {
            assert_eq!(lines.next().unwrap(), Line::Text(1, b"one\n"));
            lines.again();
        }
        lines.next().unwrap();
        assert_eq!(lines.next().unwrap(), Line::Text(2, b"two\n"));
    }

    #[test]
    fn lines_that_are_held_can_be_given_out_once_more() {
        let mut lines = Lines::new(Trickle(b"one\ntwo\nthree\nfour"));
        assert_eq!(lines.back(), None);
        assert_eq!(lines.next().unwrap(), Line::Text(1, b"one\n"));
        lines.hold();
        for _ in 0..3 {
            lines.next().unwrap();
        }
        assert_eq!(lines.next().unwrap(), Line::End);
        assert_eq!(lines.back(), Some(4));
        assert_eq!(lines.next().unwrap(), Line::Text(2, b"two\n"));
        lines.hold();
        lines.next().unwrap();
        lines.release();
        assert_eq!(lines.back(), None);
        assert_eq!(lines.next().unwrap(), Line::Text(4, b"four"));
    }

    #[test]
    fn no_more_is_held_than_a_line_may_be_long() {
        let input = "0123456\n".repeat(LONGEST_LINE / 2);
        let mut lines = Lines::new(input.as_bytes());
        lines.next().unwrap();
        lines.hold();
        let (latest, size) = (LONGEST_LINE as u64 / 8, lines.buffer.len());
        let last = loop {
            if let Line::TooLong(number) = lines.next().unwrap() {
                break number;
            }
        };
        assert!((latest..2 * latest).contains(&last), "{last}");
        assert_eq!((lines.back(), lines.buffer.len()), (Some(last), size));
        for number in 2..=LONGEST_LINE as u64 / 2 {
            assert_eq!(lines.next().unwrap(), Line::Text(number, b"0123456\n"));
        }
        assert_eq!(lines.next().unwrap(), Line::End);
    }

    /// A source that gives so many bytes at a time.
    struct Pieces<'a>(&'a [u8], usize);

    impl Read for Pieces<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let some = buffer.len().min(self.1);
            self.0.read(&mut buffer[..some])
        }
    }

    #[test]
    fn whether_a_line_is_too_long_does_not_hang_on_how_it_comes() {
        for (length, fits) in [(0, true), (1, false), (CHUNK / 2, false)] {
            let long = "x".repeat(LONGEST_LINE + length);
            let input = format!("first\n{long}\nlast\n");
            for piece in [CHUNK / 2 - 1, CHUNK] {
                let mut lines = Lines::new(Pieces(input.as_bytes(), piece));
                lines.next().unwrap();
                match lines.next().unwrap() {
                    Line::Text(2, text) => assert!(fits && text.len() == long.len() + 1),
                    line => assert!(!fits && line == Line::TooLong(2), "{length} {piece}"),
                }
                assert_eq!(lines.next().unwrap(), Line::Text(3, b"last\n"));
            }
        }
    }

    #[test]
    fn a_line_too_long_is_passed_over_and_memory_stays_as_it_was() {
        let longest = "x".repeat(LONGEST_LINE - 1);
        let too_long = "y".repeat(3 * LONGEST_LINE);
        let input = format!("{longest}\n{too_long}\nlast\n{too_long}");
        let mut lines = Lines::new(input.as_bytes());
        let size = lines.buffer.len();
        assert!(matches!(lines.next().unwrap(), Line::Text(1, text) if text.len() == LONGEST_LINE));
        assert_eq!(lines.next().unwrap(), Line::TooLong(2));
        assert_eq!(lines.next().unwrap(), Line::Text(3, b"last\n"));
        assert_eq!(lines.next().unwrap(), Line::TooLong(4));
        assert_eq!(lines.next().unwrap(), Line::End);
        assert_eq!(
            (lines.buffer.len(), lines.bytes()),
            (size, input.len() as u64)
        );
    }
}
