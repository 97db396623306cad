//! Times of copies and flags between the GPUs of a box, and between a GPU and host memory.
//!
//! An end is the number of a GPU, `host`, or `all` (every GPU at once, each to its neighbour). Rows of one kind and pair
//! stand at several sizes. They describe the box; nothing is priced with them, since collectives have a table of their
//! own: they tell which pairs are slow, and what a fabric file should say.

use super::block::{Column, Row, for_each_row, optional, required};
use super::error::TableError;
use super::file::MOST_RANKS;
use super::lazy::Decode;
use super::words::Word;
use crate::units::{Bandwidth, Bytes, Seconds};

const COLUMNS: &[Column] = &[
    required("kind"),
    required("from"),
    required("to"),
    required("bytes"),
    required("median_us"),
    optional("p10_us"),
    optional("p90_us"),
    optional("samples"),
];

/// What was timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LinkKind {
    /// A copy from one GPU to another.
    Copy,
    /// A copy between pinned host memory and a GPU.
    HostCopy,
    /// A flag, one way: half a ping-pong.
    Flag,
    /// Every GPU copies to its neighbour at once.
    AllPairs,
}

impl Word for LinkKind {
    const EXPECTED: &'static str = "copy, host-copy, flag or all-pairs";
    const WORDS: &'static [(&'static str, Self)] = &[
        ("copy", Self::Copy),
        ("host-copy", Self::HostCopy),
        ("flag", Self::Flag),
        ("all-pairs", Self::AllPairs),
    ];
}

/// An end of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LinkEnd {
    /// A GPU, counted from 0.
    Gpu(u32),
    /// Pinned host memory.
    Host,
    /// Every GPU.
    All,
}

/// One row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinkRow {
    /// What was timed.
    pub kind: LinkKind,
    /// Where from.
    pub from: LinkEnd,
    /// Where to.
    pub to: LinkEnd,
    /// Message.
    pub bytes: Bytes,
    /// Median time.
    pub time: Seconds,
}

impl LinkRow {
    /// bytes / time.
    pub fn bandwidth(&self) -> Bandwidth {
        self.bytes / self.time
    }
}

/// Measured links, sorted by kind, pair and size.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LinkTable(Vec<LinkRow>);

impl Decode for LinkTable {
    fn decode(text: &str) -> Result<Self, TableError> {
        let mut rows: Vec<(LinkRow, usize)> = Vec::new();
        for_each_row(text, COLUMNS, |row| {
            rows.push((link_row(row)?, row.line));
            Ok(())
        })?;
        rows.sort_by(|(a, _), (b, _)| {
            (a.kind, a.from, a.to).cmp(&(b.kind, b.from, b.to)).then(a.bytes.get().total_cmp(&b.bytes.get()))
        });
        let place = |row: &LinkRow| (row.kind, row.from, row.to);
        let same = |a: &LinkRow, b: &LinkRow| place(a) == place(b) && a.bytes == b.bytes;
        if let Some(pair) = rows.windows(2).find(|pair| same(&pair[0].0, &pair[1].0)) {
            return Err(TableError::Duplicate { line: pair[0].1.max(pair[1].1) });
        }
        Ok(Self(rows.into_iter().map(|(row, _)| row).collect()))
    }
}

fn link_row(row: &Row) -> Result<LinkRow, TableError> {
    let (kind, from, to) = (row.word(0)?, end(row, 1)?, end(row, 2)?);
    let fits = match kind {
        LinkKind::Copy | LinkKind::Flag => matches!((from, to), (LinkEnd::Gpu(a), LinkEnd::Gpu(b)) if a != b),
        LinkKind::HostCopy => {
            matches!((from, to), (LinkEnd::Gpu(_), LinkEnd::Host) | (LinkEnd::Host, LinkEnd::Gpu(_)))
        }
        LinkKind::AllPairs => (from, to) == (LinkEnd::All, LinkEnd::All),
    };
    if !fits {
        return Err(row.wrong(2, "the other end of such a link: two GPUs, a GPU and `host`, or `all` twice"));
    }
    let bytes = Bytes::new(f64::from(row.count(3)?));
    Ok(LinkRow { kind, from, to, bytes, time: row.microseconds(4)? })
}

fn end(row: &Row, column: usize) -> Result<LinkEnd, TableError> {
    match row.cell(column) {
        "host" => Ok(LinkEnd::Host),
        "all" => Ok(LinkEnd::All),
        number => match number.parse() {
            Ok(number) if number < MOST_RANKS => Ok(LinkEnd::Gpu(number)),
            _ => Err(row.wrong(column, "the number of a GPU, host or all")),
        },
    }
}

impl LinkTable {
    /// All rows.
    pub(super) fn rows(&self) -> &[LinkRow] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "kind,from,to,bytes,median_us\n";

    #[test]
    fn rows_are_sorted_and_give_a_bandwidth() {
        let text = format!(
            "{HEAD}host-copy,host,0,4096,9\ncopy,0,1,2000000,40\ncopy,0,1,1000000,25\nflag,1,0,4,0.8\n"
        );
        let table = LinkTable::decode(&text).unwrap();
        assert_eq!(table.rows().len(), 4);
        assert_eq!(table.rows()[0].bytes, Bytes::new(1e6));
        assert!((table.rows()[1].bandwidth().get() / 50e9 - 1.0).abs() < 1e-12);
    }

    #[test]
    fn ends_must_suit_the_kind() {
        for (row, says) in [
            ("copy,0,0,4,1", "the other end of such a link"),
            ("copy,host,0,4,1", "the other end of such a link"),
            ("host-copy,0,1,4,1", "the other end of such a link"),
            ("all-pairs,all,0,4,1", "the other end of such a link"),
            ("flag,a,0,4,1", "`a` is not the number of a GPU, host or all"),
            ("cable,1,0,4,1", "`cable` is not copy, host-copy, flag or all-pairs"),
            ("flag,1,0,4,1\nflag,1,0,4,2", "the same point as in an earlier line"),
        ] {
            let error = LinkTable::decode(&format!("{HEAD}{row}\n")).unwrap_err().to_string();
            assert!(error.contains(says), "{row}: {error}");
        }
    }
}
