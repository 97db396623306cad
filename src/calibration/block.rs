//! A table as text: comma-separated, a header that names the columns with their units, no quoting.
//!
//! Lines that start with `#` and empty lines are skipped. Times are in columns that end in `_us`.

use std::borrow::Cow;
use std::io::Read;

use super::error::TableError;
use super::words::Word;
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
        let unpack = |e: &dyn std::fmt::Display| TableError::Unpack(e.to_string());
        match self {
            Self::Text(text) => Ok(Cow::Borrowed(text)),
            Self::File(bytes) if bytes.starts_with(&[0x1f, 0x8b]) => {
                let mut text = String::with_capacity(bytes.len() * 6);
                flate2::read::GzDecoder::new(&**bytes)
                    .take(MOST_TEXT)
                    .read_to_string(&mut text)
                    .map_err(|e| unpack(&e))?;
                if text.len() as u64 == MOST_TEXT {
                    return Err(unpack(&"it is larger than 64 MiB"));
                }
                Ok(Cow::Owned(text))
            }
            Self::File(bytes) => std::str::from_utf8(bytes).map(Cow::Borrowed).map_err(|e| unpack(&e)),
        }
    }
}

/// The longest table that is read \[B\], against files that unpack to more than memory holds.
const MOST_TEXT: u64 = 64 << 20;

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
    let mut lines = text.lines().enumerate().filter(|(_, line)| is_content(line));
    let (_, header) = lines.next().ok_or(TableError::Empty)?;
    let places = places(header, columns)?;
    let width = header.split(',').count();
    let mut cells = Vec::with_capacity(width);
    for (at, line) in lines {
        cells.clear();
        cells.extend(line.split(',').map(str::trim));
        if cells.len() != width {
            return Err(TableError::Cells { line: at + 1, found: cells.len(), expected: width });
        }
        each(&Row { line: at + 1, cells: &cells, columns, places: &places })?;
    }
    Ok(())
}

/// For each known column its place in the header.
fn places(header: &str, columns: &'static [Column]) -> Result<Vec<Option<usize>>, TableError> {
    let names: Vec<&str> = header.split(',').map(str::trim).collect();
    if let Some(unknown) = names.iter().find(|n| !columns.iter().any(|c| c.name == **n)) {
        let known: Vec<_> = columns.iter().map(|c| c.name).collect();
        return Err(TableError::UnknownColumn { column: (*unknown).to_owned(), known: known.join(", ") });
    }
    let places: Vec<_> = columns.iter().map(|c| names.iter().position(|n| *n == c.name)).collect();
    match columns.iter().zip(&places).find(|(c, p)| c.required && p.is_none()) {
        Some((c, _)) => Err(TableError::MissingColumn { column: c.name, header: header.trim().to_owned() }),
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

    fn wrong(&self, column: usize, expected: &'static str) -> TableError {
        let cell = self.cell(column).to_owned();
        TableError::Cell { line: self.line, column: self.columns[column].name, cell, expected }
    }

    /// A whole number of at least 1.
    pub(super) fn count(&self, column: usize) -> Result<u32, TableError> {
        let count = self.cell(column).parse().ok().filter(|n| *n > 0);
        count.ok_or_else(|| self.wrong(column, "a whole number from 1 to 4,294,967,295"))
    }

    /// A time in microseconds, larger than zero.
    pub(super) fn microseconds(&self, column: usize) -> Result<Seconds, TableError> {
        let time = self.cell(column).parse().ok().filter(|t: &f64| t.is_finite() && *t > 0.0);
        time.map(Seconds::from_us).ok_or_else(|| self.wrong(column, "a time in µs, larger than 0"))
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
            ("", "is empty: a header line is needed"),
            ("server,rows\n", "has no column `median_us`; its header is `server,rows`"),
            (
                "server,rows,median_ms\n",
                "has an unknown column `median_ms`; known: server, rows, median_us, n",
            ),
            ("server,rows,median_us\nvllm,1\n", "line 2: 2 cells, 3 expected"),
            (
                "server,rows,median_us\ntgi,1,2\n",
                "line 2, column `server`: `tgi` is not sglang, vllm, pytorch or cuda",
            ),
            (
                "server,rows,median_us\nvllm,0,2\n",
                "line 2, column `rows`: `0` is not a whole number from 1 to 4,294,967,295",
            ),
            (
                "server,rows,median_us\nvllm,1,-2\n",
                "line 2, column `median_us`: `-2` is not a time in µs, larger than 0",
            ),
            (
                "server,rows,median_us\nvllm,1,NaN\n",
                "line 2, column `median_us`: `NaN` is not a time in µs, larger than 0",
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
