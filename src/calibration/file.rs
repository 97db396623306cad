//! The file format `specplan-calibration/1`.
//!
//! ```yaml
//! format: specplan-calibration/1
//! box: { gpu: ..., count: 8, driver: ..., nccl: ..., clocks: ..., pcie: ..., topology: ..., environment: {} }
//! provenance: { source: ..., licence: ..., command: ..., date: ... }
//! base: h200-x1                 # kernel tables of the same GPU that lie under those of this file
//! notes: [ ... ]
//! tables:                       # comma-separated blocks, a header with units in its names
//!   collectives: |
//!     op,ranks,family,mode,transport,bytes,median_us
//!     all-reduce,8,nccl,stream,p2p,1024,24.2
//! table_files: { gemm: kernels/mine/gemm.csv.gz }   # the large ones beside it
//! fits: [ { of: ..., form: ..., params: ..., range: ..., cv_error: ... } ]
//! ```
//! At least one table or fit must be there. Rows may stand in any order, a point stands once.

use std::borrow::Cow;
use std::io;
use std::sync::Arc;

use indexmap::IndexMap;

use super::block::Raw;
use super::consistency;
use super::curves;
use super::error::{CalibrationError, Place};
use super::fit;
use super::keys::{Keys, text_of, wrong};
use super::lazy::{Decode, Lazy};
use super::side_file::refused_name;
use super::tables::Tables;
use super::tree::{self, Content, Node, shown};
use super::{BoxFacts, Calibration, Provenance, presets};
use crate::diagnostic::closest;

/// The first line of every calibration file says this.
pub const FORMAT: &str = "specplan-calibration/1";

const KEYS: &[&str] = &[
    "format",
    "box",
    "provenance",
    "base",
    "notes",
    "tables",
    "table_files",
    "fits",
    "kernel_fits",
    "jitter",
];
const BOX_KEYS: &[&str] = &["gpu", "count", "driver", "nccl", "clocks", "pcie", "topology", "environment"];
const TABLES: &[&str] = &["collectives", "gemm", "attention", "mla", "moe", "launch", "links", "stream"];

type Result<T> = std::result::Result<T, CalibrationError>;

/// Reads a calibration. Files that it names are asked of `side_files`, by the name that stands in the file; a name
/// that is not found there may be that of a table that ships with specplan (`kernels/rtx-pro-6000/gemm.csv.gz`).
/// Names that lead out of the folder of the calibration are not asked for; how much is read of a file is up to
/// `side_files`, for which [`read_side_file`](super::read_side_file) is made.
///
/// # Errors
/// Anything that the file or a table does not say as the format asks; the first fault is reported.
pub fn parse(
    name: &str,
    yaml_text: &str,
    side_files: &dyn Fn(&str) -> io::Result<Vec<u8>>,
) -> Result<Calibration> {
    let find = |file: &str| match side_files(file) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => presets::side_file(file).map(Cow::Borrowed).ok_or(e),
        found => found.map(Cow::Owned),
    };
    read(&Reading { name, find: &find, trusted: false }, yaml_text)
}

/// Reads a calibration whose tables a test has decoded.
pub(super) fn parse_trusted(name: &str, yaml_text: &str) -> Result<Calibration> {
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

fn read(reading: &Reading, yaml_text: &str) -> Result<Calibration> {
    let tree = tree::parse(yaml_text)?;
    check_format(&tree)?;
    let keys = Keys::of("", &tree, KEYS)?;
    let mut notes = texts(keys.list("notes", "a list of texts")?, "notes")?;
    let facts = facts(Keys::of("box", keys.needed("box", "the box that was measured")?, BOX_KEYS)?)?;
    notes.extend(facts.unknown_gpu());
    let source = keys.needed("provenance", "where the numbers come from")?;
    let provenance = provenance(Keys::of("provenance", source, &["source", "licence", "command", "date"])?)?;
    let (base, lent) = base(keys, &facts)?;
    let per_table = |key| keys.get(key).map(|node| Keys::of(key, node, TABLES)).transpose();
    let (blocks, files) = (per_table("tables")?, per_table("table_files")?);
    let fits = fit::read_all(keys.list("fits", "a list of fits")?)?;
    let kernel_fits = curves::read_kernels(keys.list("kernel_fits", "a list of fits")?)?;
    let jitter = curves::read_jitter(keys.list("jitter", "a list of distributions")?)?;
    let calibration = Calibration {
        name: reading.name.to_owned(),
        facts: Some(facts),
        provenance,
        base,
        notes,
        tables: Tables {
            collectives: reading.table("collectives", blocks, files)?,
            gemm: reading.table("gemm", blocks, files)?,
            attention: reading.table("attention", blocks, files)?,
            mla: reading.table("mla", blocks, files)?,
            moe: reading.table("moe", blocks, files)?,
            launch: reading.table("launch", blocks, files)?,
            links: reading.table("links", blocks, files)?,
            stream: reading.table("stream", blocks, files)?,
            base: lent,
        },
        fits,
        kernel_fits,
        jitter,
    };
    if calibration.fits.is_empty() && calibration.tables.names().next().is_none() {
        return Err(CalibrationError::file("the calibration holds neither a table nor a fit"));
    }
    if !reading.trusted {
        consistency::check(&calibration)?;
    }
    Ok(calibration)
}

/// The calibration that lends its kernel tables, and those tables. Collectives, launch costs and fits belong to the box
/// and are not lent.
fn base(keys: Keys, facts: &BoxFacts) -> Result<(Option<String>, Option<Arc<Tables>>)> {
    let takes = "the name of a calibration that ships with specplan";
    let Some(node) = keys.get("base") else { return Ok((None, None)) };
    let name = text_of(node, "base", takes)?;
    let Some(lender) = presets::preset(name) else {
        let names = presets::preset_entries().iter().map(|entry| entry.name);
        let hint = closest(name, names)
            .map_or_else(|| format!("it takes {takes}"), |near| format!("did you mean `{near}`?"));
        return Err(CalibrationError::at(node.place, format!("`base` cannot be `{}`; {hint}", shown(name))));
    };
    let gpu = lender.facts.map(|facts| facts.gpu).unwrap_or_default();
    if gpu != facts.gpu {
        let message = format!(
            "`base` is `{name}`, measured on `{gpu}`, and the box has `{}`: kernels of another GPU lend no times",
            shown(&facts.gpu)
        );
        return Err(CalibrationError::at(node.place, message));
    }
    let Tables { gemm, attention, mla, moe, .. } = lender.tables;
    let kernels = Tables { gemm, attention, mla, moe, ..Tables::default() };
    Ok((Some(name.to_owned()), Some(Arc::new(kernels))))
}

/// A newer format may have other keys: it is said before they are.
fn check_format(tree: &Node) -> Result<()> {
    let Content::Map(entries) = &tree.content else { return Ok(()) };
    let format = entries.iter().find(|entry| entry.key == "format");
    let takes = format!("`{FORMAT}`");
    match format {
        None => {
            Err(CalibrationError::at(tree.place, format!("the key `format` is missing; it takes {takes}")))
        }
        Some(entry) => match text_of(&entry.value, "format", &takes)? {
            FORMAT => Ok(()),
            other => Err(CalibrationError::Format { found: shown(other), expected: FORMAT }),
        },
    }
}

fn facts(keys: Keys) -> Result<BoxFacts> {
    let mut environment = IndexMap::new();
    for entry in keys.free("environment", "NCCL_* variables with their values")? {
        let rest = entry.key.strip_prefix("NCCL_").unwrap_or_default();
        if rest.is_empty() || !rest.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
        {
            let message = format!("`environment` holds NCCL_* variables only, not `{}`", shown(&entry.key));
            return Err(CalibrationError::at(entry.place, message));
        }
        let value = text_of(&entry.value, &entry.key, "a text or a number")?;
        environment.insert(entry.key.clone(), value.to_owned());
    }
    Ok(BoxFacts {
        gpu: keys.text("gpu", "the name of a GPU preset")?.to_owned(),
        count: keys.whole("count", 1..=MOST_RANKS)?,
        driver: keys.text_or_none("driver")?,
        nccl: keys.text_or_none("nccl")?,
        clocks: keys.text_or_none("clocks")?,
        pcie: keys.text_or_none("pcie")?,
        topology: keys.text_or_none("topology")?,
        environment,
    })
}

/// The most GPUs of a measured box, and the most ranks of a measured collective \[B\].
pub(super) const MOST_RANKS: u32 = 1024;

fn provenance(keys: Keys) -> Result<Provenance> {
    Ok(Provenance {
        source: keys.text("source", "the paper, package or repository with its version")?.to_owned(),
        licence: keys.text("licence", "the licence of the numbers")?.to_owned(),
        command: keys.text_or_none("command")?,
        date: keys.text_or_none("date")?,
    })
}

fn texts(nodes: &[Node], key: &str) -> Result<Vec<String>> {
    nodes.iter().map(|node| text_of(node, key, "a list of texts").map(str::to_owned)).collect()
}

impl Reading<'_> {
    fn table<T: Decode>(
        &self,
        table: &'static str,
        blocks: Option<Keys>,
        files: Option<Keys>,
    ) -> Result<Option<Lazy<T>>> {
        let block = blocks.and_then(|blocks| blocks.get(table));
        let file = files.and_then(|files| files.get(table));
        let (raw, starts) = match (block, file) {
            (None, None) => return Ok(None),
            (Some(_), Some(file)) => {
                let message = format!("table `{table}` stands both in `tables` and in `table_files`");
                return Err(CalibrationError::at(file.place, message));
            }
            (Some(node), None) => match &node.content {
                Content::Text(text) => (Raw::Text(text.clone()), node.block),
                _ => return Err(wrong(node, table, "comma-separated text after a `|`")),
            },
            (None, Some(node)) => match &node.content {
                Content::Text(name) => (Raw::File(self.side_file(name, node.place)?), None),
                _ => return Err(wrong(node, table, "the name of a file")),
            },
        };
        if self.trusted {
            return Ok(Some(Lazy::trusted(raw)));
        }
        let checked = Lazy::checked(raw);
        checked.map(Some).map_err(|error| CalibrationError::Table { table, starts, error })
    }

    fn side_file(&self, name: &str, place: Place) -> Result<Cow<'static, [u8]>> {
        if let Some(why) = refused_name(name) {
            return Err(CalibrationError::at(place, format!("the file name `{}` {why}", shown(name))));
        }
        let found = (self.find)(name);
        found.map_err(|source| CalibrationError::SideFile { place, file: shown(name), source })
    }
}

#[cfg(test)]
mod tests;
