//! The journal of a run: one line of JSON per result, written before the next task begins and on disk soon after, so that
//! a run that ends early keeps what it has and `--resume` goes on from there. A last line that was cut short is dropped.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::plan::{Part, Variant};
use super::reply::{Failure, FailureKind, Inspection, Measured};
use super::rows::TableRow;
use super::task::Task;

/// The first line of every journal says this.
pub const JOURNAL: &str = "specplan-calibrate/1";

/// The first line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// [`JOURNAL`].
    pub journal: String,
    /// Version of specplan that wrote it.
    pub tool: String,
    /// The box.
    pub found: Inspection,
    /// NCCL_* variables that were set, as the file may name them.
    pub environment: Vec<(String, String)>,
}

/// One result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The part of the plan.
    pub part: Part,
    /// The environment of the child.
    pub variant: Variant,
    /// The task as planned.
    pub planned: Task,
    /// The task as measured, where memory allowed a smaller one only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead: Option<Task>,
    /// What came of it.
    pub result: Result<Measured, Failure>,
}

impl Record {
    /// The task that was measured.
    pub fn task(&self) -> &Task {
        self.instead.as_ref().unwrap_or(&self.planned)
    }

    /// Whether a resumed run need not try again: it was measured, or cannot be.
    pub fn settled(&self) -> bool {
        match &self.result {
            Ok(_) => true,
            Err(failure) => failure.kind == FailureKind::Unsupported,
        }
    }
}

/// Why a journal cannot be read.
#[derive(Debug, Error)]
pub enum JournalError {
    /// The file.
    #[error("it cannot be read: {0}")]
    Io(#[from] io::Error),
    /// The first line.
    #[error("its first line is not that of a journal of calibrate")]
    NoJournal,
    /// Another version.
    #[error("it is a journal `{0}`, this version reads `{JOURNAL}`")]
    Version(String),
    /// A line before the last one.
    #[error("line {0} is damaged")]
    Damaged(usize),
}

/// What a journal holds below its header.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Kept {
    /// Results of tasks.
    pub records: Vec<Record>,
    /// Rows of the user's PyTorch; empty: it has not run yet.
    pub others: Vec<TableRow>,
}

/// A line below the header.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Line {
    Task(Box<Record>),
    Pytorch(Vec<TableRow>),
}

/// Reads a journal. Of records for one task the last counts.
///
/// # Errors
/// See [`JournalError`]; a damaged last line is none.
pub fn read(path: &Path) -> Result<(Header, Kept), JournalError> {
    let bytes = std::fs::read(path)?;
    let text = String::from_utf8_lossy(&bytes);
    let mut lines = text.lines().enumerate();
    let header = lines.next().map(|(_, line)| line).unwrap_or_default();
    let version: serde_json::Value = serde_json::from_str(header).map_err(|_| JournalError::NoJournal)?;
    match version.get("journal").and_then(|v| v.as_str()) {
        Some(JOURNAL) => {}
        Some(other) => return Err(JournalError::Version(other.chars().take(60).collect())),
        None => return Err(JournalError::NoJournal),
    }
    let header: Header = serde_json::from_str(header).map_err(|_| JournalError::Damaged(1))?;
    let last = text.lines().count();
    let mut kept = Kept::default();
    for (at, line) in lines {
        match serde_json::from_str(line) {
            Ok(Line::Task(record)) => add(&mut kept.records, *record),
            Ok(Line::Pytorch(rows)) => kept.others = rows,
            Err(_) if at + 1 == last => {}
            Err(_) => return Err(JournalError::Damaged(at + 1)),
        }
    }
    Ok((header, kept))
}

/// Adds a record in the place of an earlier one of the same task.
pub fn add(records: &mut Vec<Record>, record: Record) {
    let same =
        |r: &Record| r.planned == record.planned && r.variant == record.variant && r.part == record.part;
    match records.iter().position(same) {
        Some(at) => records[at] = record,
        None => records.push(record),
    }
}

/// A journal that is being written.
#[derive(Debug)]
pub struct Journal {
    file: File,
    synced: Instant,
}

/// How long a line may stay in the system's cache: a disk may take longer to write it than the GPU to measure it.
const SOON: Duration = Duration::from_millis(200);

impl Journal {
    /// Begins anew with a header and what is known already. The old file stays until the new one is whole.
    ///
    /// # Errors
    /// Writing fails.
    pub fn create(path: &Path, header: &Header, kept: &Kept) -> io::Result<Self> {
        let draft = path.with_extension("jsonl.new");
        let mut journal = Self { file: File::create(&draft)?, synced: Instant::now() };
        journal.line(header)?;
        for record in &kept.records {
            journal.line(&Line::Task(Box::new(record.clone())))?;
        }
        if !kept.others.is_empty() {
            journal.line(&Line::Pytorch(kept.others.clone()))?;
        }
        journal.sync()?;
        std::fs::rename(&draft, path)?;
        Ok(journal)
    }

    /// Adds a record. It outlives this process when this returns, and the machine a moment later.
    ///
    /// # Errors
    /// Writing fails.
    pub fn append(&mut self, record: &Record) -> io::Result<()> {
        self.line(&Line::Task(Box::new(record.clone())))?;
        if self.synced.elapsed() > SOON { self.sync() } else { Ok(()) }
    }

    /// Adds the rows of the user's PyTorch.
    ///
    /// # Errors
    /// Writing fails.
    pub fn append_others(&mut self, rows: &[TableRow]) -> io::Result<()> {
        self.line(&Line::Pytorch(rows.to_vec()))?;
        self.sync()
    }

    /// Brings everything to the disk.
    ///
    /// # Errors
    /// Writing fails.
    pub fn sync(&mut self) -> io::Result<()> {
        self.synced = Instant::now();
        self.file.sync_data()
    }

    fn line(&mut self, value: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_string(value)?;
        line.push('\n');
        self.file.write_all(line.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::measure::Meter as _;
    use crate::calibration::measure::reply::Check;
    use crate::calibration::measure::rows::row_of;
    use crate::calibration::measure::synthetic::Synthetic;
    use crate::collective::Transport;

    fn header() -> Header {
        Header {
            journal: JOURNAL.to_owned(),
            tool: "0".to_owned(),
            found: Synthetic::parse("").unwrap().inspect().unwrap(),
            environment: Vec::new(),
        }
    }

    fn record(bytes: u64, us: f64) -> Record {
        Record {
            part: Part::Memory,
            variant: Variant {
                environment: Vec::new(),
                algorithm: None,
                protocol: None,
                transport: Transport::Shm,
            },
            planned: Task::Stream { bytes },
            instead: None,
            result: Ok(Measured { samples_us: vec![us], check: Check::Exact, notes: Vec::new() }),
        }
    }

    fn kept(records: Vec<Record>) -> Kept {
        Kept { records, others: Vec::new() }
    }

    #[test]
    fn what_was_written_is_read_and_the_last_word_counts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.partial.jsonl");
        let mut journal = Journal::create(&path, &header(), &kept(vec![record(1, 2.0)])).unwrap();
        journal.append(&record(2, 0.1)).unwrap();
        journal.append(&record(1, 3.5)).unwrap();
        let row = row_of(&record(9, 4.0)).unwrap();
        journal.append_others(std::slice::from_ref(&row)).unwrap();
        let (read_header, read) = read(&path).unwrap();
        assert_eq!(read_header, header());
        assert_eq!(read, Kept { records: vec![record(1, 3.5), record(2, 0.1)], others: vec![row] });
    }

    #[test]
    fn a_line_cut_short_is_dropped_at_the_end_and_a_fault_elsewhere() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("j");
        Journal::create(&path, &header(), &kept(vec![record(1, 2.0), record(2, 2.0)])).unwrap();
        let whole = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() - 20]).unwrap();
        assert_eq!(read(&path).unwrap().1, kept(vec![record(1, 2.0)]));
        let damaged = whole.replacen("\"planned\"", "\"planed\"", 1);
        std::fs::write(&path, damaged).unwrap();
        assert_eq!(read(&path).unwrap_err().to_string(), "line 2 is damaged");
    }

    #[test]
    fn other_files_are_refused_with_a_sentence() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("j");
        for (text, message) in [
            ("", "its first line is not that of a journal of calibrate"),
            ("format: x\n", "its first line is not that of a journal of calibrate"),
            (
                "{\"journal\":\"specplan-calibrate/9\"}\n",
                "it is a journal `specplan-calibrate/9`, this version reads `specplan-calibrate/1`",
            ),
        ] {
            std::fs::write(&path, text).unwrap();
            assert_eq!(read(&path).unwrap_err().to_string(), message);
        }
    }
}
