//! Compressed inputs, known by their first bytes.

use std::io::{self, BufRead, BufReader, Chain, Cursor, Read};

use flate2::read::MultiGzDecoder;
use ruzstd::decoding::StreamingDecoder;

/// The first bytes of gzip and of a frame of zstd.
const GZIP: &[u8] = b"\x1f\x8b";
const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";

type Bytes = Box<dyn Read + Send>;

/// What a source holds, without the compression by gzip or zstd.
///
/// # Errors
/// If the first bytes cannot be read.
pub(crate) fn decode(mut source: Bytes) -> io::Result<Bytes> {
    // Some sources give whole lines alone.
    let mut first = vec![0; 8 << 10];
    let mut read = 0;
    while read < ZSTD.len() {
        match source.read(&mut first[read..]) {
            Ok(0) => break,
            Ok(some) => read += some,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    first.truncate(read);
    let (is_gzip, is_zstd) = (first.starts_with(GZIP), first.starts_with(ZSTD));
    let whole = Cursor::new(first).chain(source);
    Ok(match (is_gzip, is_zstd) {
        (true, _) => Box::new(MultiGzDecoder::new(whole)),
        (_, true) => Box::new(Zstd::new(whole)),
        _ => Box::new(whole),
    })
}

type Whole = BufReader<Chain<Cursor<Vec<u8>>, Bytes>>;

/// Frames of zstd, one after the other.
struct Zstd(State);

enum State {
    /// Before a frame.
    Between(Whole),
    Frame(Box<StreamingDecoder<Whole, ruzstd::decoding::FrameDecoder>>),
    Ended,
}

impl Zstd {
    fn new(whole: Chain<Cursor<Vec<u8>>, Bytes>) -> Zstd {
        Zstd(State::Between(BufReader::new(whole)))
    }
}

impl Read for Zstd {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match std::mem::replace(&mut self.0, State::Ended) {
                State::Ended => return Ok(0),
                State::Between(mut source) => {
                    if source.fill_buf()?.is_empty() {
                        return Ok(0);
                    }
                    let frame = StreamingDecoder::new(source).map_err(io::Error::other)?;
                    self.0 = State::Frame(Box::new(frame));
                }
                State::Frame(mut frame) => {
                    let read = frame.read(buffer)?;
                    self.0 = match read {
                        0 if !buffer.is_empty() => State::Between(frame.into_inner()),
                        _ => State::Frame(frame),
                    };
                    if read > 0 || buffer.is_empty() {
                        return Ok(read);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    use super::*;

    fn decoded(bytes: Vec<u8>) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        decode(Box::new(Cursor::new(bytes)))?.read_to_end(&mut text)?;
        Ok(text)
    }

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn zstd(text: &[u8]) -> Vec<u8> {
        compress_to_vec(text, CompressionLevel::Fastest)
    }

    #[test]
    fn all_members_and_frames_are_read_and_plain_text_stays() {
        let long = "time,key\n1,a\n".repeat(20_000).into_bytes();
        for text in [&b""[..], b"t", b"time", &long] {
            assert_eq!(decoded(text.to_vec()).unwrap(), text);
            let twice = [text, text].concat();
            assert_eq!(decoded([gzip(text), gzip(text)].concat()).unwrap(), twice);
            assert_eq!(decoded([zstd(text), zstd(text)].concat()).unwrap(), twice);
        }
    }

    #[test]
    fn what_is_cut_off_is_an_error() {
        let text = "time,key\n1,a\n".repeat(2_000).into_bytes();
        for mut bytes in [gzip(&text), zstd(&text)] {
            bytes.truncate(bytes.len() / 2);
            assert!(decoded(bytes).is_err());
        }
    }
}
