//! How sure one point of a sweep is: the ranges of a plain answer, at a cost that a hundred thousand points bear.
//!
//! It is the first order of [`make_sure`](super::make_sure) for the speedup alone. All points share the base, so its case with
//! each of its inputs at both ends is computed once; an input then costs a point the passes that it moves and the arithmetic.

use std::sync::{Arc, OnceLock};

use super::inputs::{self, Input, Moves};
use super::rates::RateTables;
use super::{Case, ElasticCycle};
use crate::analytic::Verdict;
use crate::evaluate::known::Known;
use crate::evaluate::variation::{Changes, vary_without_model};
use crate::scenario::{Common, Setup};
use crate::sourced::{SPREAD_DEVIATIONS, Sourced, Spread};
use crate::speculation::Cycle;
use crate::uncertainty::{Ends, FirstOrder};

/// What `run` says of a point besides its plain numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sureness {
    /// The verdict.
    pub verdict: Verdict,
    /// The range that holds the speedup nine times in ten; none where no input has one.
    pub speedup: Option<Spread<f64>>,
    /// Probability that speculation wins; none where no input has a range.
    pub win_probability: Option<f64>,
}

/// The base of a sweep with all of its inputs at both ends.
pub(in crate::evaluate) struct Shared {
    rates: Arc<RateTables>,
    middle: Known,
    inputs: Vec<(Input, [Known; 2])>,
}

/// Both ends of a range, as scores.
const ENDS: [f64; 2] = [-SPREAD_DEVIATIONS, SPREAD_DEVIATIONS];

fn moves(input: Input, score: f64) -> Moves {
    Moves::new(std::iter::once((input, score)))
}

fn known(case: &Case, moves: &Moves) -> Known {
    Known::of(&case.statements(moves), case.cycle(moves))
}

impl Shared {
    fn of(base: &Setup) -> Self {
        let rates = Arc::new(RateTables::new(base.common()));
        let case = Case::new(base, Arc::clone(&rates));
        let ends = |input| ENDS.map(|score| known(&case, &moves(input, score)));
        let inputs = inputs::of_case(&case).into_iter().map(|(input, _)| (input, ends(input))).collect();
        Self { rates, middle: known(&case, &Moves::new(std::iter::empty())), inputs }
    }

    /// How sure the base is, or a variation of it.
    pub(in crate::evaluate) fn sureness(
        shared: &OnceLock<Self>,
        base: &Setup,
        variation: Option<(&Setup, Option<&Cycle>)>,
        speedup: f64,
    ) -> Sureness {
        let shared = shared.get_or_init(|| Self::of(base));
        let found = match variation {
            None => shared.of_base(),
            Some((setup, cycle)) => shared.of_variation(base, setup, cycle),
        };
        let spread = found.range(0).map(|(low, high)| Spread { low, high });
        Sureness {
            verdict: Verdict::of(Sourced { spread, ..Sourced::given(speedup) }),
            speedup: spread,
            win_probability: found.probability_above(0, 1.0),
        }
    }

    fn of_base(&self) -> FirstOrder {
        let speedup = |known: &Known| vec![known.parts().speedup_value()];
        let ends = |[low, high]: &[Known; 2]| Ends { low: speedup(low), high: speedup(high) };
        FirstOrder {
            middle: speedup(&self.middle),
            inputs: self.inputs.iter().map(|(_, known)| ends(known)).collect(),
        }
    }

    fn of_variation(&self, base: &Setup, setup: &Setup, cycle: Option<&Cycle>) -> FirstOrder {
        let (was, now) = (base.common(), setup.common());
        let same = was.acceptance == now.acceptance && was.evidence == now.evidence;
        let rates = if same { Arc::clone(&self.rates) } else { Arc::new(RateTables::new(now)) };
        let changes = Changes::between(base, setup);
        // Without a part that changes, none asks the model.
        let stated = &now.stated;
        let kept = changes.are_none() && stated.draft.is_none() && stated.host.is_none();
        let model = match (setup, cycle) {
            (Setup::Modelled(modelled), Some(cycle)) if !kept => Some(ElasticCycle::of(modelled, cycle)),
            (Setup::Modelled(modelled), None) if !kept => Some(ElasticCycle::new(modelled)),
            _ => None,
        };
        let case = Case { setup, rates, model };
        let unmoved = case.statements(&Moves::new(std::iter::empty()));
        let still = Moves::new(std::iter::empty());
        let mut cycle = case.model.as_ref().map(|model| model.at(&still));
        let mut speedup = |base: &Known, moves: &Moves, statements: &Common| {
            if let (Some(model), Some(cycle)) = (&case.model, &mut cycle) {
                model.move_to(moves, cycle);
            }
            let varied = vary_without_model(changes, base, statements, cycle.as_ref());
            vec![varied.known.parts().speedup_value()]
        };
        let middle = speedup(&self.middle, &still, &unmoved);
        let mut at = |base: &Known, input: Input, score: f64| {
            let moves = moves(input, score);
            match input {
                Input::Cause(_) | Input::Host(_) => speedup(base, &moves, &unmoved),
                _ => speedup(base, &moves, &case.statements(&moves)),
            }
        };
        // In the order of a study, so that sums round alike.
        let own: Vec<Input> = inputs::of_case(&case).into_iter().map(|(input, _)| input).collect();
        let others = self.inputs.iter().map(|(input, _)| *input).filter(|input| !own.contains(input));
        let mut ends = |input: Input| {
            let base = self.inputs.iter().find(|(known, _)| *known == input);
            let base = base.map_or([&self.middle; 2], |(_, [low, high])| [low, high]);
            let [low, high] = [0, 1].map(|end| at(base[end], input, ENDS[end]));
            Ends { low, high }
        };
        FirstOrder { middle, inputs: own.iter().copied().chain(others).map(&mut ends).collect() }
    }
}
