//! What a step of a replica costs: the passes that `run` prices, over batch sizes, contexts and prompt lengths.
//!
//! A decode step, or a draft/verify cycle, is priced for every batch up to 64 and then in steps of an eighth, at contexts
//! that double; the table is linear between. Prompt tokens run eagerly, in a step of their own where the server does
//! so, else beside the decoding requests. What a drafter reads of the prompt counts where requests speculate.

use rayon::prelude::*;

use crate::evaluate;
use crate::runtime::RuntimeKind;
use crate::scenario::ModelledSetup;
use crate::serving::{Mixing, StepTable, StepTableError};
use crate::speculation::Cycle;
use crate::units::Seconds;

/// Batches up to this are priced one by one.
const EACH: u32 = 64;

/// Step times with speculation and without.
#[derive(Debug, Clone, PartialEq)]
pub struct StepPrices {
    /// Of a replica that drafts.
    pub drafting: StepTable,
    /// Of one that does not, with no draft in its prompt passes either.
    pub plain: StepTable,
}

impl StepPrices {
    /// Prices steps of up to `requests` requests and `tokens` prompt tokens, at contexts up to `context` and beyond.
    pub fn new(
        setup: &ModelledSetup,
        requests: u32,
        tokens: u32,
        context: u32,
    ) -> Result<Self, StepTableError> {
        let points: Vec<(u32, u32)> =
            contexts(context).into_iter().flat_map(|c| batches(requests).map(move |b| (b, c))).collect();
        let cycles: Vec<Cycle> = points
            .into_par_iter()
            .map_init(
                || setup.clone(),
                |setup, (batch, context)| {
                    (setup.common.batch, setup.context) = (batch, context);
                    evaluate::cycle(setup)
                },
            )
            .collect();
        let host = setup.runtime.host_per_step.value;
        let prompts: Vec<(u32, Seconds, Seconds)> = prompts(tokens)
            .into_par_iter()
            .map(|tokens| {
                let (target, draft) = evaluate::prefill(setup, tokens);
                let alone = host + target.time.value;
                (tokens, alone, alone + draft.map_or(Seconds::ZERO, |draft| draft.time.value))
            })
            .collect();
        let mixing = match setup.runtime.kind {
            RuntimeKind::Vllm => Mixing::Shared,
            RuntimeKind::Sglang | RuntimeKind::Pytorch | RuntimeKind::Cuda => Mixing::Separate,
        };
        let plain: Vec<_> = prompts.iter().map(|&(tokens, alone, _)| (tokens, alone)).collect();
        let drafting: Vec<_> = prompts.iter().map(|&(tokens, _, both)| (tokens, both)).collect();
        Ok(Self {
            drafting: StepTable::from_cycles(&cycles, &drafting, mixing)?,
            plain: StepTable::from_cycles(&cycles, &plain, mixing)?,
        })
    }
}

/// 1 to 64 one by one, then an eighth more each, and the last.
fn batches(most: u32) -> impl Iterator<Item = u32> {
    std::iter::successors(Some(1_u32), move |&batch| {
        let next = if batch < EACH { batch + 1 } else { batch + batch / 8 };
        (batch < most).then(|| next.min(most))
    })
}

/// Doubling from 128 tokens to at least `most`.
fn contexts(most: u32) -> Vec<u32> {
    let mut list = vec![128_u32];
    while *list.last().expect("it begins with one") < most && list.len() < 16 {
        list.push(list[list.len() - 1] * 2);
    }
    list
}

/// Doubling from one token to `most`.
fn prompts(most: u32) -> Vec<u32> {
    let powers = std::iter::successors(Some(1_u32), |tokens| tokens.checked_mul(2));
    let mut list: Vec<u32> = powers.take_while(|tokens| *tokens < most).collect();
    list.push(most);
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_rise_and_end_where_they_must() {
        for most in [1, 5, 64, 65, 200, 4096] {
            let list: Vec<u32> = batches(most).collect();
            assert_eq!((list[0], list[list.len() - 1]), (1, most));
            assert!(list.windows(2).all(|pair| pair[0] < pair[1]), "{list:?}");
        }
        assert_eq!(contexts(1000), [128, 256, 512, 1024]);
        assert_eq!(prompts(6), [1, 2, 4, 6]);
        assert_eq!(prompts(1), [1]);
    }
}
