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

fn modelled_words(setup: &ModelledSetup) -> String {
    let runtime = match setup.runtime.kind {
        RuntimeKind::Sglang => "SGLang",
        RuntimeKind::Vllm => "vLLM",
        RuntimeKind::Pytorch => "PyTorch",
        RuntimeKind::Cuda => "bare CUDA",
    };
    format!(
        "{} on {}, {runtime}, TP{}, batch {}, context {}",
        setup.model.name,
        setup.hardware.name,
        setup.parallel.tensor,
        setup.common.batch,
        crate::units::significant(f64::from(setup.context), 3),
    )
}

fn common(setup: &Setup) -> &Common {
    match setup {
        Setup::Observed(observed) => &observed.common,
        Setup::Modelled(modelled) => &modelled.common,
    }
}
