//! What launching costs: host time per operation, graph launch, read-back, and the small kernels of a graph.
//!
//! Rows are told apart by server, by `what` and by `op`, and may stand at several sizes; between two sizes a straight
//! line, below the first its time, beyond the last the slope of the last interval (never downwards), which counts as
//! extrapolated. p10 and p90 become the range of the
//! value, which ends at the 5th and the 95th percentile of a lognormal distribution through them.
//!
//! Host costs belong to the server that was measured: no other server's rows stand in. Costs of the driver and the GPU
//! (graph node, graph launch, synchronise, read-back, small kernel) are looked up in the order of
//! [`in_order_of_preference`].

use super::block::{Column, Row, for_each_row, optional, required};
use super::error::TableError;
use super::lazy::Decode;
use super::scatter::TENTH;
use super::words::{Word, in_order_of_preference};
use crate::runtime::RuntimeKind;
use crate::sourced::{SPREAD_DEVIATIONS, Source, Sourced};
use crate::units::{Bytes, Seconds};

const COLUMNS: &[Column] = &[
    required("server"),
    required("what"),
    optional("op"),
    optional("size_bytes"),
    required("median_us"),
    optional("p10_us"),
    optional("p90_us"),
    optional("samples"),
];

/// What a row of the table `launch` timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LaunchWhat {
    /// Host time to issue one operation in eager mode, framework included; without an `op`, of one kernel.
    Issue,
    /// Host time to issue one collective in eager mode.
    IssueCollective,
    /// Device time that one more dependent empty node takes in a graph.
    GraphNode,
    /// Host time to launch one graph.
    GraphLaunch,
    /// From the end on the GPU to the host going on.
    Synchronise,
    /// What a step needs to hand its tokens over: a small copy to the host with synchronisation.
    ReadBack,
    /// Host time to sample.
    Sampling,
    /// Device time of one small operation in a graph, the gap to its neighbour included.
    SmallKernel,
}

impl LaunchWhat {
    /// The word in the table.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Issue => "issue",
            Self::IssueCollective => "issue-collective",
            Self::GraphNode => "graph-node",
            Self::GraphLaunch => "graph-launch",
            Self::Synchronise => "synchronise",
            Self::ReadBack => "read-back",
            Self::Sampling => "sampling",
            Self::SmallKernel => "small-kernel",
        }
    }

    /// Whether the server's own code sets the time, so that no other server's rows stand in.
    const fn is_the_servers(self) -> bool {
        matches!(self, Self::Issue | Self::IssueCollective | Self::Sampling)
    }
}

impl Word for LaunchWhat {
    const EXPECTED: &'static str = "issue, issue-collective, graph-node, graph-launch, synchronise, read-back, \
        sampling or small-kernel";
    const WORDS: &'static [(&'static str, Self)] = &[
        ("issue", Self::Issue),
        ("issue-collective", Self::IssueCollective),
        ("graph-node", Self::GraphNode),
        ("graph-launch", Self::GraphLaunch),
        ("synchronise", Self::Synchronise),
        ("read-back", Self::ReadBack),
        ("sampling", Self::Sampling),
        ("small-kernel", Self::SmallKernel),
    ];
}

/// One row.
#[derive(Debug, Clone, PartialEq)]
pub struct LaunchRow {
    /// Whose.
    pub server: RuntimeKind,
    /// What was timed.
    pub what: LaunchWhat,
    /// Which operation; empty: any.
    pub op: String,
    /// Its size; zero where it has none.
    pub size: Bytes,
    /// The median; where p10 and p90 are known, with the 5th and 95th percentile that follow from them.
    pub time: Sourced<Seconds>,
}

/// Measured costs of launching, sorted by server, what, op and size.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LaunchTable(Vec<LaunchRow>);

impl Decode for LaunchTable {
    fn decode(text: &str) -> Result<Self, TableError> {
        let mut rows: Vec<(LaunchRow, usize)> = Vec::new();
        for_each_row(text, COLUMNS, |row| {
            rows.push((launch_row(row)?, row.line));
            Ok(())
        })?;
        rows.sort_by(|(a, _), (b, _)| {
            (a.server, a.what, &a.op)
                .cmp(&(b.server, b.what, &b.op))
                .then(a.size.get().total_cmp(&b.size.get()))
        });
        let same = |a: &LaunchRow, b: &LaunchRow| {
            (a.server, a.what, &a.op) == (b.server, b.what, &b.op) && a.size == b.size
        };
        if let Some(pair) = rows.windows(2).find(|pair| same(&pair[0].0, &pair[1].0)) {
            return Err(TableError::Duplicate { line: pair[0].1.max(pair[1].1) });
        }
        Ok(Self(rows.into_iter().map(|(row, _)| row).collect()))
    }
}

fn launch_row(row: &Row) -> Result<LaunchRow, TableError> {
    let time = row.microseconds(4)?;
    let end = |column| -> Result<Seconds, TableError> {
        if row.cell(column).is_empty() {
            return Ok(time);
        }
        Ok(time * (row.microseconds(column)? / time).powf(SPREAD_DEVIATIONS / TENTH))
    };
    let mut value = Sourced::new(time, Source::Measured);
    if !(row.cell(5).is_empty() && row.cell(6).is_empty()) {
        value = value.with_spread(end(5)?, end(6)?);
    }
    Ok(LaunchRow {
        server: row.word(0)?,
        what: row.word(1)?,
        op: row.cell(2).to_owned(),
        size: match row.cell(3) {
            "" => Bytes::ZERO,
            _ => Bytes::new(f64::from(row.whole(3, 0, u32::MAX)?)),
        },
        time: value,
    })
}

impl LaunchTable {
    /// All rows.
    pub(super) fn rows(&self) -> &[LaunchRow] {
        &self.0
    }

    /// The cost of `op` at a size.
    pub(super) fn at(
        &self,
        server: RuntimeKind,
        what: LaunchWhat,
        op: &str,
        size: Bytes,
    ) -> Option<Sourced<Seconds>> {
        let servers = in_order_of_preference(server);
        let asked = if what.is_the_servers() { &servers[..1] } else { &servers[..] };
        asked.iter().find_map(|server| line(self.of(*server, what, op), size))
    }

    fn of(&self, server: RuntimeKind, what: LaunchWhat, op: &str) -> &[LaunchRow] {
        let place =
            |row: &LaunchRow| (row.server, row.what).cmp(&(server, what)).then(row.op.as_str().cmp(op));
        let start = self.0.partition_point(|row| place(row).is_lt());
        let length = self.0[start..].partition_point(|row| place(row).is_le());
        &self.0[start..start + length]
    }
}

/// The straight line between the rows around a size; see the module.
fn line(rows: &[LaunchRow], size: Bytes) -> Option<Sourced<Seconds>> {
    let last = rows.len().checked_sub(1)?;
    let above = rows.partition_point(|row| row.size < size);
    if above == 0 || (above <= last && rows[above].size == size) {
        return Some(rows[above].time);
    }
    if last == 0 {
        return Some(rows[0].time);
    }
    let high = above.min(last);
    let (a, b) = (&rows[high - 1], &rows[high]);
    let share = (size - a.size).get() / (b.size - a.size).get();
    let beyond = above > last;
    let along = |low: Seconds, high: Seconds| {
        let rise = (high - low).get();
        // Beyond the last row times never fall.
        Seconds::new(low.get() + share * if beyond { rise.max(0.0) } else { rise }).max(if beyond {
            high
        } else {
            Seconds::ZERO
        })
    };
    let mut value = Sourced::new(along(a.time.value, b.time.value), Source::Measured);
    value.extrapolated = beyond;
    if let (Some(low), Some(high)) = (a.time.spread, b.time.spread) {
        value = value.with_spread(along(low.low, high.low), along(low.high, high.high));
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "server,what,op,size_bytes,median_us,p10_us,p90_us,samples\n\
        pytorch,issue,gemm,,9,8,12,200\n\
        pytorch,issue,,,6,5,8,200\n\
        cuda,issue,,,4,,,\n\
        cuda,graph-launch,,,3,,,\n\
        pytorch,small-kernel,norm,1000,2,1.9,2.2,50\n\
        pytorch,small-kernel,norm,5000,4,3.9,4.4,50\n";

    fn at(server: RuntimeKind, what: LaunchWhat, op: &str, size: f64) -> Option<(f64, bool)> {
        let table = LaunchTable::decode(TEXT).unwrap();
        let found = table.at(server, what, op, Bytes::new(size))?;
        Some(((found.value.us() * 1e9).round() / 1e9, found.extrapolated))
    }

    #[test]
    fn host_costs_are_the_servers_own_and_driver_costs_anyones() {
        use LaunchWhat::{GraphLaunch, Issue};
        assert_eq!(at(RuntimeKind::Pytorch, Issue, "gemm", 0.0), Some((9.0, false)));
        assert_eq!(at(RuntimeKind::Pytorch, Issue, "norm", 0.0), None, "an op without rows is not another");
        assert_eq!(at(RuntimeKind::Sglang, Issue, "", 0.0), None);
        assert_eq!(at(RuntimeKind::Cuda, Issue, "", 0.0), Some((4.0, false)));
        assert_eq!(at(RuntimeKind::Sglang, GraphLaunch, "", 0.0), Some((3.0, false)));
    }

    #[test]
    fn sizes_are_joined_by_lines_and_the_last_slope_goes_on() {
        let norm = |size| at(RuntimeKind::Pytorch, LaunchWhat::SmallKernel, "norm", size);
        assert_eq!(norm(10.0), Some((2.0, false)));
        assert_eq!(norm(3000.0), Some((3.0, false)));
        assert_eq!(norm(5000.0), Some((4.0, false)));
        assert_eq!(norm(9000.0), Some((6.0, true)));
    }

    #[test]
    fn percentiles_become_the_range() {
        let table = LaunchTable::decode(TEXT).unwrap();
        let found = table.at(RuntimeKind::Pytorch, LaunchWhat::Issue, "gemm", Bytes::ZERO).unwrap();
        let range = found.spread.unwrap();
        // 8, 9, 12: ends of nine in ten are 1.645 / 1.2816 as far away, in logarithms.
        let end = |tenth: f64| 9.0 * (tenth / 9.0).powf(1.644_854 / 1.281_552);
        assert!((range.low.us() - end(8.0)).abs() < 1e-5 && (range.high.us() - end(12.0)).abs() < 1e-5);
        assert!(range.low.us() < 7.75 && range.high.us() > 13.0, "{range:?}");
        let at = |score| found.at_score(score, Seconds::get, Seconds::new).value;
        assert_eq!((at(-SPREAD_DEVIATIONS), at(SPREAD_DEVIATIONS)), (range.low, range.high));
        assert_eq!(found.source, Source::Measured);
        let bare = table.at(RuntimeKind::Cuda, LaunchWhat::Issue, "", Bytes::ZERO).unwrap();
        assert_eq!(bare.spread, None);
    }

    #[test]
    fn faults_are_named() {
        for (text, says) in [
            (
                "server,what,median_us\nvllm,launch,2\n",
                "`launch` is not issue, issue-collective, graph-node,",
            ),
            (
                "server,what,op,median_us\ncuda,issue,,2\ncuda,issue,,3\n",
                "the same point as in an earlier line",
            ),
            ("server,what,size_bytes,median_us\ncuda,issue,-4,2\n", "`-4` is not a whole number from 0"),
        ] {
            let error = LaunchTable::decode(text).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }
}
