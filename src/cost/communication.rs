//! GPU time of a collective, from the arrival of its last rank.
//!
//! The server's and NCCL's rules choose backend, algorithm, protocol and transport (`collective::choose`); the
//! time comes from the calibration's table of that backend if the box would choose the same without the user's
//! settings (a table times what was chosen when it was measured), else from rows with that choice forced, else from
//! `collective::model_time`.
//!
//! Rows that do not tell their transport count as that which NCCL takes on this box by itself, with the variables that were
//! set when they were measured.
//!
//! Rows timed one framework call at a time are `max(host issue, GPU)` and never serve as GPU time: eager passes
//! take the rows of back-to-back calls, and what the host costs comes from the runtime profile.

use super::pass::{Bound, Exchange};
use super::price::Pricing;
use super::roofline::Cost;
use crate::calibration::{CollectiveKey, Family, Forced, Lookup, Mode};
use crate::collective::{
    Backend, Choice, NcclEnvironment, NcclSettings, Policy, Request, Transport, choose, choose_with,
    model_time,
};
use crate::runtime::{CollectiveOp, Execution};
use crate::sourced::{Source, Sourced};
use crate::units::{Bytes, Seconds};
use std::cell::{OnceCell, RefCell};

/// The collectives of one pass: what its policy says, read once.
#[derive(Debug)]
pub(super) struct Collectives<'a> {
    with: &'a Pricing<'a>,
    settings: NcclSettings,
    /// Whether the user changes anything.
    plain: bool,
    /// What NCCL would do as it was set when it was measured.
    as_measured: OnceCell<(Policy, NcclSettings)>,
    /// Those that were asked for before: the layers of a pass ask for the same.
    known: RefCell<Vec<(Asked, Answer)>>,
}

/// Operation, ranks, bytes per rank.
type Asked = (CollectiveOp, u32, Bytes);

/// The time of a collective, and what does it.
type Answer = (Cost, Option<Exchange>);

impl<'a> Collectives<'a> {
    pub(super) fn new(with: &'a Pricing<'a>) -> Self {
        let plain = *with.policy == Policy::default();
        let settings = with.policy.environment.settings();
        Self { with, settings, plain, as_measured: OnceCell::new(), known: RefCell::default() }
    }

    /// The time of a collective over `ranks`, `bytes` per rank, and what does it; one rank alone has nothing to do.
    pub(super) fn cost(&self, op: CollectiveOp, ranks: u32, bytes: Bytes) -> Answer {
        let key = (op, ranks, bytes);
        if let Some((_, answer)) = self.known.borrow().iter().find(|(known, _)| *known == key) {
            return *answer;
        }
        let answer = self.answer(op, ranks, bytes);
        self.known.borrow_mut().push((key, answer));
        answer
    }

    /// What NCCL does on this box as it was set when it was measured.
    fn own_choice(&self, request: Request) -> Choice {
        let with = self.with;
        let (nccl, settings) = self.as_measured.get_or_init(|| {
            let nccl = as_measured(with);
            let settings = nccl.environment.settings();
            (nccl, settings)
        });
        choose_with(with.hardware, with.runtime.kind, nccl, settings, request)
    }

    fn answer(&self, op: CollectiveOp, ranks: u32, bytes: Bytes) -> Answer {
        if ranks <= 1 {
            let bound = Bound::Communication;
            let (time, source) = (Seconds::ZERO, Source::Derived);
            let cost = Cost { time, bound, source, extrapolated: false, alone: false };
            return (cost, None);
        }
        let with = self.with;
        let request = Request { op, ranks, bytes, execution: with.execution };
        let choice = choose_with(with.hardware, with.runtime.kind, with.policy, &self.settings, request);
        let as_measured = self.is_as_measured(choice, request);
        let measured = if as_measured { self.table(choice, request) } else { forced(choice, request, with) };
        let cost = match measured {
            Some(row) => Cost { bound: Bound::Communication, ..Cost::from(row) },
            None => modelled(choice, request, with),
        };
        (cost, Some(Exchange { op, ranks, bytes, choice }))
    }

    /// Whether the box would choose the same without the user's settings, NCCL_* variables that were set when it was
    /// measured apart. Rows of other backends than NCCL are timed as such, whoever switched them on.
    fn is_as_measured(&self, choice: Choice, request: Request) -> bool {
        if self.plain || choice.backend != Backend::Nccl {
            return true;
        }
        let plain = self.own_choice(request);
        (plain.algorithm, plain.protocol, plain.transport)
            == (choice.algorithm, choice.protocol, choice.transport)
    }

    /// Rows measured inside graphs for a graph, back to back for eager; each stands in for the other, and the fits of
    /// the calibration for both. Rows of this transport come before rows that tell none.
    fn table(&self, choice: Choice, request: Request) -> Option<Lookup> {
        let with = self.with;
        let (key, bytes) = key(choice, request, with);
        let of = |key| with.calibration.collective_by(Some(with.runtime.kind), key, bytes);
        let told = of(key);
        if told.is_some_and(|row| row.source == Source::Measured) {
            return told;
        }
        let own = || choice.transport == self.own_choice(request).transport;
        let untold = of(CollectiveKey { transport: None, ..key }).filter(|_| own());
        untold.or(told)
    }
}

/// NCCL with the variables that were set when the box was measured.
fn as_measured(with: &Pricing) -> Policy {
    let measured_with = with.calibration.facts.as_ref().map(|facts| facts.environment.clone());
    let environment = NcclEnvironment { variables: measured_with.unwrap_or_default() };
    Policy { backend: Some(Backend::Nccl), environment, ..Policy::default() }
}

/// Rows of NCCL that a pass would ask for and cannot use, since they went another way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherWay {
    /// Ways for which the calibration has rows of the operation and these ranks.
    pub measured: Vec<Transport>,
    /// The way that NCCL takes here.
    pub taken: Transport,
    /// Whether NCCL takes it by itself, so that rows and box contradict each other; else the settings of the scenario do it.
    pub by_itself: bool,
}

/// The rows that are passed by because of their transport alone: the calibration has rows of NCCL for this operation and
/// these ranks, none of them by the transport that is taken, and no fit for it.
pub fn other_way(request: Request, with: &Pricing) -> Option<OtherWay> {
    let choice = choose(with.hardware, with.runtime.kind, with.policy, request);
    if request.ranks < 2 || choice.backend != Backend::Nccl {
        return None;
    }
    let curves = with.calibration.collective_curves().iter().filter(|curve| {
        let key = curve.key;
        (key.op, key.ranks, key.family) == (request.op, request.ranks, Family::Nccl)
            && key.mode != Mode::Eager
    });
    let mut measured: Vec<Option<Transport>> = curves.map(|curve| curve.key.transport).collect();
    measured.sort_unstable();
    measured.dedup();
    let fitted = with.calibration.fits.iter().any(|fit| {
        (fit.of.op, fit.of.ranks, fit.of.transport) == (request.op, request.ranks, choice.transport)
            && fit.of.family == Family::Nccl
    });
    let own = choose(with.hardware, with.runtime.kind, &as_measured(with), request).transport;
    let untold = measured.contains(&None).then_some(own);
    let measured: Vec<Transport> = measured.into_iter().flatten().chain(untold).collect();
    let passed_by = !measured.is_empty() && !measured.contains(&choice.transport) && !fitted;
    passed_by.then(|| OtherWay { by_itself: own == choice.transport, measured, taken: choice.transport })
}

fn key(choice: Choice, request: Request, with: &Pricing) -> (CollectiveKey, Bytes) {
    let mode = match with.execution {
        Execution::Graph => Mode::Graph,
        Execution::Eager => Mode::Stream,
    };
    let Request { op, ranks, bytes, .. } = request;
    let family = Family::from(choice.backend);
    (CollectiveKey { op, ranks, family, mode, transport: Some(choice.transport) }, bytes)
}

/// Rows that were measured with the algorithm and protocol of the choice forced, or with its protocol alone.
fn forced(choice: Choice, request: Request, with: &Pricing) -> Option<Lookup> {
    let (algorithm, protocol) = (Some(choice.algorithm), choice.protocol);
    let candidates = [Forced { algorithm, protocol }, Forced { algorithm: None, protocol }];
    candidates.into_iter().filter(|forced| forced.protocol.is_some()).find_map(|forced| {
        let (key, bytes) = key(choice, request, with);
        with.calibration.collective_forced(Some(with.runtime.kind), key, forced, bytes)
    })
}

fn modelled(choice: Choice, request: Request, with: &Pricing) -> Cost {
    let time = model_time(with.hardware, choice, request);
    Cost {
        time: time.value,
        bound: Bound::Communication,
        source: time.source,
        extrapolated: time.extrapolated,
        alone: false,
    }
}

/// The GPU time of one collective over `ranks`, `bytes` per rank, as a pass would be charged for it.
pub fn collective(op: CollectiveOp, ranks: u32, bytes: Bytes, with: &Pricing) -> Sourced<Seconds> {
    let (cost, _) = Collectives::new(with).cost(op, ranks, bytes);
    Sourced { extrapolated: cost.extrapolated, ..Sourced::new(cost.time, cost.source) }
}
