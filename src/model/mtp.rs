//! The multi-token-prediction module that a checkpoint brings.
//!
//! One decoder layer of the shape of the model's last layer, behind a projection 2H→H of \[embedding, hidden
//! state\]; embedding and head are the model's own (DeepSeek-V3 technical report, section 2.2; sglang
//! `models/deepseek_nextn.py`, `qwen3_5_mtp.py`). Several draft steps run the same module again.

use super::types::{Model, Mtp};

/// The module, where the configuration states one (`num_nextn_predict_layers`, `mtp_num_hidden_layers`).
pub fn mtp_of(model: &Model) -> Option<Mtp> {
    let last = model.layers.last().filter(|_| model.mtp_layers > 0)?;
    Some(Mtp {
        name: format!("MTP of {}", model.name),
        hidden: model.hidden,
        layer: last.layer.clone(),
        vocabulary: model.vocabulary,
        weights: model.head_weights,
    })
}
