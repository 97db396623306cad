//! GPU time of a collective, from the arrival of its last rank.
//!
//! The server's and NCCL's rules choose backend, algorithm, protocol and transport (`collective::choose`); the
//! time comes from the calibration's table of that backend if the box would choose the same without the user's
//! settings (a table times what was chosen when it was measured), else from rows with that choice forced, else from
//! `collective::model_time`.
//!
//! Rows timed one framework call at a time are `max(host issue, GPU)` and never serve as GPU time: eager passes
//! take the rows of back-to-back calls, and what the host costs comes from the runtime profile.

use super::pass::{Bound, Exchange};
use super::price::Pricing;
use super::roofline::Cost;
use crate::calibration::{CollectiveKey, Family, Forced, Lookup, Mode};
use crate::collective::{
    Backend, Choice, NcclEnvironment, NcclSettings, Policy, Request, choose_with, model_time,
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
        let measured = if as_measured { table(choice, request, with) } else { forced(choice, request, with) };
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
        let with = self.with;
        let (nccl, settings) = self.as_measured.get_or_init(|| {
            let measured_with = with.calibration.facts.as_ref().map(|facts| facts.environment.clone());
            let environment = NcclEnvironment { variables: measured_with.unwrap_or_default() };
            let nccl = Policy { backend: Some(Backend::Nccl), environment, ..Policy::default() };
            let settings = nccl.environment.settings();
            (nccl, settings)
        });
        let plain = choose_with(with.hardware, with.runtime.kind, nccl, settings, request);
        (plain.algorithm, plain.protocol, plain.transport)
            == (choice.algorithm, choice.protocol, choice.transport)
    }
}

/// Rows measured inside graphs for a graph, back to back for eager; each stands in for the other, and the fits of
/// the calibration for both.
fn table(choice: Choice, request: Request, with: &Pricing) -> Option<Lookup> {
    let (key, bytes) = key(choice, request, with);
    with.calibration.collective_by(Some(with.runtime.kind), key, bytes)
}

fn key(choice: Choice, request: Request, with: &Pricing) -> (CollectiveKey, Bytes) {
    let mode = match with.execution {
        Execution::Graph => Mode::Graph,
        Execution::Eager => Mode::Stream,
    };
    let Request { op, ranks, bytes, .. } = request;
    let family = Family::from(choice.backend);
    (CollectiveKey { op, ranks, family, mode, transport: choice.transport }, bytes)
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
