//! Whether files of shards make a whole sweep, and in which order.
//!
//! The first line of such a file says what it is a part of ([`Part`] reads it); behind it stand the same lines as those of
//! the whole: the heading of a CSV, then a line per point.

use std::io::{self, BufRead, Read as _};

use serde::de::IgnoredAny;
use serde_json::Value;

use super::identity::Fnv;
use super::shard::Shard;

/// Bytes of a line.
const LONGEST_LINE: u64 = 1 << 20;

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
    /// Columns that are axes; they come first.
    pub axes: usize,
    /// All columns.
    pub columns: usize,
    /// The hash of the cells of the axes that it should have.
    pub places: String,
    /// The hash that it has.
    pub found_places: String,
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
    /// A row that no sweep writes.
    #[error("{name}, line {line}: {why}: run shard {shard}/{of} again")]
    Row {
        /// The file.
        name: String,
        /// The line, from 1.
        line: u64,
        /// What is wrong.
        why: String,
        /// Which one.
        shard: u64,
        /// How many there are.
        of: u64,
    },
    /// Rows of other points, or in another order.
    #[error(
        "the axes in the rows of {name} are not those of shard {shard}/{of} in their order: rows were moved or changed; run \
         it again"
    )]
    Moved {
        /// The file.
        name: String,
        /// Which one.
        shard: u64,
        /// How many there are.
        of: u64,
    },
    /// A file whose last line has no end.
    #[error("the last line of {name} has no end, so it may be cut: run shard {shard}/{of} again")]
    Cut {
        /// The file.
        name: String,
        /// Which one.
        shard: u64,
        /// How many there are.
        of: u64,
    },
    /// Two files of two sweeps.
    #[error(
        "{first} and {second} belong to different sweeps: the scenario, a file that it names, the axes, the columns, the format or the version of \
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
        let read = (&mut file).take(LONGEST_LINE).read_until(b'\n', line);
        read.map_err(|error| MergeError::Read(name.to_owned(), error))
    };
    next(&mut line)?;
    let no_shard = || MergeError::NoShard(name.to_owned());
    let mut part = parse(name, &String::from_utf8_lossy(&line)).ok_or_else(no_shard)?;
    if part.format == "csv" {
        next(&mut line)?;
        part.heading = Some(String::from_utf8_lossy(&line).into_owned());
    }
    let (mut hash, before) = (Fnv::default(), 1 + u64::from(part.heading.is_some()));
    while next(&mut line)? > 0 {
        part.found += 1;
        part.ended = line.ends_with(b"\n");
        match axes_of(&part, &line) {
            Ok(axes) => {
                hash.bytes(axes);
                hash.bytes(&[0xff]);
            }
            // A file that ends within a row is told as that.
            Err(_) if !part.ended && (line.len() as u64) < LONGEST_LINE => {}
            Err(why) => {
                let (line, shard, of) = (before + part.found, part.shard, part.of);
                return Err(MergeError::Row { name: part.name, line, why, shard, of });
            }
        }
    }
    part.found_places = hash.text();
    Ok(part)
}

/// The cells of the axes of a row, as [`Part::places`] counts them.
fn axes_of<'l>(part: &Part, line: &'l [u8]) -> Result<&'l [u8], String> {
    let csv = part.format == "csv";
    if !csv && serde_json::from_slice::<IgnoredAny>(line).is_err() {
        return Err("no JSON".to_owned());
    }
    let commas = commas(line, csv);
    if commas.len() + 1 != part.columns {
        return Err(format!("{} columns and not {}", commas.len() + 1, part.columns));
    }
    let end = part.axes.checked_sub(1).and_then(|last| commas.get(last)).copied();
    let end = end.ok_or("fewer columns than axes")?;
    Ok(&line[..end + usize::from(csv)])
}

/// Where the commas between cells are: outside quotes, in JSON outside inner brackets too.
fn commas(line: &[u8], csv: bool) -> Vec<usize> {
    let (mut found, mut quoted, mut escaped, mut depth) = (Vec::new(), false, false, 0_u32);
    for (at, byte) in line.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted && !csv => escaped = true,
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'[' | b'{' if !csv => depth += 1,
            b']' | b'}' if !csv => depth = depth.saturating_sub(1),
            b',' if csv || depth == 1 => found.push(at),
            _ => {}
        }
    }
    found
}

/// The first line: JSON, behind `# ` in a CSV.
fn parse(name: &str, line: &str) -> Option<Part> {
    let format = if line.starts_with('#') { "csv" } else { "json" };
    let line: Value = serde_json::from_str(line.trim_start_matches('#').trim()).ok()?;
    let about = line.get("specplan_sweep")?;
    let number = |key: &str| about.get(key).and_then(Value::as_u64);
    let (shard, of, rows, total) = (number("shard")?, number("of")?, number("rows")?, number("total")?);
    let points = (1..=of).contains(&shard).then(|| Shard { index: shard, of }.range(total))?;
    if points.end - points.start != rows {
        return None;
    }
    Some(Part {
        name: name.to_owned(),
        id: about.get("id")?.as_str()?.to_owned(),
        format: format.to_owned(),
        shard,
        of,
        rows,
        total,
        axes: usize::try_from(number("axes")?).ok()?,
        columns: usize::try_from(number("columns")?).ok()?,
        places: about.get("places")?.as_str()?.to_owned(),
        found_places: String::new(),
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
    // The shards differ, so as many as there should be are all of them.
    let missing = first.of.saturating_sub(parts.len() as u64);
    if missing > 0 {
        return Err(MergeError::Missing(listed(parts, &order, missing)));
    }
    parts.iter().try_for_each(whole)?;
    Ok(order)
}

/// Whether a file holds the rows of its shard.
fn whole(part: &Part) -> Result<(), MergeError> {
    let Part { name, found, rows, shard, of, ended, .. } = part.clone();
    if found == rows && !ended {
        return Err(MergeError::Cut { name, shard, of });
    }
    if found != rows {
        let found = if ended { found } else { found.saturating_sub(1) };
        return Err(MergeError::Short { name, found, rows, shard, of });
    }
    if part.found_places != part.places {
        return Err(MergeError::Moved { name, shard, of });
    }
    Ok(())
}

/// A few of the shards that no file holds.
fn listed(parts: &[Part], order: &[usize], missing: u64) -> String {
    const MOST: usize = 12;
    let of = parts.first().map_or(0, |part| part.of);
    let absent = |shard: &u64| order.binary_search_by_key(shard, |at| parts[*at].shard).is_err();
    let shown: Vec<String> =
        (1..=of).filter(absent).take(MOST).map(|shard| format!("{shard}/{of}")).collect();
    let shown_here = shown.join(", ");
    match missing - shown.len() as u64 {
        0 => shown_here,
        more => format!("{shown_here} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(shard: u64, rows: &[&str]) -> Result<Part, MergeError> {
        let range = Shard { index: shard, of: 3 }.range(5);
        let mut hash = Fnv::default();
        for index in range.clone() {
            hash.bytes(format!("{index},").as_bytes());
            hash.bytes(&[0xff]);
        }
        let text = format!(
            "# {{\"specplan_sweep\":{{\"id\":\"x\",\"shard\":{shard},\"of\":3,\"rows\":{},\"total\":5,\"axes\":1,\
             \"columns\":2,\"places\":\"{}\"}}}}\na,b\n{}",
            range.end - range.start,
            hash.text(),
            rows.concat()
        );
        read_part(&format!("{shard}.csv"), text.as_bytes())
    }

    fn part(shard: u64) -> Part {
        let rows: &[&str] =
            [&["0,2\n"][..], &["1,2\n", "2,\"2,\"\n"], &["3,2\n", "4,2\n"]][shard as usize - 1];
        file(shard, rows).expect("a shard")
    }

    #[test]
    fn the_order_is_that_of_the_shards() {
        assert_eq!(check_parts(&[part(3), part(1), part(2)]).expect("whole"), [1, 2, 0]);
    }

    fn told(parts: &[Part]) -> String {
        check_parts(parts).expect_err("a fault").to_string()
    }

    #[test]
    fn files_that_are_not_one_sweep_are_refused() {
        assert!(told(&[part(1), part(3)]).contains("missing: 2/3"));
        assert!(told(&[part(1), part(1), part(2), part(3)]).contains("1/3 stands in two files"));
        assert!(told(&[part(1), Part { id: "y".into(), ..part(2) }]).contains("different sweeps"));
        assert!(told(&[part(1), part(2), Part { found: 1, ..part(3) }]).contains("1 of the 2 rows"));
        assert!(told(&[part(1), part(2), Part { ended: false, ..part(3) }]).contains("run shard 3/3"));
        let many = Part { of: 999_999_999_999, ..part(1) };
        assert!(told(&[many]).ends_with("13/999999999999 and 999999999986 more"));
        for first in
            ["a,b\n1,2\n", "# {}", "# {\"specplan_sweep\":{\"id\":\"x\",\"shard\":4,\"of\":3,\"rows\":1}}"]
        {
            assert!(matches!(read_part("x", first.as_bytes()), Err(MergeError::NoShard(_))), "{first}");
        }
    }

    #[test]
    fn rows_of_another_shape_place_or_order_are_refused() {
        let refused = |rows: &[&str]| match file(2, rows) {
            Ok(part) => told(&[self::part(1), part, self::part(3)]),
            Err(error) => error.to_string(),
        };
        assert!(refused(&["2,2\n", "1,2\n"]).contains("rows were moved or changed"));
        assert!(refused(&["1,2\n", "3,2\n"]).contains("rows were moved or changed"));
        assert!(refused(&["1;2\n", "2,2\n"]).contains("2.csv, line 3: 1 columns and not 2"));
        assert!(refused(&["1,2\n", "2,2,\n"]).contains("line 4: 3 columns and not 2"));
        assert!(refused(&["1,2\n", "2,2"]).contains("has no end"));
        assert!(refused(&["1,2\n", "2"]).contains("has no end"));
        assert!(refused(&["1,2\n"]).contains("holds 1 of the 2 rows"));
    }
}
