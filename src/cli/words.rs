//! A setup in words, for headers and titles.

use crate::runtime::RuntimeKind;
use crate::scenario::{Common, ModelledSetup, Setup};

/// The scenario's name.
pub(super) fn name(setup: &Setup) -> &str {
    &common(setup).name
}

/// The calibration's name, where there is one.
pub(super) fn calibration(setup: &Setup) -> Option<String> {
    match setup {
        Setup::Observed(_) => None,
        Setup::Modelled(modelled) => Some(modelled.calibration.name.clone()),
    }
}

/// "kimi-k2.5 on rtx-pro-6000-x8, SGLang, TP8, batch 1, context 2,048".
pub(super) fn setup(setup: &Setup) -> String {
    match setup {
        Setup::Observed(observed) => format!("observed numbers alone, batch {}", observed.common.batch),
        Setup::Modelled(modelled) => modelled_words(modelled),
    }
}

/// The same without the batch, for a plot over it.
pub(super) fn without_batch(setup: &ModelledSetup) -> String {
    format!("{}, context {}", placed(setup), context(setup))
}

fn modelled_words(setup: &ModelledSetup) -> String {
    format!("{}, batch {}, context {}", placed(setup), setup.common.batch, context(setup))
}

fn context(setup: &ModelledSetup) -> String {
    crate::units::significant(f64::from(setup.context), 3)
}

/// "kimi-k2.5 on rtx-pro-6000-x8, SGLang, TP8".
pub(super) fn placed(setup: &ModelledSetup) -> String {
    let runtime = match setup.runtime.kind {
        RuntimeKind::Sglang => "SGLang",
        RuntimeKind::Vllm => "vLLM",
        RuntimeKind::Pytorch => "PyTorch",
        RuntimeKind::Cuda => "bare CUDA",
    };
    format!("{} on {}, {runtime}, TP{}", setup.model.name, setup.hardware.name, setup.parallel.tensor)
}

fn common(setup: &Setup) -> &Common {
    match setup {
        Setup::Observed(observed) => &observed.common,
        Setup::Modelled(modelled) => &modelled.common,
    }
}
