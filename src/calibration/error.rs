//! What can be wrong with a calibration file.

use thiserror::Error;

/// Why a calibration cannot be used.
#[derive(Debug, Error)]
pub enum CalibrationError {
    /// The file is not the YAML that the format asks for.
    #[error("calibration `{name}`: {message}")]
    Yaml {
        /// Name or path of the file.
        name: String,
        /// The parser's message, with line and column.
        message: String,
    },
    /// Another format or a newer version of it.
    #[error("calibration `{name}`: format is `{found}`, this version reads `{expected}`")]
    Format {
        /// Name or path of the file.
        name: String,
        /// What the file says.
        found: String,
        /// What can be read.
        expected: &'static str,
    },
    /// A file beside the calibration cannot be read.
    #[error("calibration `{name}`: cannot read `{file}`: {source}")]
    SideFile {
        /// Name or path of the calibration.
        name: String,
        /// The file that it names.
        file: String,
        /// Why not.
        source: std::io::Error,
    },
    /// A table is wrong.
    #[error("calibration `{name}`, table `{table}`: {error}")]
    Table {
        /// Name or path of the file.
        name: String,
        /// Which table.
        table: &'static str,
        /// What is wrong with it.
        error: TableError,
    },
    /// A table given twice, as a block and as a file.
    #[error("calibration `{name}`: table `{table}` stands both in `tables` and in `table_files`")]
    Twice {
        /// Name or path of the file.
        name: String,
        /// Which table.
        table: &'static str,
    },
    /// A fit is wrong.
    #[error("calibration `{name}`, fit {number}: {message}")]
    Fit {
        /// Name or path of the file.
        name: String,
        /// Its place in the list, from 1.
        number: usize,
        /// What is wrong with it.
        message: String,
    },
}

/// What can be wrong with one table.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
pub enum TableError {
    /// The compressed file is damaged, or the text is not UTF-8.
    #[error("cannot be unpacked: {0}")]
    Unpack(String),
    /// No header line.
    #[error("is empty: a header line is needed")]
    Empty,
    /// A required column is missing.
    #[error("has no column `{column}`; its header is `{header}`")]
    MissingColumn {
        /// The column.
        column: &'static str,
        /// The header line.
        header: String,
    },
    /// A column that the table does not have.
    #[error("has an unknown column `{column}`; known: {known}")]
    UnknownColumn {
        /// The column.
        column: String,
        /// The columns there are.
        known: String,
    },
    /// A row with too many or too few cells.
    #[error("line {line}: {found} cells, {expected} expected")]
    Cells {
        /// Line of the table, the header being line 1.
        line: usize,
        /// Cells found.
        found: usize,
        /// Columns of the header.
        expected: usize,
    },
    /// A cell that cannot be read.
    #[error("line {line}, column `{column}`: `{cell}` is not {expected}")]
    Cell {
        /// Line of the table, the header being line 1.
        line: usize,
        /// The column.
        column: &'static str,
        /// The cell.
        cell: String,
        /// What should stand there.
        expected: &'static str,
    },
    /// The same point twice.
    #[error("line {line}: the same point as an earlier line")]
    Duplicate {
        /// Line of the table, the header being line 1.
        line: usize,
    },
}
