//! A table as text: comma-separated, a header that names the columns with their units, no quoting.
//!
//! Lines that start with `#` and empty lines are skipped. Times are in columns that end in `_us`.

use std::borrow::Cow;
use std::io::Read;

use super::error::TableError;
use super::tree::shown;
use super::words::Word;
use crate::diagnostic::closest;
use crate::units::Seconds;

/// Where the text of a table is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Raw {
    /// Text out of the YAML file.
    Text(String),
    /// A file beside it, gzip-compressed if it starts so.
    File(Cow<'static, [u8]>),
}

impl Raw {
    /// The text, unpacked.
    pub(super) fn text(&self) -> Result<Cow<'_, str>, TableError> {
        match self {
            Self::Text(text) => Ok(Cow::Borrowed(text)),
            Self::File(bytes) if bytes.starts_with(&[0x1f, 0x8b]) => Ok(Cow::Owned(plain(unpack(bytes)?)?)),
            Self::File(bytes) => plain(&**bytes).map(Cow::Borrowed),
        }
    }
}

/// All members of a gzip file, one after the other.
fn unpack(bytes: &[u8]) -> Result<Vec<u8>, TableError> {
    let mut unpacked = Vec::new();
    let read = flate2::read::MultiGzDecoder::new(bytes).take(MOST_TEXT + 1).read_to_end(&mut unpacked);
    if let Err(error) = read {
        let why = match error.kind() {
            std::io::ErrorKind::UnexpectedEof => "the gzip file ends too early".to_owned(),
            _ => format!("the gzip file is damaged ({error})"),
        };
        return Err(TableError::Unpack(why));
    }
    if unpacked.len() as u64 > MOST_TEXT {
        return Err(TableError::Unpack("it is larger than 64 MiB".to_owned()));
    }
    Ok(unpacked)
}

/// Bytes that are text.
trait Utf8: AsRef<[u8]> {
    /// The text.
    type Text;
    /// As text, where it is UTF-8.
    fn utf8(self) -> Option<Self::Text>;
}

impl Utf8 for Vec<u8> {
    type Text = String;
    fn utf8(self) -> Option<String> {
        String::from_utf8(self).ok()
    }
}

impl<'a> Utf8 for &'a [u8] {
    type Text = &'a str;
    fn utf8(self) -> Option<&'a str> {
        std::str::from_utf8(self).ok()
    }
}

fn plain<T: Utf8>(bytes: T) -> Result<T::Text, TableError> {
    let raw = bytes.as_ref();
    let why = if raw.len() as u64 > MOST_TEXT {
        "it is larger than 64 MiB"
    } else if raw.starts_with(&[0xff, 0xfe]) || raw.starts_with(&[0xfe, 0xff]) {
        "it is UTF-16, and should be UTF-8"
    } else if raw.contains(&0) {
        "it holds NUL bytes, so it is no comma-separated text"
    } else {
        "it is not UTF-8 text"
    };
    let refused = || TableError::Unpack(why.to_owned());
    let readable = raw.len() as u64 <= MOST_TEXT && !raw.contains(&0);
    if readable { bytes.utf8().ok_or_else(refused) } else { Err(refused()) }
}

/// The longest table that is read \[B\], against files that unpack to more than memory holds.
const MOST_TEXT: u64 = 64 << 20;

/// Times that a kernel or a collective can take \[µs\] \[B\]: from a nanosecond to a quarter of an hour.
const TIMES_US: std::ops::RangeInclusive<f64> = 1e-3..=1e9;

/// A column that a table may have.
pub(super) struct Column {
    name: &'static str,
    required: bool,
}

/// A column that must be there.
pub(super) const fn required(name: &'static str) -> Column {
    Column { name, required: true }
}

/// A column that may be left out.
pub(super) const fn optional(name: &'static str) -> Column {
    Column { name, required: false }
}

/// Calls `each` with every row of the table.
pub(super) fn for_each_row(
    text: &str,
    columns: &'static [Column],
    mut each: impl FnMut(&Row) -> Result<(), TableError>,
) -> Result<(), TableError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.lines().enumerate().filter(|(_, line)| is_content(line));
    let (at, header) = lines.next().ok_or(TableError::Empty)?;
    let header_line = at + 1;
    let places = places(header_line, header, columns)?;
    let spread = Spread::of(columns);
    let width = header.split(',').count();
    let mut cells = Vec::with_capacity(width);
    let mut rows = 0;
    for (at, line) in lines {
        cells.clear();
        cells.extend(line.split(',').map(str::trim));
        if cells.len() != width {
            return Err(TableError::Cells { line: at + 1, found: cells.len(), expected: width });
        }
        let row = Row { line: at + 1, cells: &cells, columns, places: &places };
        spread.check(&row)?;
        each(&row)?;
        rows += 1;
    }
    if rows == 0 { Err(TableError::NoRows { line: header_line }) } else { Ok(()) }
}

/// Columns that every table may have beside its median.
struct Spread {
    median: Option<usize>,
    low: Option<usize>,
    high: Option<usize>,
    samples: Option<usize>,
}

impl Spread {
    fn of(columns: &[Column]) -> Self {
        let find = |name| columns.iter().position(|column| column.name == name);
        Self {
            median: find("median_us"),
            low: find("p10_us"),
            high: find("p90_us"),
            samples: find("samples"),
        }
    }

    /// That p10 ≤ median ≤ p90, and that something was measured.
    fn check(&self, row: &Row) -> Result<(), TableError> {
        let there = |column: Option<usize>| column.filter(|column| !row.cell(*column).is_empty());
        if let Some(column) = there(self.samples) {
            row.count(column)?;
        }
        let Some(median) = self.median else { return Ok(()) };
        if let Some(column) = there(self.low)
            && row.microseconds(column)? > row.microseconds(median)?
        {
            return Err(row.wrong(column, format!("at most the median, `{}`", row.cell(median))));
        }
        if let Some(column) = there(self.high)
            && row.microseconds(column)? < row.microseconds(median)?
        {
            return Err(row.wrong(column, format!("at least the median, `{}`", row.cell(median))));
        }
        Ok(())
    }
}

/// For each known column its place in the header.
fn places(line: usize, header: &str, columns: &'static [Column]) -> Result<Vec<Option<usize>>, TableError> {
    let names: Vec<&str> = header.split(',').map(str::trim).collect();
    if let Some(unknown) = names.iter().find(|n| !columns.iter().any(|c| c.name == **n)) {
        let known: Vec<_> = columns.iter().map(|c| c.name).collect();
        return Err(TableError::UnknownColumn {
            line,
            column: shown(unknown),
            closest: closest(unknown, known.iter().copied()),
            known: known.join(", "),
        });
    }
    let standing = |column: &Column| names.iter().filter(|name| **name == column.name).count();
    if let Some(column) = columns.iter().find(|column| standing(column) > 1) {
        return Err(TableError::RepeatedColumn { line, column: column.name });
    }
    let places: Vec<_> = columns.iter().map(|c| names.iter().position(|n| *n == c.name)).collect();
    match columns.iter().zip(&places).find(|(c, p)| c.required && p.is_none()) {
        Some((c, _)) => Err(TableError::MissingColumn { line, column: c.name, header: shown(header) }),
        None => Ok(places),
    }
}

fn is_content(line: &str) -> bool {
    let line = line.trim();
    !line.is_empty() && !line.starts_with('#')
}

/// One row. Columns are named by their place in the list of columns that the table was read with.
pub(super) struct Row<'a> {
    /// Line of the table, the header being line 1.
    pub(super) line: usize,
    cells: &'a [&'a str],
    columns: &'static [Column],
    places: &'a [Option<usize>],
}

impl Row<'_> {
    /// The cell of a column; empty where the table lacks the column.
    pub(super) fn cell(&self, column: usize) -> &str {
        self.places[column].map_or("", |place| self.cells[place])
    }

    /// A cell that does not say what it should.
    pub(super) fn wrong(&self, column: usize, expected: impl Into<String>) -> TableError {
        TableError::Cell {
            line: self.line,
            column: self.columns[column].name,
            cell: shown(self.cell(column)),
            expected: expected.into(),
        }
    }

    /// A whole number of at least 1.
    pub(super) fn count(&self, column: usize) -> Result<u32, TableError> {
        self.whole(column, 1, u32::MAX)
    }

    /// A whole number within bounds.
    pub(super) fn whole(&self, column: usize, low: u32, high: u32) -> Result<u32, TableError> {
        let count = self.cell(column).parse().ok().filter(|n| (low..=high).contains(n));
        count.ok_or_else(|| self.wrong(column, format!("a whole number from {low} to {high}")))
    }

    /// A time in microseconds.
    pub(super) fn microseconds(&self, column: usize) -> Result<Seconds, TableError> {
        let time = self.cell(column).parse().ok().filter(|t| TIMES_US.contains(t));
        time.map(Seconds::from_us).ok_or_else(|| self.wrong(column, "a time from 0.001 to 1e9 µs"))
    }

    /// One of the words of `T`.
    pub(super) fn word<T: Word>(&self, column: usize) -> Result<T, TableError> {
        T::from_word(self.cell(column)).ok_or_else(|| self.wrong(column, T::EXPECTED))
    }

    /// One of the words of `T`, or nothing.
    pub(super) fn word_or_none<T: Word>(&self, column: usize) -> Result<Option<T>, TableError> {
        if self.cell(column).is_empty() { Ok(None) } else { self.word(column).map(Some) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::RuntimeKind;

    const COLUMNS: &[Column] = &[required("server"), required("rows"), required("median_us"), optional("n")];

    fn read(text: &str) -> Result<Vec<(RuntimeKind, u32, f64)>, TableError> {
        let mut rows = Vec::new();
        for_each_row(text, COLUMNS, |row| {
            rows.push((row.word(0)?, row.count(1)?, row.microseconds(2)?.us()));
            Ok(())
        })?;
        Ok(rows)
    }

    #[test]
    fn columns_may_stand_in_any_order() {
        let rows = read("# measured\n rows,median_us,server\n\n4, 2.5, vllm\n").unwrap();
        assert_eq!(rows, [(RuntimeKind::Vllm, 4, Seconds::from_us(2.5).us())]);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        for (text, message) in [
            ("", "it is empty; it needs a header and at least one row"),
            ("server,rows\n", "line 1: the column `median_us` is missing; the header is `server,rows`"),
            ("server,rows,median_ms\n", "line 1: unknown column `median_ms`; did you mean `median_us`?"),
            ("server,rows,median_us\nvllm,1\n", "line 2: 2 cells, but the header has 3"),
            (
                "server,rows,median_us\ntgi,1,2\n",
                "line 2, column `server`: `tgi` is not sglang, vllm, pytorch or cuda",
            ),
            (
                "server,rows,median_us\nvllm,0,2\n",
                "line 2, column `rows`: `0` is not a whole number from 1 to 4294967295",
            ),
            (
                "server,rows,median_us\nvllm,1,-2\n",
                "line 2, column `median_us`: `-2` is not a time from 0.001 to 1e9 µs",
            ),
            (
                "server,rows,median_us\nvllm,1,NaN\n",
                "line 2, column `median_us`: `NaN` is not a time from 0.001 to 1e9 µs",
            ),
        ] {
            assert_eq!(read(text).unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn a_compressed_file_is_unpacked_and_a_damaged_one_refused() {
        use std::io::Write;
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gz.write_all(b"server,rows,median_us\n").unwrap();
        let bytes = gz.finish().unwrap();
        assert_eq!(Raw::File(Cow::Owned(bytes.clone())).text().unwrap(), "server,rows,median_us\n");
        let damaged = Raw::File(Cow::Owned(bytes[..12].to_vec()));
        assert!(matches!(damaged.text(), Err(TableError::Unpack(_))));
    }
}
