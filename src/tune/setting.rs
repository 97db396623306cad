//! A setting of the server, and the setup that it makes of a scenario.

use crate::collective::Backend;
use crate::runtime::Execution;
use crate::scenario::{Method, ModelledSetup, Stated};
use crate::speculation::DraftShape;

/// What holds for the server as a whole, speculation on or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Service {
    /// Execution of all passes; none: as the scenario has it.
    pub execution: Option<Execution>,
    /// Backend that is switched on besides those that the server takes by itself.
    pub opt_in: Option<Backend>,
}

/// Whether and how the server speculates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Setting {
    /// Which drafting method, by its place in the list of candidates, and its shape; none: off.
    pub draft: Option<(usize, DraftShape)>,
    /// The rest of the server.
    pub service: Service,
}

impl Setting {
    /// No speculation, all else as the scenario has it.
    pub const OFF: Self = Self { draft: None, service: Service { execution: None, opt_in: None } };

    /// Drafted tokens of a chain, or levels of a tree; 0 when off.
    pub fn depth(&self) -> u32 {
        self.draft.map_or(0, |(_, shape)| shape.depth())
    }

    /// `setup` with this setting, at a batch size and context. What it observed is left to the function that prices it.
    pub fn apply(&self, setup: &ModelledSetup, batch: u32, context: u32) -> ModelledSetup {
        let mut varied = setup.clone();
        varied.common.batch = batch;
        varied.context = context;
        varied.common.stated = Stated::default();
        if let Some((_, shape)) = self.draft {
            varied.common.steps = shape.steps;
            varied.common.topk = shape.topk;
            varied.common.draft_tokens = shape.draft_tokens;
            varied.overlap &= shape.is_chain() && setup.common.method != Method::Ngram;
        }
        for settings in [&mut varied.baseline, &mut varied.verify, &mut varied.draft_pass] {
            if let Some(execution) = self.service.execution {
                settings.execution = execution;
            }
            if let Some(backend) = self.service.opt_in
                && !settings.policy.opt_in.contains(&backend)
            {
                settings.policy.opt_in.push(backend);
            }
        }
        varied
    }

    /// In words: `off`, `3 steps`, `5 steps, topk 4, 16 rows`.
    pub fn words(&self, methods: &[Method]) -> String {
        let mut words = match self.draft {
            None => "off".to_owned(),
            Some((at, shape)) => {
                let several = methods.iter().any(|m| Some(m) != methods.first());
                let method = methods.get(at).copied().filter(|_| several).map(Method::word);
                format!("{}{}", method.map_or(String::new(), |m| format!("{m}, ")), shape_words(shape))
            }
        };
        if let Some(execution) = self.service.execution {
            words.push_str(match execution {
                Execution::Graph => ", graph",
                Execution::Eager => ", eager",
            });
        }
        if let Some(backend) = self.service.opt_in {
            words.push_str(", ");
            words.push_str(backend.word());
        }
        words
    }
}

fn shape_words(shape: DraftShape) -> String {
    let plural = if shape.steps == 1 { "" } else { "s" };
    if shape.is_chain() {
        return format!("{} step{plural}", shape.steps);
    }
    format!("{} step{plural}, topk {}, {} rows", shape.steps, shape.topk, shape.draft_tokens)
}
