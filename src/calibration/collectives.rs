//! Collective times over message size: one curve per operation, ranks, implementation, mode, transport, server.
//!
//! Between two measured sizes a straight line in bytes, t = α + β·S with α and β of that interval: on the public
//! tables it leaves out a row with half the median error of log-log. Times need not rise with size (protocols
//! change), and the curve does not force them to. Above the last size the last interval's bandwidth goes on (where that
//! interval falls, the bandwidth of the whole curve), below the first size its time holds; both count as extrapolated.
//! A row flagged `spike` is kept, but is no knot: the curve passes it by.

use super::block::{Column, Row, for_each_row, optional, required};
use super::error::TableError;
use super::file::MOST_RANKS;
use super::lazy::Decode;
use super::words::{Family, Mode, Word};
use crate::collective::{Algorithm, Protocol, Transport};
use crate::runtime::{CollectiveOp, RuntimeKind};
use crate::sourced::Source;
use crate::units::{Bytes, Seconds};

const COLUMNS: &[Column] = &[
    required("op"),
    required("ranks"),
    required("family"),
    required("mode"),
    required("transport"),
    optional("server"),
    required("bytes"),
    required("median_us"),
    optional("source"),
    optional("flag"),
    optional("p10_us"),
    optional("p90_us"),
    optional("samples"),
    optional("algorithm"),
    optional("protocol"),
];

/// What a curve is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct CollectiveKey {
    /// The operation.
    pub op: CollectiveOp,
    /// Ranks that take part.
    pub ranks: u32,
    /// The implementation.
    pub family: Family,
    /// How it was issued.
    pub mode: Mode,
    /// How the bytes travelled; none: as NCCL lets them travel on that box by itself, whichever way that is.
    pub transport: Option<Transport>,
}

/// An algorithm and a protocol that NCCL was told to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Forced {
    /// The algorithm.
    pub algorithm: Option<Algorithm>,
    /// The protocol.
    pub protocol: Option<Protocol>,
}

impl Forced {
    /// Whether nothing is forced.
    pub const fn is_default(self) -> bool {
        self.algorithm.is_none() && self.protocol.is_none()
    }
}

/// One size of a curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CollectiveRow {
    /// Input of one rank: the full vector of an all-reduce or reduce-scatter, this rank's part of an all-gather.
    pub bytes: Bytes,
    /// Median time of one call.
    pub time: Seconds,
    /// Where it came from.
    pub source: Source,
    /// Whether the row stands out of its neighbours and of its siblings, and is passed by.
    pub spike: bool,
}

/// Times of one collective over size, sorted by size.
#[derive(Debug, Clone, PartialEq)]
pub struct CollectiveCurve {
    /// What it is for.
    pub key: CollectiveKey,
    /// The server that issued it, where the table tells them apart.
    pub server: Option<RuntimeKind>,
    /// What NCCL was told to use; rows of its own choice name neither.
    pub forced: Forced,
    rows: Vec<CollectiveRow>,
    knots: Vec<CollectiveRow>,
}

/// Kinds of rows that stand out.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Flag {
    Spike,
}

impl Word for Flag {
    const EXPECTED: &'static str = "spike or nothing";
    const WORDS: &'static [(&'static str, Self)] = &[("spike", Self::Spike)];
}

impl CollectiveCurve {
    /// Every row, spikes included.
    pub fn rows(&self) -> &[CollectiveRow] {
        &self.rows
    }

    /// The rows that the curve goes through.
    pub fn knots(&self) -> &[CollectiveRow] {
        &self.knots
    }

    /// Whether a size lies between the first and the last knot.
    pub fn covers(&self, bytes: Bytes) -> bool {
        let (first, last) = (self.knots[0].bytes, self.knots[self.knots.len() - 1].bytes);
        first <= bytes && bytes <= last
    }

    /// Time, source and whether it is extrapolated.
    pub(super) fn at(&self, bytes: Bytes) -> (Seconds, Source, bool) {
        interpolate(&self.knots, bytes)
    }
}

/// The straight line between the two knots around a size; see the module. The source is the weaker of the two.
pub(super) fn interpolate(knots: &[CollectiveRow], bytes: Bytes) -> (Seconds, Source, bool) {
    let above = knots.partition_point(|k| k.bytes < bytes);
    if let Some(knot) = knots.get(above)
        && (above == 0 || knot.bytes <= bytes)
    {
        return (knot.time, knot.source, knot.bytes > bytes);
    }
    let beyond = above == knots.len();
    if beyond && above == 1 {
        return (knots[0].time, knots[0].source, true);
    }
    let high = above.min(knots.len() - 1);
    let (a, b) = (&knots[high - 1], &knots[high]);
    let slope = (b.time - a.time).get() / (b.bytes - a.bytes).get();
    let source = weaker(a.source, b.source);
    if beyond {
        // A protocol change may let the last interval fall; then the bandwidth of the whole curve goes on.
        let slope = if slope > 0.0 { slope } else { overall_slope(knots) };
        return (b.time + Seconds::new(slope * (bytes - b.bytes).get()), source, true);
    }
    (a.time + Seconds::new(slope * (bytes - a.bytes).get()), source, false)
}

/// Seconds per byte from the first knot to the last, never negative.
fn overall_slope(knots: &[CollectiveRow]) -> f64 {
    let (a, b) = (&knots[0], &knots[knots.len() - 1]);
    ((b.time - a.time).get() / (b.bytes - a.bytes).get()).max(0.0)
}

fn weaker(a: Source, b: Source) -> Source {
    if a == b { a } else { a.combine(b) }
}

/// All curves of a box.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Collectives(Vec<CollectiveCurve>);

impl Decode for Collectives {
    fn decode(text: &str) -> Result<Self, TableError> {
        let mut curves: Vec<CollectiveCurve> = Vec::new();
        let mut first_lines = Vec::new();
        for_each_row(text, COLUMNS, |row| {
            let (key, server) = (key(row)?, row.word_or_none(5)?);
            let forced = Forced { algorithm: row.word_or_none(13)?, protocol: row.word_or_none(14)? };
            let entry = entry(row)?;
            let same = |c: &CollectiveCurve| c.key == key && c.server == server && c.forced == forced;
            let at = curves.iter().rposition(same).unwrap_or_else(|| {
                curves.push(CollectiveCurve { key, server, forced, rows: Vec::new(), knots: Vec::new() });
                first_lines.push(row.line);
                curves.len() - 1
            });
            let rows = &mut curves[at].rows;
            if rows.iter().any(|r| r.bytes == entry.bytes) {
                return Err(TableError::Duplicate { line: row.line });
            }
            rows.push(entry);
            Ok(())
        })?;
        for (curve, line) in curves.iter_mut().zip(first_lines) {
            curve.rows.sort_by(|a, b| a.bytes.get().total_cmp(&b.bytes.get()));
            curve.knots = curve.rows.iter().filter(|r| !r.spike).copied().collect();
            if curve.knots.is_empty() {
                return Err(TableError::OnlySpikes { line });
            }
        }
        // Stable: curves of one key keep the order of the file.
        curves.sort_by_key(|c| c.key);
        Ok(Self(curves))
    }
}

fn key(row: &Row) -> Result<CollectiveKey, TableError> {
    Ok(CollectiveKey {
        op: row.word(0)?,
        ranks: row.whole(1, 2, MOST_RANKS)?,
        family: row.word(2)?,
        mode: row.word(3)?,
        transport: row.word_or_none(4)?,
    })
}

fn entry(row: &Row) -> Result<CollectiveRow, TableError> {
    Ok(CollectiveRow {
        bytes: Bytes::new(f64::from(row.count(6)?)),
        time: row.microseconds(7)?,
        source: row.word_or_none(8)?.unwrap_or(Source::Measured),
        spike: row.word_or_none::<Flag>(9)?.is_some(),
    })
}

impl Collectives {
    /// All curves, sorted by key, those of one key in the order of the file.
    pub(super) fn curves(&self) -> &[CollectiveCurve] {
        &self.0
    }

    /// The curve of a key by NCCL's own choice: the server's own if it has one, else the first of the file.
    pub(super) fn curve(&self, key: CollectiveKey, server: Option<RuntimeKind>) -> Option<&CollectiveCurve> {
        self.forced_curve(key, server, Forced::default())
    }

    /// The curve of a key with an algorithm and a protocol forced, likewise.
    pub(super) fn forced_curve(
        &self,
        key: CollectiveKey,
        server: Option<RuntimeKind>,
        forced: Forced,
    ) -> Option<&CollectiveCurve> {
        let start = self.0.partition_point(|c| c.key < key);
        let of_key = self.0[start..].iter().take_while(|c| c.key == key).filter(|c| c.forced == forced);
        let own = of_key.clone().find(|c| server.is_some() && c.server == server);
        own.or_else(|| of_key.clone().next())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "op,ranks,family,mode,transport,server,bytes,median_us,source,flag\n\
        all-reduce,8,nccl,graph,p2p,vllm,1024,24,,\n\
        all-reduce,8,nccl,graph,p2p,sglang,1024,25,,\n\
        all-reduce,8,nccl,graph,p2p,vllm,4096,30,,\n\
        all-reduce,8,nccl,graph,p2p,vllm,3072,99,,spike\n\
        all-reduce,8,nccl,graph,p2p,vllm,5120,34,fitted,\n";
    const KEY: CollectiveKey = CollectiveKey {
        op: CollectiveOp::AllReduce,
        ranks: 8,
        family: Family::Nccl,
        mode: Mode::Graph,
        transport: Some(Transport::P2p),
    };

    fn at(bytes: f64, server: Option<RuntimeKind>) -> (f64, Source, bool) {
        let table = Collectives::decode(TEXT).unwrap();
        let (time, source, extrapolated) = table.curve(KEY, server).unwrap().at(Bytes::new(bytes));
        ((time.us() * 1e6).round() / 1e6, source, extrapolated)
    }

    #[test]
    fn exact_at_knots_linear_between_and_past_a_spike() {
        assert_eq!(at(1024.0, None), (24.0, Source::Measured, false));
        assert_eq!(at(2560.0, None), (27.0, Source::Measured, false));
        assert_eq!(at(3072.0, None), (28.0, Source::Measured, false));
        assert_eq!(at(5120.0, None), (34.0, Source::Fitted, false));
    }

    #[test]
    fn a_fitted_end_makes_the_interval_fitted() {
        assert_eq!(at(4608.0, None), (32.0, Source::Fitted, false));
    }

    #[test]
    fn outside_the_last_bandwidth_goes_on_and_the_first_time_holds() {
        assert_eq!(at(6144.0, None), (38.0, Source::Fitted, true));
        assert_eq!(at(8.0, None), (24.0, Source::Measured, true));
    }

    /// Eight times the bytes of a curve whose last interval falls never cost the same as the last knot.
    #[test]
    fn a_falling_end_goes_on_with_the_bandwidth_of_the_whole_curve() {
        let text = "op,ranks,family,mode,transport,server,bytes,median_us\n\
            all-gather,8,nccl,stream,p2p,,1000,15\nall-gather,8,nccl,stream,p2p,,65000,91\n\
            all-gather,8,nccl,stream,p2p,,131000,75\n";
        let table = Collectives::decode(text).unwrap();
        let key = CollectiveKey { op: CollectiveOp::AllGather, mode: Mode::Stream, ..KEY };
        let (time, _, extrapolated) = table.curve(key, None).unwrap().at(Bytes::new(1_000_000.0));
        assert!(extrapolated && (time.us() - (75.0 + 60.0 / 130e3 * 869e3)).abs() < 1e-9, "{time:?}");
    }

    #[test]
    fn a_server_gets_its_own_rows_and_else_the_first_ones() {
        assert_eq!(at(1024.0, Some(RuntimeKind::Sglang)), (25.0, Source::Measured, false));
        assert_eq!(at(1024.0, Some(RuntimeKind::Pytorch)), (24.0, Source::Measured, false));
    }

    #[test]
    fn a_curve_of_spikes_alone_is_refused() {
        let spikes = format!("{TEXT}all-reduce,4,nccl,graph,p2p,,4096,31,,spike\n");
        assert_eq!(Collectives::decode(&spikes), Err(TableError::OnlySpikes { line: 7 }));
    }

    /// Forced rows stand beside those of NCCL's own choice and are found by what was forced alone.
    #[test]
    fn forced_rows_are_no_default() {
        let text = "op,ranks,family,mode,transport,bytes,median_us,algorithm,protocol\n\
            all-reduce,8,nccl,graph,p2p,1024,90,ring,Simple\n\
            all-reduce,8,nccl,graph,p2p,1024,24,,\n\
            all-reduce,8,nccl,graph,p2p,1024,25,,LL\n";
        let table = Collectives::decode(text).unwrap();
        let us = |forced| table.forced_curve(KEY, None, forced).map(|c| c.knots()[0].time.us().round());
        assert_eq!(us(Forced::default()), Some(24.0));
        assert_eq!(
            us(Forced { algorithm: Some(Algorithm::Ring), protocol: Some(Protocol::Simple) }),
            Some(90.0)
        );
        assert_eq!(us(Forced { algorithm: None, protocol: Some(Protocol::Ll) }), Some(25.0));
        assert_eq!(us(Forced { algorithm: Some(Algorithm::Tree), protocol: None }), None);
        assert_eq!(table.curve(KEY, None).unwrap().knots().len(), 1);
    }

    #[test]
    fn the_same_point_twice_is_refused() {
        let twice = format!("{TEXT}all-reduce,8,nccl,graph,p2p,vllm,4096,31,,\n");
        assert_eq!(Collectives::decode(&twice), Err(TableError::Duplicate { line: 7 }));
    }
}
