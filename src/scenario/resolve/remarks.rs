//! Remarks on what a scenario says without effect, or beyond what is known.

use crate::scenario::layer::Layer;
use crate::scenario::setup::{Setup, WhatIf};
use crate::scenario::tree::Content;

/// Keys that are read and checked although nothing uses them yet.
pub(super) fn unused_keys(layer: &Layer) -> impl Iterator<Item = String> + '_ {
    [("simulation", "simulates"), ("sweep", "sweeps")].into_iter().filter_map(|(key, verb)| {
        let value = &layer.tree.at(key)?.content;
        (*value != Content::Null).then(|| {
            format!("`{key}` is checked and not used: `run` answers without it, and no verb {verb} yet")
        })
    })
}

/// Contexts that are longer than the model says it can read, of what is answered and of the what-ifs.
pub(super) fn beyond_context(answered: Option<&Setup>, what_ifs: &[Option<WhatIf>]) -> Vec<String> {
    let named = what_ifs.iter().flatten().map(|what_if| {
        let base = answered.map(context);
        (format!("what-if \"{}\": ", what_if.name), &what_if.setup, base == Some(context(&what_if.setup)))
    });
    let answered = answered.into_iter().map(|setup| (String::new(), setup, false));
    answered
        .chain(named)
        .filter(|(.., repeated)| !repeated)
        .filter_map(|(prefix, setup, _)| Some(format!("{prefix}{}", too_long(setup)?)))
        .collect()
}

fn context(setup: &Setup) -> Option<u32> {
    match setup {
        Setup::Modelled(setup) => Some(setup.context),
        Setup::Observed(_) => None,
    }
}

fn too_long(setup: &Setup) -> Option<String> {
    let Setup::Modelled(setup) = setup else { return None };
    let (context, most) = (setup.context, setup.model.max_context);
    (context > most).then(|| {
        format!(
            "workload.context is {context} tokens, and {} states at most {most} tokens: the times are those of a \
             model that could read so far",
            setup.model.name
        )
    })
}
