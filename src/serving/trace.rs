//! Requests as they were recorded.

use std::io::Read;

use thiserror::Error;

use crate::des::SimTime;
use crate::units::Seconds;

/// One recorded request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceRequest {
    /// When it arrives, from the start of the trace.
    pub at: SimTime,
    /// Tokens of its prompt.
    pub prompt: u32,
    /// Tokens of its output.
    pub output: u32,
}

/// Recorded requests by time of arrival. Longer simulations start it again, one mean interval after its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    requests: Vec<TraceRequest>,
}

/// Why a trace cannot be read.
#[derive(Debug, Error)]
pub enum TraceError {
    /// No request in it.
    #[error("the trace holds no request")]
    Empty,
    /// A column is missing.
    #[error("the trace needs a column `{wanted}`; it has: {found}")]
    Column {
        /// Names that would do.
        wanted: &'static str,
        /// The header.
        found: String,
    },
    /// A cell that is not what its column says.
    #[error("line {line}: `{text}` is not {wanted}")]
    Cell {
        /// Line of the file, the header being line 1.
        line: u64,
        /// What stands there.
        text: String,
        /// What should.
        wanted: &'static str,
    },
    /// Arrivals run back.
    #[error("line {line}: the request arrives before the one above it")]
    Order {
        /// Line of the file.
        line: u64,
    },
    /// The file cannot be read, or is no CSV.
    #[error(transparent)]
    Csv(#[from] csv::Error),
}

impl Trace {
    /// From requests in order of arrival.
    pub fn new(requests: Vec<TraceRequest>) -> Result<Self, TraceError> {
        if requests.is_empty() {
            return Err(TraceError::Empty);
        }
        let place = |index: usize| index as u64 + 2;
        if let Some(i) = requests.windows(2).position(|pair| pair[1].at < pair[0].at) {
            return Err(TraceError::Order { line: place(i + 1) });
        }
        if let Some(i) = requests.iter().position(|r| r.prompt == 0 || r.output == 0) {
            return Err(TraceError::Cell {
                line: place(i),
                text: "0".to_owned(),
                wanted: "a number of tokens, at least 1",
            });
        }
        Ok(Self { requests })
    }

    /// Reads CSV with the columns `arrival_s` or `arrival_ms`, `prompt_tokens` or `input_tokens`, and
    /// `output_tokens`; others are passed over.
    pub fn read(csv: impl Read) -> Result<Self, TraceError> {
        let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).comment(Some(b'#')).from_reader(csv);
        let header = reader.headers()?.clone();
        let find = |names: &[&str], wanted| {
            header.iter().position(|cell| names.contains(&cell)).ok_or_else(|| TraceError::Column {
                wanted,
                found: header.iter().collect::<Vec<_>>().join(", "),
            })
        };
        let arrival = find(&["arrival_s", "arrival_ms"], "arrival_s")?;
        let unit = if &header[arrival] == "arrival_ms" { 1e-3 } else { 1.0 };
        let prompt = find(&["prompt_tokens", "input_tokens"], "prompt_tokens")?;
        let output = find(&["output_tokens"], "output_tokens")?;
        let mut requests: Vec<TraceRequest> = Vec::new();
        for record in reader.records() {
            let record = record?;
            let line = record.position().map_or(0, csv::Position::line);
            let cell = |column: usize, wanted| {
                let text = record.get(column).unwrap_or_default();
                move || TraceError::Cell { line, text: text.to_owned(), wanted }
            };
            let tokens = |column: usize| {
                let fault = cell(column, "a number of tokens, at least 1");
                record[column].parse::<u32>().ok().filter(|n| *n > 0).ok_or_else(fault)
            };
            let fault = cell(arrival, "a time of arrival, not negative");
            let at = record[arrival].parse::<f64>().ok().map(|time| time * unit);
            let at = at.filter(|s| (0.0..=1e7).contains(s)).ok_or_else(fault)?;
            let at = SimTime::from_seconds(Seconds::new(at));
            if requests.last().is_some_and(|before| at < before.at) {
                return Err(TraceError::Order { line });
            }
            requests.push(TraceRequest { at, prompt: tokens(prompt)?, output: tokens(output)? });
        }
        Self::new(requests)
    }

    /// The requests.
    pub fn requests(&self) -> &[TraceRequest] {
        &self.requests
    }

    /// From the first round's start to the second's: the last arrival and one mean interval.
    pub(super) fn period(&self) -> SimTime {
        let last = self.requests[self.requests.len() - 1].at.ps();
        let gaps = (self.requests.len() as u64 - 1).max(1);
        SimTime::from_ps(last + last / gaps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_headers_are_read() {
        let a = Trace::read("arrival_s,prompt_tokens,output_tokens\n0,395,112\n0.5,10,4\n".as_bytes());
        let b = Trace::read("id,arrival_ms,input_tokens,output_tokens\n7,0,395,112\n8,500,10,4\n".as_bytes());
        let (a, b) = (a.expect("valid"), b.expect("valid"));
        assert_eq!(a, b);
        assert_eq!(a.requests()[1].at.ps(), 500_000_000_000);
        assert_eq!(a.period().ps(), 1_000_000_000_000);
    }

    #[test]
    fn faults_name_their_line() {
        let error = |text: &str| Trace::read(text.as_bytes()).expect_err("invalid").to_string();
        let head = "arrival_s,prompt_tokens,output_tokens\n";
        assert_eq!(error(head), "the trace holds no request");
        assert_eq!(error("a,b\n1,2\n"), "the trace needs a column `arrival_s`; it has: a, b");
        assert_eq!(error(&format!("{head}0,5,x\n")), "line 2: `x` is not a number of tokens, at least 1");
        assert_eq!(
            error(&format!("{head}0,5,5\n1,0,5\n")),
            "line 3: `0` is not a number of tokens, at least 1"
        );
        assert_eq!(error(&format!("{head}-1,5,5\n")), "line 2: `-1` is not a time of arrival, not negative");
        assert_eq!(
            error(&format!("{head}2,5,5\n1,5,5\n")),
            "line 3: the request arrives before the one above it"
        );
        assert!(error(&format!("{head}1,5\n")).contains("fields"));
    }
}
