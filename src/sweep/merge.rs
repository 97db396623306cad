//! Whether files of shards make a whole sweep, and in which order.
//!
//! The first line of such a file says what it is a part of ([`Part`] reads it); behind it stand the same lines as those of
//! the whole: the heading of a CSV, then a line per point.

use std::io::{self, BufRead};

use serde_json::Value;

/// What a file of a shard says about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The name of the file, for messages.
    pub name: String,
    /// The sweep.
    pub id: String,
    /// `csv` or `json`.
    pub format: String,
    /// Which one, from 1.
    pub shard: u64,
    /// How many there are.
    pub of: u64,
    /// Rows that it should have.
    pub rows: u64,
    /// Rows of all shards together.
    pub total: u64,
    /// Rows that it has.
    pub found: u64,
    /// Whether its last line is whole.
    pub ended: bool,
    /// The heading, of a CSV.
    pub heading: Option<String>,
}

/// Why files are not one sweep.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// A file that cannot be read.
    #[error("cannot read {0}: {1}")]
    Read(String, io::Error),
    /// No shard.
    #[error("{0} is no shard of a sweep: its first line does not say so (`sweep --shard i/n` writes it)")]
    NoShard(String),
    /// Two files of two sweeps.
    #[error(
        "{first} and {second} belong to different sweeps: the scenario, the axes, the columns, the format or the version of \
         specplan differ"
    )]
    Different {
        /// One.
        first: String,
        /// The other.
        second: String,
    },
    /// A shard twice.
    #[error("shard {shard}/{of} stands in two files: {first} and {second}")]
    Doubled {
        /// Which one.
        shard: u64,
        /// How many there are.
        of: u64,
        /// One.
        first: String,
        /// The other.
        second: String,
    },
    /// Shards that no file holds.
    #[error("shards are missing: {0}")]
    Missing(String),
    /// A file that ends early, or holds too much.
    #[error("{name} holds {found} of the {rows} rows of its shard: run shard {shard}/{of} again")]
    Short {
        /// The file.
        name: String,
        /// Rows that it has.
        found: u64,
        /// Rows that it should have.
        rows: u64,
        /// Which one.
        shard: u64,
        /// How many there are.
        of: u64,
    },
}

/// Reads a file of a shard to its end.
///
/// # Errors
/// A file that cannot be read, or is no shard.
pub fn read_part(name: &str, mut file: impl BufRead) -> Result<Part, MergeError> {
    let mut line = Vec::new();
    let mut next = |line: &mut Vec<u8>| {
        line.clear();
        file.read_until(b'\n', line).map_err(|error| MergeError::Read(name.to_owned(), error))
    };
    next(&mut line)?;
    let no_shard = || MergeError::NoShard(name.to_owned());
    let mut part = parse(name, &String::from_utf8_lossy(&line)).ok_or_else(no_shard)?;
    if part.format == "csv" {
        next(&mut line)?;
        part.heading = Some(String::from_utf8_lossy(&line).into_owned());
    }
    while next(&mut line)? > 0 {
        part.found += 1;
        part.ended = line.ends_with(b"\n");
    }
    Ok(part)
}

/// The first line: JSON, behind `# ` in a CSV.
fn parse(name: &str, line: &str) -> Option<Part> {
    let format = if line.starts_with('#') { "csv" } else { "json" };
    let line: Value = serde_json::from_str(line.trim_start_matches('#').trim()).ok()?;
    let about = line.get("specplan_sweep")?;
    let number = |key: &str| about.get(key).and_then(Value::as_u64);
    Some(Part {
        name: name.to_owned(),
        id: about.get("id")?.as_str()?.to_owned(),
        format: format.to_owned(),
        shard: number("shard")?,
        of: number("of")?,
        rows: number("rows")?,
        total: number("total")?,
        found: 0,
        ended: true,
        heading: None,
    })
}

/// The order in which the files make the whole.
///
/// # Errors
/// What is wrong with them.
pub fn check_parts(parts: &[Part]) -> Result<Vec<usize>, MergeError> {
    let Some(first) = parts.first() else { return Ok(Vec::new()) };
    let same = |part: &Part| {
        (&part.id, &part.format, part.of, part.total, &part.heading)
            == (&first.id, &first.format, first.of, first.total, &first.heading)
    };
    if let Some(other) = parts.iter().find(|part| !same(part)) {
        return Err(MergeError::Different { first: first.name.clone(), second: other.name.clone() });
    }
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by_key(|at| parts[*at].shard);
    if let Some(pair) = order.windows(2).find(|pair| parts[pair[0]].shard == parts[pair[1]].shard) {
        let (one, two) = (&parts[pair[0]], &parts[pair[1]]);
        let (shard, of) = (one.shard, one.of);
        return Err(MergeError::Doubled { shard, of, first: one.name.clone(), second: two.name.clone() });
    }
    let missing: Vec<String> = (1..=first.of)
        .filter(|shard| order.binary_search_by_key(shard, |at| parts[*at].shard).is_err())
        .map(|shard| format!("{shard}/{}", first.of))
        .collect();
    if !missing.is_empty() {
        return Err(MergeError::Missing(listed(&missing)));
    }
    if let Some(short) = parts.iter().find(|part| part.found != part.rows || !part.ended) {
        let found = if short.ended { short.found } else { short.found.saturating_sub(1) };
        let Part { name, rows, shard, of, .. } = short.clone();
        return Err(MergeError::Short { name, found, rows, shard, of });
    }
    Ok(order)
}

/// A few of many.
fn listed(all: &[String]) -> String {
    const MOST: usize = 12;
    let shown = all.iter().take(MOST).cloned().collect::<Vec<_>>().join(", ");
    match all.len().saturating_sub(MOST) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(shard: u64, rows: u64) -> Part {
        let text = format!(
            "# {{\"specplan_sweep\":{{\"id\":\"x\",\"shard\":{shard},\"of\":3,\"rows\":{rows},\"total\":5}}}}\na,b\n{}",
            "1,2\n".repeat(rows as usize)
        );
        read_part(&format!("{shard}.csv"), text.as_bytes()).expect("a shard")
    }

    #[test]
    fn the_order_is_that_of_the_shards() {
        assert_eq!(check_parts(&[part(3, 2), part(1, 1), part(2, 2)]).expect("whole"), [1, 2, 0]);
    }

    #[test]
    fn files_that_are_not_one_sweep_are_refused() {
        let told = |parts: &[Part]| check_parts(parts).expect_err("a fault").to_string();
        assert!(told(&[part(1, 1), part(3, 2)]).contains("missing: 2/3"));
        assert!(told(&[part(1, 1), part(1, 1), part(2, 2), part(3, 2)]).contains("1/3 stands in two files"));
        assert!(told(&[part(1, 1), Part { id: "y".into(), ..part(2, 2) }]).contains("different sweeps"));
        assert!(told(&[part(1, 1), part(2, 2), Part { found: 1, ..part(3, 2) }]).contains("1 of the 2 rows"));
        assert!(
            told(&[part(1, 1), part(2, 2), Part { ended: false, ..part(3, 2) }]).contains("run shard 3/3")
        );
        assert!(matches!(read_part("x", &b"a,b\n1,2\n"[..]), Err(MergeError::NoShard(_))));
    }
}
