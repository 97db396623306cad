//! One row of a table, wherever it stands in its line.

use super::header::{Cell, Header};

/// One of the two blocks of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Block {
    /// \[µs\]
    pub(super) time: f64,
    /// Size over time \[GB/s\].
    pub(super) algbw: f64,
    /// \[GB/s\]
    pub(super) busbw: f64,
    /// Wrong elements; none where they were not counted.
    pub(super) wrong: Option<f64>,
}

/// What was measured, and how.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Preamble {
    /// \[B\]
    pub(super) size: u64,
    pub(super) count: u64,
    pub(super) dtype: String,
    pub(super) redop: String,
    pub(super) root: Option<i64>,
}

/// A row.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    pub(super) preamble: Preamble,
    pub(super) out_of_place: Block,
    /// None where the program measured one block only.
    pub(super) in_place: Option<Block>,
}

/// What a line holds of a row.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Found {
    /// All of it.
    Row(Row),
    /// Its beginning: the program was interrupted, or another process wrote in between.
    Beginning(Preamble),
    /// A row whose figures cannot be read, because.
    Broken(String),
    Nothing,
}

/// Looks for a row anywhere in a line.
pub(super) fn find(line: &str, header: &Header) -> Found {
    let tokens: Vec<&str> = line.split_whitespace().collect();
    for start in 0..tokens.len().saturating_sub(3) {
        let Some((preamble, used, glued)) = preamble(&tokens[start..], header) else { continue };
        let rest = &tokens[start + used..];
        if glued || rest.is_empty() || rest[0].parse::<f64>().is_err() {
            return Found::Beginning(preamble);
        }
        return match blocks(rest, header) {
            Ok((out_of_place, in_place)) => Found::Row(Row { preamble, out_of_place, in_place }),
            Err(why) => Found::Broken(why),
        };
    }
    unreadable(&tokens).map_or(Found::Nothing, Found::Broken)
}

/// Types and reductions of nccl-tests: two such words side by side behind two figures are a row of a table.
const DTYPES: [&str; 12] = [
    "int8", "uint8", "int32", "uint32", "int64", "uint64", "half", "float", "double", "bfloat16", "f8e4m3",
    "f8e5m2",
];
const REDUCTIONS: [&str; 8] = ["sum", "prod", "max", "min", "avg", "none", "mulsum", "all"];

/// Why a line that is a row by its words is none.
fn unreadable(tokens: &[&str]) -> Option<String> {
    let figure = |text: &str| text.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '+');
    let four = tokens.windows(4).find(|four| {
        figure(four[0]) && figure(four[1]) && DTYPES.contains(&four[2]) && REDUCTIONS.contains(&four[3])
    })?;
    let whole = |text: &str| text.parse::<u64>().is_ok();
    Some(match (whole(four[0]), whole(four[1])) {
        (false, _) => format!("`{}` is no size of a message", four[0]),
        (_, false) => format!("`{}` is no number of elements", four[1]),
        _ => format!("{} elements in {} bytes", four[1], four[0]),
    })
}

/// The figures of a row whose beginning stood on an earlier line, if this line begins with them.
pub(super) fn finish(beginning: &Preamble, line: &str, header: &Header) -> Option<Row> {
    let tokens: Vec<&str> = line.split_whitespace().collect();
    let (out_of_place, in_place) = blocks(&tokens, header).ok()?;
    in_place.is_some().then(|| Row { preamble: beginning.clone(), out_of_place, in_place })
}

/// The first columns, how many tokens they take, and whether something is glued to the last of them.
fn preamble(tokens: &[&str], header: &Header) -> Option<(Preamble, usize, bool)> {
    let [size, count, dtype, redop, ..] = tokens else { return None };
    let (size, count) = (size.parse::<u64>().ok()?, count.parse::<u64>().ok()?);
    let word = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_lowercase())
            && text.len() <= 16
            && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    if count > size || !word(dtype) || !word(redop) {
        return None;
    }
    let made = |root| Preamble { size, count, dtype: (*dtype).to_owned(), redop: (*redop).to_owned(), root };
    if !header.root {
        return Some((made(None), 4, false));
    }
    let Some(text) = tokens.get(4) else { return Some((made(None), 4, true)) };
    let digits = text.strip_prefix('-').unwrap_or(text);
    let end = text.len() - digits.len() + digits.chars().take_while(char::is_ascii_digit).count();
    let root = text[..end].parse::<i64>().ok()?;
    Some((made(Some(root)), 5, end < text.len()))
}

fn blocks(tokens: &[&str], header: &Header) -> Result<(Block, Option<Block>), String> {
    let width = header.block.len();
    let first = block(tokens, header)?;
    // What follows the second block is a time stamp, or text of another process.
    let second = if tokens.len() >= 2 * width { Some(block(&tokens[width..], header)?) } else { None };
    if second.is_none() && tokens.len() > width && tokens[width].parse::<f64>().is_ok() {
        return Err(format!("{} of {} figures: the row is cut", tokens.len(), 2 * width));
    }
    Ok((first, second))
}

fn block(tokens: &[&str], header: &Header) -> Result<Block, String> {
    let width = header.block.len();
    if tokens.len() < width {
        return Err(format!("{} of {} figures: the row is cut", tokens.len(), 2 * width));
    }
    let mut block = Block { time: f64::NAN, algbw: f64::NAN, busbw: f64::NAN, wrong: None };
    for (cell, token) in header.block.iter().zip(tokens) {
        let number = || number(token).ok_or_else(|| format!("`{token}` is no figure of a row"));
        match cell {
            Cell::Time => block.time = number()?,
            Cell::Algbw => block.algbw = number()?,
            Cell::Busbw => block.busbw = number()?,
            Cell::Wrong if *token == "N/A" => {}
            Cell::Wrong => block.wrong = Some(number()?),
            Cell::Error | Cell::Statistic => {}
        }
    }
    // A quarter of an hour is longer than any collective, a nanosecond shorter than any; calibrations take no others.
    if (0.001..1e9).contains(&block.time) { Ok(block) } else { Err(format!("a time of {} µs", block.time)) }
}

fn number(token: &str) -> Option<f64> {
    token.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: &str = "        2048           512     float     sum      -1    24.54    0.08    0.15       0    24.66    0.08    0.15     N/A";

    fn row(line: &str) -> Row {
        match find(line, &Header::usual()) {
            Found::Row(row) => row,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_row_alone_prefixed_stamped_and_after_a_trace() {
        let plain = row(ROW);
        assert_eq!(plain.preamble.size, 2048);
        assert!((plain.out_of_place.time - 24.54).abs() < 1e-12);
        assert_eq!((plain.out_of_place.wrong, plain.in_place.unwrap().wrong), (Some(0.0), None));
        for line in [
            format!("[0] {ROW}"),
            format!("{ROW}  2026-01-02 03:04:05"),
            format!("host:1:1 [0] NCCL INFO AllReduce: 2048 Bytes -> Algo 1 proto 0 time 24.300000 {ROW}"),
        ] {
            assert_eq!(row(&line), plain, "{line}");
        }
    }

    #[test]
    fn large_times_lose_decimals_and_then_become_powers() {
        let big = "  2147483648     536870912     float     sum      -1   957746    2.24    2.24      0  1.2e+06    2.23    2.23      0";
        let row = row(big);
        assert!((row.out_of_place.time - 957_746.0).abs() < 1e-9);
        assert!((row.in_place.unwrap().time - 1.2e6).abs() < 1e-9);
    }

    #[test]
    fn a_row_broken_by_another_process_is_put_together() {
        let Found::Beginning(beginning) = find(
            "        2048           512     float     sum      -1host:1:1 [0] NCCL INFO x",
            &Header::usual(),
        ) else {
            panic!("a beginning")
        };
        let rest = "    24.54    0.08    0.15       0    24.66    0.08    0.15     N/A";
        assert_eq!(finish(&beginning, rest, &Header::usual()), Some(row(ROW)));
        assert_eq!(finish(&beginning, "24.54 0.08", &Header::usual()), None);
    }

    #[test]
    fn cut_and_impossible_rows_say_why() {
        let broken = |line: &str| match find(line, &Header::usual()) {
            Found::Broken(why) => why,
            other => panic!("{other:?}"),
        };
        assert_eq!(broken("2048 512 float sum -1 24.54 0.08"), "2 of 8 figures: the row is cut");
        assert_eq!(broken("2048 512 float sum -1 24.54 0.08 0.1 0 24.6"), "5 of 8 figures: the row is cut");
        assert_eq!(broken("2048 512 float sum -1 0.00 0.08 0.1 0 24.6 1 1 0"), "a time of 0 µs");
        assert_eq!(broken("2048 512 float sum -1 1e-9 0.08 0.1 0 24.6 1 1 0"), "a time of 0.000000001 µs");
        assert_eq!(broken("2048 512 float sum -1 inf 0.08 0.1 0 24.6 1 1 0"), "`inf` is no figure of a row");
        assert_eq!(
            broken("99999999999999999999 512 float sum -1 24.54 0.08 0.1 0 24.6 1 1 0"),
            "`99999999999999999999` is no size of a message"
        );
        assert_eq!(broken("[1] -2048 512 float sum -1 24.54"), "`-2048` is no size of a message");
        assert_eq!(broken("2048 5120 float sum -1 24.54"), "5120 elements in 2048 bytes");
        assert_eq!(find("NCCL version 2.21.5", &Header::usual()), Found::Nothing);
    }
}
