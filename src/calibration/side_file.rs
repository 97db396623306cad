//! Files beside a calibration: which may be named, and how one is read.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// The largest file that is read \[B\]: thirty times the largest that ships, compressed.
pub const MOST_SIDE_FILE_BYTES: u64 = 16 << 20;

/// Reads a file beside a calibration.
///
/// # Errors
/// What the system says; [`io::ErrorKind::InvalidInput`] for anything but a regular file, and
/// [`io::ErrorKind::FileTooLarge`] for one above [`MOST_SIDE_FILE_BYTES`].
pub fn read_side_file(path: &Path) -> io::Result<Vec<u8>> {
    // Asked before opening: opening a pipe waits for whoever writes into it.
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    let file = File::open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    let mut bytes = Vec::new();
    file.take(MOST_SIDE_FILE_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_SIDE_FILE_BYTES {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it is larger than 16 MiB"));
    }
    Ok(bytes)
}

/// Why a name may not stand under `table_files`, if so: only files in the folder of the calibration and below.
pub(super) fn refused_name(name: &str) -> Option<&'static str> {
    if name.trim().is_empty() {
        return Some("names no file");
    }
    if name.chars().any(char::is_control) {
        return Some("holds control characters");
    }
    // Judged alike on every system: a file of one must be refused or read on all.
    let mut letters = name.chars();
    let drive = letters.next().is_some_and(|c| c.is_ascii_alphabetic()) && letters.next() == Some(':');
    if name.starts_with(['/', '\\']) || drive {
        return Some("is an absolute path; name a file relative to the calibration");
    }
    if name.split(['/', '\\']).any(|part| part == "..") {
        return Some("leaves the folder of the calibration");
    }
    if name.contains('\\') {
        return Some("holds a backslash; folders are separated by `/`");
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_below_the_calibration() {
        for name in ["gemm.csv", "kernels/mine/gemm.csv.gz", "./a.csv", "a..b/c..csv", "Ä ö.csv"] {
            assert_eq!(refused_name(name), None, "{name}");
        }
        for name in [
            "",
            "  ",
            "/etc/passwd",
            "../a.csv",
            "a/../../b",
            "a/..",
            "..",
            "C:\\a",
            "c:a",
            "\\\\host\\a",
            "a\\b",
            "a\nb",
            "a\0",
        ] {
            assert!(refused_name(name).is_some(), "{name:?}");
        }
    }

    #[test]
    fn only_regular_files_of_a_modest_size_are_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.csv");
        fs::write(&path, b"a,b\n").expect("a file");
        assert_eq!(read_side_file(&path).expect("readable"), b"a,b\n");
        assert_eq!(read_side_file(folder.path()).expect_err("a folder").kind(), io::ErrorKind::InvalidInput);
        let missing = read_side_file(&folder.path().join("b.csv")).expect_err("missing");
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
        let large = File::create(&path).expect("a file");
        large.set_len(MOST_SIDE_FILE_BYTES).expect("holes cost nothing");
        assert!(read_side_file(&path).is_ok());
        large.set_len(MOST_SIDE_FILE_BYTES + 1).expect("holes cost nothing");
        assert_eq!(read_side_file(&path).expect_err("large").kind(), io::ErrorKind::FileTooLarge);
    }

    #[cfg(unix)]
    #[test]
    fn devices_are_refused_at_once() {
        for device in ["/dev/zero", "/dev/null"] {
            let refused = read_side_file(Path::new(device)).expect_err("a device");
            assert_eq!(refused.kind(), io::ErrorKind::InvalidInput);
        }
    }
}
