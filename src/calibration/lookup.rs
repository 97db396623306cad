//! Looking times up: what the cost model asks.
//!
//! Whose rows: those of the server that is asked for, then of others (`words::in_order_of_preference`); for each server
//! first those of this calibration, then those of its base. Projections call the same libraries whoever issues them, so
//! for them any row of this box comes before the base. Collectives, launch costs and links are the box's own.

use super::Calibration;
use super::collectives::{CollectiveCurve, CollectiveKey, Forced};
use super::fit::Fit;
use super::grid::Point;
use super::kernels::{MlaWhat, Queries};
use super::launch::{LaunchRow, LaunchWhat};
use super::links::LinkRow;
use super::stream::StreamRow;
use super::words::{Family, Mode, in_order_of_preference};
use crate::collective::Transport;
use crate::model::{KvFormat, WeightFormat};
use crate::runtime::{CollectiveOp, RuntimeKind};
use crate::sourced::{Source, Sourced};
use crate::units::{Bytes, Seconds};

/// A time from a table or a fit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lookup {
    /// The time of one kernel, module or call.
    pub time: Seconds,
    /// Measured, fitted or assumed.
    pub source: Source,
    /// Whether the table or the range of the fit was left.
    pub extrapolated: bool,
    /// Whose row it is, where a table of kernels tells servers apart.
    pub server: Option<RuntimeKind>,
    /// Whether rows of one request, which share its cache, were looked up as requests of their own.
    pub unshared: bool,
}

impl Lookup {
    fn of(point: Point, server: RuntimeKind) -> Self {
        Self {
            time: Seconds::new(point.time),
            source: Source::Measured,
            extrapolated: point.extrapolated,
            server: Some(server),
            unshared: false,
        }
    }
}

/// The time of the routed experts of one layer, and what the measured router did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MoeLookup {
    /// The time.
    pub lookup: Lookup,
    /// Distinct experts that the measured tokens touched: min(tokens · K, E), the router being balanced. A real
    /// router touches fewer; whoever knows how many may look up the tokens that touch as many.
    pub distinct_assumed: f64,
}

/// The module that [`Calibration::mla_module`] times: the projections of DeepSeek-V3 and Kimi-K2 around the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MlaModuleShape {
    /// Hidden size.
    pub hidden: u32,
    /// Rank of the query compression.
    pub q_lora: u32,
    /// Rank of the key/value compression.
    pub kv_lora: u32,
    /// Width of a head without rotary encoding.
    pub nope: u32,
    /// Width of the rotary part.
    pub rope: u32,
    /// Width of a value head.
    pub value: u32,
}

/// Shape of the measured MLA modules: other widths need other tables.
pub const MLA_MODULE_SHAPE: MlaModuleShape =
    MlaModuleShape { hidden: 7168, q_lora: 1536, kv_lora: 512, nope: 128, rope: 64, value: 128 };

impl Calibration {
    /// One collective of `bytes` per rank (the full vector for an all-reduce, this rank's part for an all-gather).
    ///
    /// A table is taken inside its range, then a fit inside its range, then the table beyond it, then the fit.
    /// `stream` and `graph` both hold the device's time and stand in for one another; `eager` rows include the
    /// host's issue time and have no substitute.
    pub fn collective(
        &self,
        op: CollectiveOp,
        ranks: u32,
        family: Family,
        mode: Mode,
        transport: Transport,
        bytes: Bytes,
    ) -> Option<Lookup> {
        self.collective_by(None, CollectiveKey { op, ranks, family, mode, transport: Some(transport) }, bytes)
    }

    /// As [`Self::collective`], with the rows of one server where the table tells servers apart.
    pub fn collective_by(
        &self,
        server: Option<RuntimeKind>,
        key: CollectiveKey,
        bytes: Bytes,
    ) -> Option<Lookup> {
        let curve = self.curve(server, key);
        let fit = self.fit(key, bytes);
        match (curve, fit) {
            (Some(curve), Some(fit)) if !curve.covers(bytes) && fit.covers(bytes) => Some(by_fit(fit, bytes)),
            (Some(curve), _) => {
                let (time, source, extrapolated) = curve.at(bytes);
                Some(Lookup { time, source, extrapolated, server: None, unshared: false })
            }
            (None, fit) => fit.map(|fit| by_fit(fit, bytes)),
        }
    }

    fn curve(&self, server: Option<RuntimeKind>, key: CollectiveKey) -> Option<&CollectiveCurve> {
        let table = self.tables.collectives.as_ref()?.get();
        let other = match key.mode {
            Mode::Stream => Some(Mode::Graph),
            Mode::Graph => Some(Mode::Stream),
            Mode::Eager => None,
        };
        let substitute = || table.curve(CollectiveKey { mode: other?, ..key }, server);
        table.curve(key, server).or_else(substitute)
    }

    fn fit(&self, key: CollectiveKey, bytes: Bytes) -> Option<&Fit> {
        let fits = |fit: &&Fit| {
            let of = &fit.of;
            let mode = of.mode.map_or(key.mode != Mode::Eager, |mode| mode == key.mode);
            mode && !fit.flagged
                && of.op == key.op
                && of.ranks == key.ranks
                && of.family == key.family
                && Some(of.transport) == key.transport
        };
        let mut candidates = self.fits.iter().filter(fits);
        candidates.clone().find(|fit| fit.covers(bytes)).or_else(|| candidates.next())
    }

    /// One collective with an algorithm and a protocol forced, where rows of exactly that were measured.
    pub fn collective_forced(
        &self,
        server: Option<RuntimeKind>,
        key: CollectiveKey,
        forced: Forced,
        bytes: Bytes,
    ) -> Option<Lookup> {
        let table = self.tables.collectives.as_ref()?.get();
        let (time, source, extrapolated) = table.forced_curve(key, server, forced)?.at(bytes);
        Some(Lookup { time, source, extrapolated, server: None, unshared: false })
    }

    /// A dense projection, `rows` x k by k x n, weights of the given storage.
    ///
    /// Rows of the servers were measured with the same weights again and again: where they fit in L2 the row is a lower
    /// bound. Those of `cuda` and `pytorch` were measured with weights that no cache held.
    pub fn gemm(
        &self,
        server: RuntimeKind,
        weights: WeightFormat,
        rows: u32,
        n: u32,
        k: u32,
    ) -> Option<Lookup> {
        let servers = in_order_of_preference(server);
        self.tables.layers(|tables| tables.gemm.as_ref()).find_map(|table| {
            let of =
                |server: &RuntimeKind| Some(Lookup::of(table.at(*server, weights, [rows, n, k])?, *server));
            servers.iter().find_map(of)
        })
    }

    /// Decode attention of `requests` x `rows` queries over `context` tokens each, heads of one GPU.
    ///
    /// Rows of one request share their KV. Where the table knows one row a request alone, each row counts as a request
    /// ([`Lookup::unshared`]), which reads the cache once a row: an upper bound.
    #[allow(clippy::too_many_arguments)] // The shape of an attention kernel has that many sides.
    pub fn attention(
        &self,
        server: RuntimeKind,
        kv: KvFormat,
        requests: u32,
        rows: u32,
        heads: u32,
        kv_heads: u32,
        head_dim: u32,
        context: u32,
    ) -> Option<Lookup> {
        let layers = self.tables.layers(|tables| tables.attention.as_ref());
        let queries = Queries { requests, rows, context };
        in_order_of_preference(server).into_iter().find_map(|server| {
            let of =
                |(point, as_such): (Point, bool)| Lookup { unshared: !as_such, ..Lookup::of(point, server) };
            layers
                .clone()
                .find_map(|table| table.at(server, kv, [heads, kv_heads, head_dim], queries))
                .map(of)
        })
    }

    /// The absorbed MLA kernel alone (latent rank 512, rotary part 64), heads of one GPU; rows as for
    /// [`Self::attention`].
    pub fn mla_kernel(
        &self,
        server: RuntimeKind,
        kv: KvFormat,
        requests: u32,
        rows: u32,
        heads: u32,
        context: u32,
    ) -> Option<Lookup> {
        self.mla(MlaWhat::Kernel, server, None, kv, heads, Queries { requests, rows, context })
    }

    /// A whole MLA module with bf16 projections of [`MLA_MODULE_SHAPE`], heads of one GPU: all projections,
    /// absorption and the kernel, without norms outside of it and without the all-reduce.
    pub fn mla_module(
        &self,
        server: RuntimeKind,
        kv: KvFormat,
        batch: u32,
        heads: u32,
        context: u32,
    ) -> Option<Lookup> {
        self.mla_module_with(server, WeightFormat::Bf16, kv, batch, heads, context)
    }

    /// As [`Self::mla_module`], with projections stored otherwise.
    pub fn mla_module_with(
        &self,
        server: RuntimeKind,
        weights: WeightFormat,
        kv: KvFormat,
        batch: u32,
        heads: u32,
        context: u32,
    ) -> Option<Lookup> {
        let queries = Queries { requests: batch, rows: 1, context };
        self.mla(MlaWhat::Module, server, Some(weights), kv, heads, queries)
    }

    fn mla(
        &self,
        what: MlaWhat,
        server: RuntimeKind,
        weights: Option<WeightFormat>,
        kv: KvFormat,
        heads: u32,
        queries: Queries,
    ) -> Option<Lookup> {
        let layers = self.tables.layers(|tables| tables.mla.as_ref());
        in_order_of_preference(server).into_iter().find_map(|server| {
            let of =
                |(point, as_such): (Point, bool)| Lookup { unshared: !as_such, ..Lookup::of(point, server) };
            layers.clone().find_map(|table| table.at(what, server, weights, kv, heads, queries)).map(of)
        })
    }

    /// Routed experts of one layer: `tokens` tokens, `per_token` of `experts` experts each, an expert of whole
    /// width `width` cut into `shards`. Other shapes of layer than the measured ones have no time; other shards
    /// are interpolated.
    #[allow(clippy::too_many_arguments)] // The shape of an expert layer has that many sides.
    pub fn moe(
        &self,
        server: RuntimeKind,
        weights: WeightFormat,
        tokens: u32,
        hidden: u32,
        width: u32,
        per_token: u32,
        experts: u32,
        shards: u32,
    ) -> Option<MoeLookup> {
        let shape = [hidden, width, per_token, experts];
        let layers = self.tables.layers(|tables| tables.moe.as_ref());
        let lookup = in_order_of_preference(server).into_iter().find_map(|server| {
            let point =
                layers.clone().find_map(|table| table.at(server, weights, shape, [shards, tokens]))?;
            Some(Lookup::of(point, server))
        })?;
        let distinct_assumed = (f64::from(tokens) * f64::from(per_token)).min(f64::from(experts));
        Some(MoeLookup { lookup, distinct_assumed })
    }

    /// A cost of launching, as the table `launch` has it: host costs of this server alone, others in the order of the
    /// module. `op` is the word of the table, empty for rows that name none; `size` is what the rows state.
    pub fn launch(
        &self,
        server: RuntimeKind,
        what: LaunchWhat,
        op: &str,
        size: Bytes,
    ) -> Option<Sourced<Seconds>> {
        self.tables.launch.as_ref()?.get().at(server, what, op, size)
    }

    /// Every row of the table `launch`.
    pub fn launch_rows(&self) -> &[LaunchRow] {
        self.tables.launch.as_ref().map_or(&[], |table| table.get().rows())
    }

    /// Every row of the table `links`.
    pub fn link_rows(&self) -> &[LinkRow] {
        self.tables.links.as_ref().map_or(&[], |table| table.get().rows())
    }

    /// Every row of the table `stream`.
    pub fn stream_rows(&self) -> &[StreamRow] {
        self.tables.stream.as_ref().map_or(&[], |table| table.get().rows())
    }

    /// All curves of collectives, for validation and plots.
    pub fn collective_curves(&self) -> &[CollectiveCurve] {
        self.tables.collectives.as_ref().map_or(&[], |table| table.get().curves())
    }
}

fn by_fit(fit: &Fit, bytes: Bytes) -> Lookup {
    let extrapolated = !fit.covers(bytes);
    Lookup { time: fit.time(bytes), source: fit.source, extrapolated, server: None, unshared: false }
}
