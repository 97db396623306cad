//! A Hugging Face `config.json`: handed on as it is, since the model's own reader knows what it means.

use std::io::{BufRead, Read};

use super::{Claim, Head, Importer, Observation, Sink, Summary, What};

/// The importer.
pub(super) const IMPORTER: Importer = Importer {
    kind: "hf-config",
    about: "config.json of a model or a drafter, checked and counted",
    claim,
    read,
};

/// The longest configuration \[B\].
const LONGEST: u64 = 4 << 20;

fn claim(head: &Head) -> Claim {
    if !head.text.trim_start_matches('\u{feff}').trim_start().starts_with('{') {
        return Claim::No;
    }
    let shapes = ["\"hidden_size\"", "\"num_hidden_layers\"", "\"text_config\"", "\"num_attention_heads\""];
    let names = ["\"architectures\"", "\"model_type\""];
    if head.sure_if(&shapes) == Claim::Sure && head.sure_if(&names) == Claim::Sure {
        Claim::Sure
    } else if head.sure_if(&shapes) == Claim::Sure || head.sure_if(&names) == Claim::Sure {
        Claim::Maybe
    } else {
        Claim::No
    }
}

fn read(input: &mut dyn BufRead, sink: &mut Sink) -> Summary {
    let mut summary = Summary::default();
    let mut bytes = Vec::new();
    if let Err(error) = Read::take(input, LONGEST + 1).read_to_end(&mut bytes) {
        summary.fault = Some(format!("it cannot be read to its end: {error}"));
        return summary;
    }
    if bytes.len() as u64 > LONGEST {
        summary.fault = Some("a config.json larger than 4 MiB is none".to_owned());
        return summary;
    }
    match String::from_utf8(bytes) {
        Ok(text) => {
            summary.lines = text.lines().count() as u64;
            summary.read = 1;
            sink(Observation::at(1, What::ModelConfig(text.trim_start_matches('\u{feff}').to_owned())));
        }
        Err(error) => {
            summary.fault =
                Some(format!("it is no UTF-8 text from byte {} on", error.utf8_error().valid_up_to()));
        }
    }
    summary
}
