//! The columns of a table, from its header.

/// Columns of one block, out of place or in place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cell {
    Time,
    Algbw,
    Busbw,
    /// `#wrong`, which rejects, or `error` of old versions, which says how large rounding was.
    Wrong,
    Error,
    /// Of `-I`.
    Statistic,
}

/// The columns of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Header {
    /// Whether rows have a `root`.
    pub(super) root: bool,
    /// Columns of a block; a row has two blocks.
    pub(super) block: Vec<Cell>,
    /// Whether the time is that of the CPU.
    pub(super) cpu_time: bool,
}

impl Header {
    /// The columns of a header row such as `# size count type redop root time algbw busbw #wrong time ...`; none if it
    /// is none. Names that mean nothing are given to `unknown`.
    pub(super) fn of(line: &str, unknown: &mut impl FnMut(&str)) -> Option<Self> {
        let at = line.find('#')?;
        let names: Vec<&str> = line[at + 1..].split_whitespace().collect();
        let begins = ["size", "count", "type", "redop"];
        if names.len() < 6 || names[..4] != begins {
            return None;
        }
        let root = names[4] == "root";
        let rest = &names[if root { 5 } else { 4 }..];
        let time = |name: &str| matches!(name, "time" | "cputime" | "cpu_time");
        let starts: Vec<usize> = (0..rest.len()).filter(|at| time(rest[*at])).collect();
        let (first, second) = (*starts.first()?, starts.get(1).copied().unwrap_or(rest.len()));
        let mut block = Vec::new();
        for name in &rest[first..second] {
            block.push(match *name {
                name if time(name) => Cell::Time,
                "algbw" => Cell::Algbw,
                "busbw" => Cell::Busbw,
                "#wrong" => Cell::Wrong,
                "error" => Cell::Error,
                name if name.starts_with("i_") => Cell::Statistic,
                name => {
                    unknown(name);
                    Cell::Statistic
                }
            });
        }
        Some(Self { root, block, cpu_time: rest[first] != "time" })
    }

    /// The layout since 2.11, for rows whose header is missing.
    pub(super) fn usual() -> Self {
        let block = vec![Cell::Time, Cell::Algbw, Cell::Busbw, Cell::Wrong];
        Self { root: true, block, cpu_time: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Option<Header> {
        Header::of(line, &mut |name| assert_eq!(name, "nonsense"))
    }

    #[test]
    fn old_new_and_extended_headers() {
        use Cell::{Algbw, Busbw, Error, Statistic, Time, Wrong};
        let new = "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong";
        assert_eq!(of(new), Some(Header::usual()));
        let old = "#       size         count    type   redop     time   algbw   busbw  error     time   algbw   busbw  error";
        let expected = Header { root: false, block: vec![Time, Algbw, Busbw, Error], cpu_time: false };
        assert_eq!(of(old), Some(expected));
        let long = "# size count type redop root cputime algbw busbw #wrong i_min i_max i_p99 i_cv cputime algbw busbw #wrong i_min i_max i_p99 i_cv";
        let mut block = vec![Time, Algbw, Busbw, Wrong];
        block.extend([Statistic; 4]);
        assert_eq!(of(long), Some(Header { root: true, block, cpu_time: true }));
        assert_eq!(of("#        (B)    (elements)                               (us)  (GB/s)"), None);
        assert_eq!(of("# size of the problem"), None);
    }
}
