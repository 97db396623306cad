//! What can be wrong with a calibration file.

use std::fmt;

use thiserror::Error;

/// A place in the file, both numbers from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Line.
    pub line: usize,
    /// Column, in characters.
    pub column: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// Why a calibration cannot be used. Messages do not name the file: whoever opened it does.
#[derive(Debug, Error)]
pub enum CalibrationError {
    /// The file as a whole.
    #[error("{message}")]
    File {
        /// What is wrong, in a sentence.
        message: String,
    },
    /// A key or a value.
    #[error("{place}: {message}")]
    At {
        /// Where it stands.
        place: Place,
        /// What is wrong, in a sentence.
        message: String,
    },
    /// Another format or a newer version of it.
    #[error("the format is `{found}`, this version reads `{expected}`")]
    Format {
        /// What the file says.
        found: String,
        /// What can be read.
        expected: &'static str,
    },
    /// A file beside the calibration cannot be read.
    #[error("{place}: cannot read `{file}`: {source}")]
    SideFile {
        /// Where it is named.
        place: Place,
        /// The file.
        file: String,
        /// Why not.
        source: std::io::Error,
    },
    /// A table is wrong.
    #[error("table `{table}`{}{}", error.place(*.starts), error.what())]
    Table {
        /// Which table.
        table: &'static str,
        /// The line of the file in which the table starts, where it stands in it as a block.
        starts: Option<usize>,
        /// What is wrong with it.
        error: TableError,
    },
    /// A fit is wrong.
    #[error("{place}: fit {number}: {message}")]
    Fit {
        /// Where it stands.
        place: Place,
        /// Its place in the list, from 1.
        number: usize,
        /// What is wrong with it.
        message: String,
    },
}

impl CalibrationError {
    pub(super) fn file(message: impl Into<String>) -> Self {
        Self::File { message: message.into() }
    }

    pub(super) fn at(place: Place, message: impl Into<String>) -> Self {
        Self::At { place, message: message.into() }
    }
}

/// What can be wrong with one table. Lines are those of the table, the header being line 1 unless comments or empty
/// lines stand before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TableError {
    /// The compressed file is damaged, or what it holds is no text.
    Unpack(String),
    /// No header line.
    Empty,
    /// A header, and nothing below it.
    NoRows {
        /// The header.
        line: usize,
    },
    /// A required column is missing.
    MissingColumn {
        /// The header.
        line: usize,
        /// The column.
        column: &'static str,
        /// The header line.
        header: String,
    },
    /// A column that the table does not have.
    UnknownColumn {
        /// The header.
        line: usize,
        /// The column.
        column: String,
        /// A column with a similar name.
        closest: Option<&'static str>,
        /// The columns there are.
        known: String,
    },
    /// A column that the header names twice.
    RepeatedColumn {
        /// The header.
        line: usize,
        /// The column.
        column: &'static str,
    },
    /// A row with too many or too few cells.
    Cells {
        /// The row.
        line: usize,
        /// Cells found.
        found: usize,
        /// Columns of the header.
        expected: usize,
    },
    /// A cell that cannot be read.
    Cell {
        /// The row.
        line: usize,
        /// The column.
        column: &'static str,
        /// The cell.
        cell: String,
        /// What should stand there.
        expected: String,
    },
    /// A curve through no row, since all of its rows are flagged.
    OnlySpikes {
        /// Its first row.
        line: usize,
    },
    /// The same point twice.
    Duplicate {
        /// The second row.
        line: usize,
    },
}

impl TableError {
    /// The line, where one is at fault.
    pub const fn line(&self) -> Option<usize> {
        match self {
            Self::Unpack(_) | Self::Empty => None,
            Self::NoRows { line }
            | Self::MissingColumn { line, .. }
            | Self::UnknownColumn { line, .. }
            | Self::RepeatedColumn { line, .. }
            | Self::Cells { line, .. }
            | Self::Cell { line, .. }
            | Self::OnlySpikes { line }
            | Self::Duplicate { line } => Some(*line),
        }
    }

    /// The place as it follows the name of the table; `starts` is the line of the file in which the table starts.
    fn place(&self, starts: Option<usize>) -> String {
        let line = match (self.line(), starts) {
            (None, _) => String::new(),
            (Some(line), None) => format!(", line {line}"),
            (Some(line), Some(start)) => format!(", line {line} (line {} of the file)", start + line - 1),
        };
        match self {
            Self::Cell { column, .. } => format!("{line}, column `{column}`: "),
            _ => format!("{line}: "),
        }
    }

    fn what(&self) -> String {
        match self {
            Self::Unpack(why) => format!("it cannot be read: {why}"),
            Self::Empty => "it is empty; it needs a header and at least one row".to_owned(),
            Self::NoRows { .. } => "it has a header and no rows".to_owned(),
            Self::MissingColumn { column, header, .. } => {
                format!("the column `{column}` is missing; the header is `{header}`")
            }
            Self::UnknownColumn { column, closest: Some(near), .. } => {
                format!("unknown column `{column}`; did you mean `{near}`?")
            }
            Self::UnknownColumn { column, known, .. } => format!("unknown column `{column}`; known: {known}"),
            Self::RepeatedColumn { column, .. } => format!("the header names the column `{column}` twice"),
            Self::Cells { found, expected, .. } => {
                format!(
                    "{found} {}, but the header has {expected}",
                    if *found == 1 { "cell" } else { "cells" }
                )
            }
            Self::Cell { cell, expected, .. } if cell.is_empty() => {
                format!("it is empty, but must be {expected}")
            }
            Self::Cell { cell, expected, .. } => format!("`{cell}` is not {expected}"),
            Self::OnlySpikes { .. } => {
                "every row of this curve is flagged `spike`, so none is left".to_owned()
            }
            Self::Duplicate { .. } => "the same point as in an earlier line".to_owned(),
        }
    }
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.place(None).trim_start_matches([',', ' ', ':']), self.what())
    }
}

impl std::error::Error for TableError {}
