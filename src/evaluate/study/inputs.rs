//! The uncertain inputs of a scenario, and what moving them does to what the user stated.

use super::rates::RateTables;
use super::{Case, ElasticDraft, Study};
use crate::cost::{Cause, Scores};
use crate::forward::ExpertOverlap;
use crate::runtime::Runtime;
use crate::scenario::{Common, StatedPass};
use crate::sourced::{Source, Sourced};
use crate::speculation::{Acceptance, DraftShape};
use crate::uncertainty::Factor;
use crate::units::{AcceptLength, Seconds, Tokens, TokensPerSecond};

/// One input that has one score.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Input {
    /// Of the times of passes.
    Cause(Cause),
    /// Of the host around them.
    Host(HostCost),
    /// What the user wrote.
    Stated(Statement),
    /// Accept length or rate as a whole.
    Acceptance,
    /// Conditional rate at a position, from counts.
    Position(usize),
}

/// Host costs of a cycle or step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HostCost {
    Step,
    Cycle,
    Overlapped,
    Lookup,
}

/// Times and rates that a scenario may state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Statement {
    Baseline,
    BaselineAllreduce,
    BaselineAllreduceEach,
    Verify,
    VerifyAllreduce,
    VerifyAllreduceEach,
    Draft,
    Host,
    Throughput,
}

const STATEMENTS: [Statement; 9] = [
    Statement::Baseline,
    Statement::BaselineAllreduce,
    Statement::BaselineAllreduceEach,
    Statement::Verify,
    Statement::VerifyAllreduce,
    Statement::VerifyAllreduceEach,
    Statement::Draft,
    Statement::Host,
    Statement::Throughput,
];

/// The scores of all inputs, 0 where an input has none.
pub(super) struct Moves {
    pub(super) causes: Scores,
    host: [f64; 4],
    stated: [f64; STATEMENTS.len()],
    acceptance: f64,
    positions: Vec<f64>,
}

impl Moves {
    pub(super) fn new(scores: impl Iterator<Item = (Input, f64)>) -> Self {
        let mut moves = Self {
            causes: [0.0; Cause::ALL.len()],
            host: [0.0; 4],
            stated: [0.0; STATEMENTS.len()],
            acceptance: 0.0,
            positions: Vec::new(),
        };
        for (input, score) in scores {
            match input {
                Input::Cause(cause) => moves.causes[cause as usize] = score,
                Input::Host(cost) => moves.host[cost as usize] = score,
                Input::Stated(statement) => moves.stated[statement as usize] = score,
                Input::Acceptance => moves.acceptance = score,
                Input::Position(at) => {
                    moves.positions.resize(moves.positions.len().max(at + 1), 0.0);
                    moves.positions[at] = score;
                }
            }
        }
        moves
    }

    fn time(&self, time: Option<Sourced<Seconds>>, statement: Statement) -> Option<Sourced<Seconds>> {
        time.map(|time| seconds(time, self.stated[statement as usize]))
    }

    fn rate(&self, rate: Sourced<TokensPerSecond>, statement: Statement) -> Sourced<TokensPerSecond> {
        rate.at_score(self.stated[statement as usize], TokensPerSecond::get, TokensPerSecond::new)
    }

    /// What the user stated, moved.
    pub(super) fn statements(&self, common: &Common, rates: &RateTables) -> Common {
        let mut moved = common.clone();
        let stated = &mut moved.stated;
        let pass = |pass: &mut StatedPass, whole, allreduce, each| {
            pass.time = self.time(pass.time, whole);
            pass.observed = self.time(pass.observed, whole);
            pass.allreduce_each = self.time(pass.allreduce_each, each);
            if let Some(observed) = &mut pass.observed_allreduce {
                observed.total = seconds(observed.total, self.stated[allreduce as usize]);
            }
        };
        pass(
            &mut stated.baseline,
            Statement::Baseline,
            Statement::BaselineAllreduce,
            Statement::BaselineAllreduceEach,
        );
        pass(
            &mut stated.verify,
            Statement::Verify,
            Statement::VerifyAllreduce,
            Statement::VerifyAllreduceEach,
        );
        if let Some(written) = stated.baseline.observed_throughput {
            // The step follows from the throughput that was written.
            let throughput = self.rate(written, Statement::Baseline);
            stated.baseline.observed_throughput = Some(throughput);
            let step = Tokens::new(f64::from(common.batch)) / throughput.value;
            stated.baseline.observed = stated.baseline.observed.map(|time| Sourced { value: step, ..time });
        }
        stated.draft = self.time(stated.draft, Statement::Draft);
        stated.observed_draft = self.time(stated.observed_draft, Statement::Draft);
        stated.host = self.time(stated.host, Statement::Host);
        stated.observed_throughput =
            stated.observed_throughput.map(|rate| self.rate(rate, Statement::Throughput));
        if let Some(law) = self.law(&common.acceptance, rates) {
            moved.acceptance = law;
        }
        moved
    }

    /// The acceptance, moved; none where it has no range.
    pub(super) fn law(&self, law: &Acceptance, rates: &RateTables) -> Option<Acceptance> {
        match law {
            Acceptance::Geometric(law) => {
                let rate = law.rate().at_score(self.acceptance, |x| x, |x| x.clamp(0.0, 1.0));
                Acceptance::geometric_sourced(rate).ok()
            }
            Acceptance::MeanOnly(law) => {
                let shape = DraftShape::chain(law.drafted());
                let cut = |x: f64| AcceptLength::new(x.clamp(1.0, shape.accept_limit().get()));
                let length = law.accept_length().at_score(self.acceptance, AcceptLength::get, cut);
                Acceptance::mean_only(length, shape).ok()
            }
            Acceptance::Conditional(_) | Acceptance::Histogram(_) => {
                Acceptance::conditional(&rates.at(&self.positions)?).ok()
            }
            _ => None,
        }
    }

    /// The runtime's host costs, moved.
    pub(super) fn host_costs(&self, runtime: &Runtime) -> Runtime {
        let moved = |time, cost: HostCost| seconds(time, self.host[cost as usize]);
        Runtime {
            host_per_step: moved(runtime.host_per_step, HostCost::Step),
            host_per_cycle: moved(runtime.host_per_cycle, HostCost::Cycle),
            host_per_cycle_overlapped: moved(runtime.host_per_cycle_overlapped, HostCost::Overlapped),
            ..runtime.clone()
        }
    }

    pub(super) fn lookup(&self, time: Sourced<Seconds>) -> Sourced<Seconds> {
        seconds(time, self.host[HostCost::Lookup as usize])
    }
}

fn seconds(time: Sourced<Seconds>, score: f64) -> Sourced<Seconds> {
    time.at_score(score, Seconds::get, Seconds::new)
}

/// Every input that has a range in some case, described as in the first of them.
pub(super) fn of(study: &Study) -> Vec<(Input, Factor)> {
    let mut found: Vec<(Input, Factor)> = Vec::new();
    for (input, factor) in study.cases().flat_map(of_case) {
        match found.iter_mut().find(|(known, _)| *known == input) {
            Some((Input::Cause(_), known)) => {
                known.low = known.low.min(factor.low);
                known.high = known.high.max(factor.high);
            }
            Some(_) => {}
            None => found.push((input, factor)),
        }
    }
    found
}

/// Those of one case.
pub(super) fn of_case(case: &Case) -> Vec<(Input, Factor)> {
    let mut list = acceptance(case);
    list.extend(STATEMENTS.into_iter().filter_map(|statement| stated(case.common(), statement)));
    let Some(model) = &case.model else { return list };
    for cause in Cause::ALL {
        let ranges = model.passes().filter_map(|pass| pass.range(cause));
        if let Some((low, high)) = ranges.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))) {
            let name = cause.word().to_owned();
            let factor =
                |unit, low, value, high| Factor { name, unit, low, value, high, source: Source::Assumed };
            let factor = match cause {
                Cause::ExpertOverlap => {
                    let [least, most] = ExpertOverlap::RANGE.map(|overlap| overlap.within_request);
                    factor("", least, ExpertOverlap::default().within_request, most)
                }
                _ => factor("x", low, 1.0, high),
            };
            list.push((Input::Cause(cause), factor));
        }
    }
    let runtime = &model.runtime;
    let mut host = |cost, name: &str, time: Sourced<Seconds>| {
        list.extend(factor(name, "ms", time, Seconds::ms).map(|factor| (Input::Host(cost), factor)));
    };
    host(HostCost::Step, "host per step", runtime.host_per_step);
    if !model.overlap || runtime.host_per_cycle.value > runtime.host_per_cycle_overlapped.value {
        host(HostCost::Cycle, "host per cycle", runtime.host_per_cycle);
    }
    if model.overlap {
        host(HostCost::Overlapped, "host per cycle, overlapped", runtime.host_per_cycle_overlapped);
    }
    if let ElasticDraft::Lookup(time) = &model.draft {
        host(HostCost::Lookup, "n-gram lookup", *time);
    }
    list
}

fn acceptance(case: &Case) -> Vec<(Input, Factor)> {
    let whole = match &case.common().acceptance {
        Acceptance::Geometric(law) => factor("acceptance rate", "", law.rate(), |x| x),
        Acceptance::MeanOnly(law) => {
            factor("accept length", "tokens", law.accept_length(), AcceptLength::get)
        }
        _ => None,
    };
    let positions = case.rates.factors().enumerate().map(|(at, factor)| (Input::Position(at), factor));
    whole.map(|factor| (Input::Acceptance, factor)).into_iter().chain(positions).collect()
}

fn stated(common: &Common, statement: Statement) -> Option<(Input, Factor)> {
    let stated = &common.stated;
    let ms = |name: &str, time: Option<Sourced<Seconds>>| factor(name, "ms", time?, Seconds::ms);
    let us = |name: &str, time: Option<Sourced<Seconds>>| factor(name, "us", time?, Seconds::us);
    let rate = |name: &str, rate: Option<Sourced<TokensPerSecond>>| {
        factor(name, "tok/s", rate?, TokensPerSecond::get)
    };
    let pass = |name: &str, pass: &StatedPass| ms(name, pass.time).or_else(|| ms(name, pass.observed));
    let total = |pass: &StatedPass| pass.observed_allreduce.map(|allreduce| allreduce.total);
    let found = match statement {
        Statement::Baseline => rate("baseline throughput", stated.baseline.observed_throughput)
            .or_else(|| pass("baseline step", &stated.baseline)),
        Statement::BaselineAllreduce => ms("all-reduces of the baseline", total(&stated.baseline)),
        Statement::BaselineAllreduceEach => {
            us("one all-reduce of the baseline", stated.baseline.allreduce_each)
        }
        Statement::Verify => pass("verify time", &stated.verify),
        Statement::VerifyAllreduce => ms("all-reduces of verify", total(&stated.verify)),
        Statement::VerifyAllreduceEach => us("one all-reduce of verify", stated.verify.allreduce_each),
        Statement::Draft => {
            ms("draft time", stated.draft).or_else(|| ms("draft time", stated.observed_draft))
        }
        Statement::Host => ms("host work, as stated", stated.host),
        Statement::Throughput => rate("throughput with speculation", stated.observed_throughput),
    };
    found.map(|factor| (Input::Stated(statement), factor))
}

/// An input with its range; none without one.
fn factor<T: Copy>(
    name: &str,
    unit: &'static str,
    figure: Sourced<T>,
    number: impl Fn(T) -> f64,
) -> Option<Factor> {
    let spread = figure.spread?;
    let (low, value, high) = (number(spread.low), number(figure.value), number(spread.high));
    (low < high).then(|| Factor { name: name.to_owned(), unit, low, value, high, source: figure.source })
}
