//! A file as text: unpacked if gzip, decoded if UTF-16 (marked, or by its first characters), its head kept for guessing.
//!
//! A packed file that ends too early or is damaged gives what comes before; the reader then meets an error, which the
//! importers note as a cut file.

use std::io::{self, BufRead, BufReader, Cursor, Read};

use flate2::read::MultiGzDecoder;

use super::Head;

/// Bytes read at once.
const CHUNK: usize = 1 << 18;

/// A stream of text, and how it begins.
pub struct Input {
    head: Cursor<Vec<u8>>,
    rest: Box<dyn Read>,
    /// What stopped the head; met again when it is read past.
    broken: Option<io::Error>,
}

/// Opens a stream: gzip and UTF-16 with a byte order mark are told by their first bytes.
///
/// # Errors
/// The first bytes cannot be read.
pub fn open(raw: impl Read + 'static) -> io::Result<Input> {
    let mut raw: Box<dyn Read> = Box::new(raw);
    let magic = first(&mut raw, 2)?;
    let raw = Cursor::new(magic.clone()).chain(raw);
    let mut plain: Box<dyn Read> = if magic == [0x1f, 0x8b] {
        Box::new(MultiGzDecoder::new(BufReader::with_capacity(CHUNK, raw)))
    } else {
        Box::new(raw)
    };
    let (mark, broken) = match first(&mut plain, 4) {
        Ok(mark) => (mark, None),
        Err(error) => (Vec::new(), Some(error)),
    };
    let (order, begin) = order_of(&mark);
    let whole = Cursor::new(mark[begin..].to_vec()).chain(plain);
    let rest: Box<dyn Read> = match order {
        Some(order) => Box::new(Utf16::new(whole, order)),
        None => Box::new(whole),
    };
    Ok(Input { head: Cursor::new(Vec::new()), rest, broken })
}

/// How two bytes make a unit of UTF-16.
type Order = fn([u8; 2]) -> u16;

/// The order of bytes of UTF-16, and where it begins: by its mark, else by the zero halves of two ASCII characters.
fn order_of(first: &[u8]) -> (Option<Order>, usize) {
    match *first {
        [0xff, 0xfe, ..] => (Some(u16::from_le_bytes), 2),
        [0xfe, 0xff, ..] => (Some(u16::from_be_bytes), 2),
        [0, 1..=0x7f, 0, 1..=0x7f] => (Some(u16::from_be_bytes), 0),
        [1..=0x7f, 0, 1..=0x7f, 0] => (Some(u16::from_le_bytes), 0),
        _ => (None, 0),
    }
}

/// Up to `count` bytes.
fn first(reader: &mut dyn Read, count: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(count).read_to_end(&mut bytes)?;
    Ok(bytes)
}

impl Input {
    /// How the stream begins. What is looked at stays to be read.
    ///
    /// # Errors
    /// Nothing at all can be read.
    pub fn head(&mut self) -> io::Result<Head> {
        if self.head.get_ref().is_empty() && self.broken.is_none() {
            let mut bytes = Vec::new();
            if let Err(error) = (&mut self.rest).take(Head::MOST as u64).read_to_end(&mut bytes) {
                if bytes.is_empty() {
                    return Err(error);
                }
                self.broken = Some(error);
            }
            self.head = Cursor::new(bytes);
        }
        if let (true, Some(error)) = (self.head.get_ref().is_empty(), self.broken.take()) {
            return Err(error);
        }
        Ok(Head { text: String::from_utf8_lossy(self.head.get_ref()).into_owned() })
    }

    /// The stream, from its beginning.
    pub fn reader(self) -> impl BufRead {
        let end = Broken(self.broken);
        BufReader::with_capacity(CHUNK, self.head.chain(end).chain(self.rest))
    }
}

/// Fails once, or is empty.
struct Broken(Option<io::Error>);

impl Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

/// UTF-16 turned into UTF-8 as it is read; halves of pairs become replacement characters.
struct Utf16<R> {
    raw: R,
    order: fn([u8; 2]) -> u16,
    /// Bytes decoded and not read yet.
    ready: Cursor<Vec<u8>>,
    /// An odd byte, and the first half of a pair.
    odd: Option<u8>,
    half: Option<u16>,
}

impl<R: Read> Utf16<R> {
    fn new(raw: R, order: fn([u8; 2]) -> u16) -> Self {
        Self { raw, order, ready: Cursor::new(Vec::new()), odd: None, half: None }
    }

    fn decode(&mut self, bytes: &[u8]) -> String {
        let mut units: Vec<u16> = self.half.take().into_iter().collect();
        let all: Vec<u8> = self.odd.take().into_iter().chain(bytes.iter().copied()).collect();
        let mut pairs = all.chunks_exact(2);
        units.extend((&mut pairs).map(|pair| (self.order)([pair[0], pair[1]])));
        self.odd = pairs.remainder().first().copied();
        if units.last().is_some_and(|unit| (0xd800..0xdc00).contains(unit)) {
            self.half = units.pop();
        }
        String::from_utf16_lossy(&units)
    }
}

impl<R: Read> Read for Utf16<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            let count = self.ready.read(into)?;
            if count > 0 || into.is_empty() {
                return Ok(count);
            }
            let mut bytes = [0; 1 << 14];
            let count = self.raw.read(&mut bytes)?;
            if count == 0 {
                return Ok(0);
            }
            self.ready = Cursor::new(self.decode(&bytes[..count]).into_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    fn text(bytes: Vec<u8>) -> String {
        let mut input = open(Cursor::new(bytes)).unwrap();
        let head = input.head().unwrap();
        let mut all = String::new();
        input.reader().read_to_string(&mut all).unwrap();
        assert!(all.starts_with(&head.text), "the head is what the stream begins with");
        all
    }

    fn packed(text: &str) -> Vec<u8> {
        let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        writer.write_all(text.as_bytes()).unwrap();
        writer.finish().unwrap()
    }

    #[test]
    fn plain_packed_and_utf16_give_the_same_text() {
        let wide = |order: fn(u16) -> [u8; 2]| -> Vec<u8> {
            "\u{feff}ab\nü𝄞".encode_utf16().flat_map(order).collect()
        };
        let unmarked = |order: fn(u16) -> [u8; 2]| wide(order)[2..].to_vec();
        for bytes in [
            "ab\nü𝄞".as_bytes().to_vec(),
            packed("ab\nü𝄞"),
            [packed("ab\n"), packed("ü𝄞")].concat(),
            wide(u16::to_le_bytes),
            wide(u16::to_be_bytes),
            unmarked(u16::to_le_bytes),
            unmarked(u16::to_be_bytes),
        ] {
            assert_eq!(text(bytes), "ab\nü𝄞");
        }
        assert_eq!(text(Vec::new()), "");
        assert_eq!(text(vec![b'x']), "x");
    }

    #[test]
    fn a_cut_gzip_gives_what_comes_before_and_then_an_error() {
        let long = (0..200_000).map(|n| n.to_string()).collect::<Vec<_>>().join("\n");
        let mut bytes = packed(&long);
        bytes.truncate(bytes.len() / 2);
        let mut reader = open(Cursor::new(bytes)).unwrap();
        let head = reader.head().unwrap();
        assert!(head.text.starts_with("0\n1\n2\n"));
        let mut all = Vec::new();
        assert!(reader.reader().read_to_end(&mut all).is_err());
        assert!(all.starts_with(head.text.as_bytes()));
    }
}
