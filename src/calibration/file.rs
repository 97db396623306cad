//! The file format `specplan-calibration/1`.
//!
//! ```yaml
//! format: specplan-calibration/1
//! box: { gpu: ..., count: 8, driver: ..., nccl: ..., clocks: ..., pcie: ..., topology: ..., environment: {} }
//! provenance: { source: ..., licence: ..., command: ..., date: ... }
//! notes: [ ... ]
//! tables:                       # comma-separated blocks, a header with units in its names
//!   collectives: |
//!     op,ranks,family,mode,transport,bytes,median_us
//!     all-reduce,8,nccl,stream,p2p,1024,24.2
//! table_files: { gemm: kernels/mine/gemm.csv.gz }   # the large ones beside it
//! fits: [ { of: ..., form: ..., params: ..., range: ..., cv_error: ... } ]
//! ```

use std::borrow::Cow;
use std::io;

use serde::Deserialize;

use super::block::Raw;
use super::error::CalibrationError;
use super::fit::Fit;
use super::lazy::{Decode, Lazy};
use super::tables::Tables;
use super::{BoxFacts, Calibration, Provenance, presets};

/// The first line of every calibration file says this.
pub const FORMAT: &str = "specplan-calibration/1";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: String,
    #[serde(rename = "box")]
    facts: BoxFacts,
    provenance: Provenance,
    #[serde(default)]
    notes: Vec<String>,
    #[serde(default)]
    tables: PerTable,
    #[serde(default)]
    table_files: PerTable,
    #[serde(default)]
    fits: Vec<Fit>,
}

/// The text of each table, or the name of the file that holds it.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct PerTable {
    collectives: Option<String>,
    gemm: Option<String>,
    attention: Option<String>,
    mla: Option<String>,
    moe: Option<String>,
}

/// The version of a file that cannot be read otherwise.
#[derive(Deserialize)]
struct Version {
    format: String,
}

/// Reads a calibration. Files that it names are asked of `side_files`, by the name that stands in the file; a name
/// that is not found there may be that of a table that ships with specplan (`kernels/rtx-pro-6000/gemm.csv.gz`).
///
/// # Errors
/// Anything that the file or a table does not say as the format asks.
pub fn parse(
    name: &str,
    yaml_text: &str,
    side_files: &dyn Fn(&str) -> io::Result<Vec<u8>>,
) -> Result<Calibration, CalibrationError> {
    let find = |file: &str| match side_files(file) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => presets::side_file(file).map(Cow::Borrowed).ok_or(e),
        found => found.map(Cow::Owned),
    };
    read(&Reading { name, find: &find, trusted: false }, yaml_text)
}

/// Reads a calibration whose tables a test has decoded.
pub(super) fn parse_trusted(name: &str, yaml_text: &str) -> Result<Calibration, CalibrationError> {
    let find = |file: &str| {
        presets::side_file(file).map(Cow::Borrowed).ok_or_else(|| io::ErrorKind::NotFound.into())
    };
    read(&Reading { name, find: &find, trusted: true }, yaml_text)
}

struct Reading<'a> {
    name: &'a str,
    find: &'a dyn Fn(&str) -> io::Result<Cow<'static, [u8]>>,
    trusted: bool,
}

fn read(reading: &Reading, yaml_text: &str) -> Result<Calibration, CalibrationError> {
    let name = || reading.name.to_owned();
    let file: File = serde_yaml::from_str(yaml_text).map_err(|error| {
        match serde_yaml::from_str::<Version>(yaml_text) {
            Ok(Version { format }) if format != FORMAT => other_format(reading.name, format),
            _ => CalibrationError::Yaml { name: name(), message: error.to_string() },
        }
    })?;
    if file.format != FORMAT {
        return Err(other_format(reading.name, file.format));
    }
    for (at, fit) in file.fits.iter().enumerate() {
        if let Some(message) = fit.fault() {
            return Err(CalibrationError::Fit { name: name(), number: at + 1, message });
        }
    }
    let (blocks, files) = (file.tables, file.table_files);
    Ok(Calibration {
        name: name(),
        facts: Some(file.facts),
        provenance: file.provenance,
        notes: file.notes,
        tables: Tables {
            collectives: reading.table("collectives", blocks.collectives, files.collectives)?,
            gemm: reading.table("gemm", blocks.gemm, files.gemm)?,
            attention: reading.table("attention", blocks.attention, files.attention)?,
            mla: reading.table("mla", blocks.mla, files.mla)?,
            moe: reading.table("moe", blocks.moe, files.moe)?,
        },
        fits: file.fits,
    })
}

fn other_format(name: &str, found: String) -> CalibrationError {
    CalibrationError::Format { name: name.to_owned(), found, expected: FORMAT }
}

impl Reading<'_> {
    fn table<T: Decode>(
        &self,
        table: &'static str,
        block: Option<String>,
        file: Option<String>,
    ) -> Result<Option<Lazy<T>>, CalibrationError> {
        let name = || self.name.to_owned();
        let raw = match (block, file) {
            (None, None) => return Ok(None),
            (Some(_), Some(_)) => return Err(CalibrationError::Twice { name: name(), table }),
            (Some(text), None) => Raw::Text(text),
            (None, Some(file)) => match (self.find)(&file) {
                Ok(bytes) => Raw::File(bytes),
                Err(source) => return Err(CalibrationError::SideFile { name: name(), file, source }),
            },
        };
        if self.trusted {
            return Ok(Some(Lazy::trusted(raw)));
        }
        let checked = Lazy::checked(raw);
        checked.map(Some).map_err(|error| CalibrationError::Table { name: name(), table, error })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::{Family, Mode};
    use crate::collective::Transport;
    use crate::runtime::CollectiveOp;
    use crate::units::Bytes;

    const HEAD: &str = "format: specplan-calibration/1\n\
        box: { gpu: rtx-pro-6000, count: 8 }\n\
        provenance: { source: a test, licence: none }\n";

    fn none(_: &str) -> io::Result<Vec<u8>> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn message(yaml: &str) -> String {
        parse("mine.yaml", yaml, &none).unwrap_err().to_string()
    }

    #[test]
    fn a_block_and_a_file_are_read() {
        let yaml = format!(
            "{HEAD}tables:\n  collectives: |\n    op,ranks,family,mode,transport,bytes,median_us\n    \
             all-reduce,8,nccl,stream,p2p,1024,24.2\ntable_files: {{ gemm: g.csv }}\n"
        );
        let gemm = |_: &str| Ok(b"server,weights,n,k,rows,median_us\nvllm,bf16,64,64,1,2\n".to_vec());
        let calibration = parse("mine.yaml", &yaml, &gemm).unwrap();
        assert_eq!(calibration.tables.names().collect::<Vec<_>>(), ["collectives", "gemm"]);
        let (op, transport) = (CollectiveOp::AllReduce, Transport::P2p);
        let found = calibration.collective(op, 8, Family::Nccl, Mode::Graph, transport, Bytes::new(1024.0));
        assert!((found.unwrap().time.us() - 24.2).abs() < 1e-9);
        let eager = calibration.collective(op, 8, Family::Nccl, Mode::Eager, transport, Bytes::new(1024.0));
        assert_eq!(eager, None);
    }

    #[test]
    fn a_table_that_ships_can_be_named() {
        let yaml = format!("{HEAD}table_files: {{ gemm: kernels/rtx-pro-6000/gemm.csv.gz }}\n");
        assert!(parse("mine.yaml", &yaml, &none).is_ok());
    }

    #[test]
    fn what_is_wrong_is_said() {
        assert_eq!(
            message("format: specplan-calibration/2\nanything: else\n"),
            "calibration `mine.yaml`: format is `specplan-calibration/2`, this version reads \
             `specplan-calibration/1`"
        );
        assert_eq!(
            message(&format!("{HEAD}tables: {{ gemm: 'server,weights' }}\n")),
            "calibration `mine.yaml`, table `gemm`: has no column `n`; its header is `server,weights`"
        );
        assert!(
            message(&format!("{HEAD}table_files: {{ gemm: g.csv }}\n"))
                .starts_with("calibration `mine.yaml`: cannot read `g.csv`: ")
        );
        assert_eq!(
            message(&format!("{HEAD}tables: {{ moe: a }}\ntable_files: {{ moe: b }}\n")),
            "calibration `mine.yaml`: table `moe` stands both in `tables` and in `table_files`"
        );
        assert!(message(&format!("{HEAD}tabels: {{}}\n")).contains("tabels"));
        let fit = "{ of: { op: all-reduce, ranks: 8, family: one-shot, transport: p2p }, form: alpha-beta, \
             params: { alpha_us: 6.9, beta_us_per_kib: [] }, range: { from_bytes: 512, to_bytes: 4096 } }";
        assert_eq!(
            message(&format!("{HEAD}fits: [ {fit} ]\n")),
            "calibration `mine.yaml`, fit 1: 0 slopes are given, 1 needed"
        );
    }
}
