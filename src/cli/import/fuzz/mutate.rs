//! Files that are almost right.

use rand::RngExt as _;
use rand_xoshiro::Xoshiro256PlusPlus;

/// The longest input \[B\].
const LONGEST: usize = 1 << 20;

/// Things that stand in such files and things that should not.
const TOKENS: &[&[u8]] = &[
    b"nan",
    b"inf",
    b"-1",
    b"0",
    b"1e309",
    b"1e308",
    b"1e-320",
    b"18446744073709551616",
    b"18446744073709551615",
    b"9007199254740993",
    b"4294967296",
    b"\"",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"\\",
    b"\r\n",
    b"\n",
    b"\r",
    b"\0",
    b"\xff\xfe",
    b"\xe2\x82",
    b"#",
    b"%",
    b"N/A",
    b"null",
    b"NaN",
    b"\x1b[4m",
    b"=",
    b"\t",
    b"1",
    b"2",
    b"0.0",
    b"99999",
    b"'",
    b"--",
    b".",
    b"tokens",
    b"Decode batch",
    b"TP1",
    b"- ",
    b"? ",
    b"&a ",
    b"*a",
    b"<<: ",
    b"|",
    b"!!binary ",
    b"~",
];

/// One to eight changes of a file.
pub(super) fn mutated(corpus: &[Vec<u8>], random: &mut Xoshiro256PlusPlus) -> Vec<u8> {
    let mut bytes = corpus[random.random_range(0..corpus.len())].clone();
    for _ in 0..random.random_range(1..=8) {
        mutate(&mut bytes, corpus, random);
    }
    bytes.truncate(LONGEST);
    bytes
}

fn mutate(bytes: &mut Vec<u8>, corpus: &[Vec<u8>], random: &mut Xoshiro256PlusPlus) {
    let length = bytes.len();
    let at = random.random_range(0..=length);
    let some = random.random_range(0..=(length - at).min(200));
    let token = TOKENS[random.random_range(0..TOKENS.len())];
    let other = &corpus[random.random_range(0..corpus.len())];
    match random.random_range(0..13u32) {
        0 if at < length => bytes[at] ^= 1 << random.random_range(0..8u32),
        1 if at < length => bytes[at] = random.random(),
        2 => drop(bytes.drain(at..at + some)),
        3 => {
            let copy = bytes[at..at + some].to_vec();
            let to = random.random_range(0..=length);
            bytes.splice(to..to, copy);
        }
        4 => drop(bytes.splice(at..at, token.iter().copied())),
        5 => bytes.truncate(at),
        6 => {
            let from = random.random_range(0..=other.len());
            bytes.truncate(at);
            bytes.extend_from_slice(&other[from..]);
        }
        7 => number(bytes, at, token),
        8 => lines(bytes, random),
        9 => drop(bytes.splice(at..at, std::iter::repeat_n(b'7', random.random_range(1..400)))),
        10 => {
            // Another digit keeps the shape and changes the number.
            if let Some(digit) = bytes[at..].iter_mut().find(|byte| byte.is_ascii_digit()) {
                *digit = b'0' + random.random_range(0..10_u8);
            }
        }
        11 => {
            let from = random.random_range(0..=other.len());
            bytes.splice(at..at, other[from..].iter().take(400).copied());
        }
        _ => bytes.extend_from_slice(other),
    }
}

/// Puts another number, or no number, in the place of the next one.
fn number(bytes: &mut Vec<u8>, at: usize, token: &[u8]) {
    let Some(from) = (at..bytes.len()).find(|at| bytes[*at].is_ascii_digit()) else { return };
    let inside = |byte: u8| byte.is_ascii_digit() || byte == b'.';
    let to = (from..bytes.len()).find(|at| !inside(bytes[*at])).unwrap_or(bytes.len());
    bytes.splice(from..to, token.iter().copied());
}

/// Swaps two lines.
fn lines(bytes: &mut Vec<u8>, random: &mut Xoshiro256PlusPlus) {
    let mut lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    let (a, b) = (random.random_range(0..lines.len()), random.random_range(0..lines.len()));
    lines.swap(a, b);
    *bytes = lines.join(&b'\n');
}
