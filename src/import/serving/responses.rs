//! Answers of a server that tell the acceptance of their request, as JSON lines or one JSON list.
//!
//! ```text
//! SGLang  {"meta_info": {"spec_verify_ct": 40, "completion_tokens": 100, "spec_accept_histogram": [5, 10, 5, 20]}}
//! vLLM    {"spec_decode_metrics": {"num_spec_steps": 40, "num_accepted_draft_tokens": 60, "acceptance_histogram": [...]}}
//! ```
//!
//! The histogram counts verify passes by accepted drafted tokens: 0, 1, 2, ... (SGLang `tokenizer_manager.py`; vLLM
//! `--per-request-spec-decode-metrics`). Without one, accept length = completion tokens / `spec_verify_ct` (sglang#3152), whose
//! last pass is cut at the token limit.

use std::io::BufRead;

use serde_json::Value;

use super::interval::{Counted, DecodeInterval, Server};
use super::objects;
use crate::import::{Importer, Observation, Sink, Summary, What};
use crate::units::AcceptLength;

/// Answers with acceptance.
pub(in crate::import) static RESPONSES: Importer = Importer {
    kind: "responses",
    about: "answers of SGLang or vLLM that tell their acceptance (JSON lines or a list)",
    claim: |head| {
        head.sure_if(&[
            "\"spec_accept_histogram\"",
            "\"spec_correct_drafts_histogram\"",
            "\"acceptance_histogram\"",
            "\"spec_verify_ct\"",
        ])
    },
    read,
};

/// Names of the histogram, newest first.
const HISTOGRAMS: [(&str, Server); 3] = [
    ("spec_correct_drafts_histogram", Server::Sglang),
    ("spec_accept_histogram", Server::Sglang),
    ("acceptance_histogram", Server::Vllm),
];

/// The longest histogram.
const LONGEST: usize = 257;

fn read(input: &mut dyn BufRead, sink: &mut Sink) -> Summary {
    let mut noted = Summary::default();
    let mut summary = objects::each(input, |line, value| {
        contradictions(&value, line, &mut noted);
        let Some(interval) = interval(&value, line)? else { return Ok(false) };
        sink(Observation::at(line, What::Decode(Box::new(interval))));
        Ok(true)
    });
    summary.warnings.append(&mut noted.warnings);
    summary
}

/// What SGLang tells twice and otherwise: `spec_verify_ct` counts verify passes and so do the cells of the histogram, each
/// pass gains its accepted tokens and one more, and the accept length is tokens over passes.
fn contradictions(answer: &Value, line: u64, summary: &mut Summary) {
    let mut warn = |why: String| summary.warn("checksum", line, &why, "");
    for name in ["completion_tokens", "spec_verify_ct"] {
        if let Some(found) = find(answer, name, 6).filter(|found| found.as_u64().is_none()) {
            warn(format!("`{name}` is no count: {}", found.to_string().chars().take(40).collect::<String>()));
        }
    }
    let whole = |name: &str| find(answer, name, 6).and_then(Value::as_u64).map(|n| n as f64);
    let (passes, tokens) = (whole("spec_verify_ct"), whole("completion_tokens"));
    let sglang =
        |(name, server): &(&str, Server)| find(answer, name, 6).filter(|_| *server == Server::Sglang);
    let cells = HISTOGRAMS.iter().find_map(sglang).and_then(Value::as_array);
    let cells = cells.and_then(|cells| cells.iter().map(Value::as_f64).collect::<Option<Vec<f64>>>());
    let counted = cells.map(|cells| {
        let gained = cells.iter().enumerate().map(|(at, count)| (at + 1) as f64 * count).sum::<f64>();
        (cells.iter().sum::<f64>(), gained)
    });
    let counted = counted.filter(|(cycles, _)| *cycles > 0.0);
    if let (Some(passes), Some((cycles, _))) = (passes, counted)
        && (passes - cycles).abs() > SLACK * cycles.max(passes)
    {
        warn(format!("the histogram holds {cycles} cycles and `spec_verify_ct` says {passes}"));
    }
    // The first token is of the prefill, and what lies beyond a stop or the limit is cut off.
    if let (Some(tokens), Some((_, gained))) = (tokens, counted)
        && (tokens - gained).abs() > SLACK * tokens.max(gained) + CUT
    {
        warn(format!("the histogram gains {gained} tokens and `completion_tokens` says {tokens}"));
    }
    let (Some(said), Some((cycles, gained))) =
        (find(answer, "spec_accept_length", 6).and_then(Value::as_f64), counted)
    else {
        return;
    };
    if (said - gained / cycles).abs() > SLACK * (gained / cycles) + CUT / cycles {
        warn(format!("`spec_accept_length` says {said} and the histogram {:.3}", gained / cycles));
    }
}

/// Relative difference of two figures that should be one.
const SLACK: f64 = 0.02;
/// Tokens of an answer that one figure may count and another not: the first, and what the last cycle drafted too far.
const CUT: f64 = 16.0;

fn interval(answer: &Value, line: u64) -> Result<Option<DecodeInterval>, String> {
    let histogram = HISTOGRAMS.iter().find_map(|(name, server)| Some((find(answer, name, 6)?, *server)));
    if let Some((Value::Array(cells), server)) = histogram {
        if cells.len() > LONGEST {
            return Err("a histogram is longer than any draft".to_owned());
        }
        let cells: Option<Vec<u64>> = cells.iter().map(Value::as_u64).collect();
        let cells = cells.ok_or("a histogram holds something other than counts")?;
        return Ok(counted(&cells)?.map(|counted| filled(server, line, counted)));
    }
    let number = |name: &str| find(answer, name, 6).and_then(Value::as_u64);
    let Some((passes, tokens)) = number("spec_verify_ct").zip(number("completion_tokens")) else {
        return Ok(None);
    };
    if passes == 0 {
        return Ok(None);
    }
    if tokens < passes {
        return Err("fewer tokens than verify passes".to_owned());
    }
    if tokens / passes > LONGEST as u64 {
        return Err("more tokens per verify pass than any draft has".to_owned());
    }
    let counted = Counted { drafts: passes, accepted: tokens - passes, ..Counted::default() };
    Ok(Some(filled(Server::Sglang, line, counted)))
}

/// Counts of a histogram; none where it is empty.
fn counted(cells: &[u64]) -> Result<Option<Counted>, String> {
    let mut tails = cells.to_vec();
    for at in (0..tails.len().saturating_sub(1)).rev() {
        tails[at] = tails[at].checked_add(tails[at + 1]).ok_or("a histogram overflows")?;
    }
    let Some(drafts) = tails.first().copied().filter(|drafts| *drafts > 0) else { return Ok(None) };
    let positions = tails.split_off(1);
    let accepted =
        positions.iter().try_fold(0_u64, |sum, n| sum.checked_add(*n)).ok_or("a histogram overflows")?;
    Ok(Some(Counted { drafts, drafted: 0, accepted, positions, rounded: false }))
}

fn filled(server: Server, line: u64, counted: Counted) -> DecodeInterval {
    let mut interval = DecodeInterval::new(server, line);
    interval.accept_length = Some(AcceptLength::new(1.0 + counted.accepted as f64 / counted.drafts as f64));
    interval.counted = Some(counted);
    interval
}

/// The first value of a name, at most so deep.
fn find<'a>(value: &'a Value, name: &str, depth: u32) -> Option<&'a Value> {
    if depth == 0 {
        return None;
    }
    match value {
        Value::Object(map) => map
            .get(name)
            .filter(|v| !v.is_null())
            .or_else(|| map.values().find_map(|v| find(v, name, depth - 1))),
        Value::Array(list) => list.iter().find_map(|v| find(v, name, depth - 1)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn import(text: &str) -> (Vec<DecodeInterval>, Summary) {
        super::super::intervals_of(read, text)
    }

    #[test]
    fn histograms_of_both_servers() {
        let sglang = r#"{"text": "x", "meta_info": {"completion_tokens": 100, "spec_verify_ct": 40, "spec_accept_histogram": [5, 10, 5, 20]}}"#;
        let vllm = r#"{"choices": [], "usage": {"spec_decode_metrics": {"acceptance_histogram": [59, 24, 12, 34]}}}"#;
        let (found, summary) = import(&format!("{sglang}\n{vllm}\nnot json\n"));
        assert_eq!((found.len(), summary.skipped.count), (2, 1));
        let counted = found[0].counted.as_ref().expect("counted");
        assert_eq!((counted.drafts, counted.positions.clone(), counted.accepted), (40, vec![35, 25, 20], 80));
        let counted = found[1].counted.as_ref().expect("counted");
        assert_eq!((counted.drafts, counted.positions.clone()), (129, vec![70, 46, 34]));
    }

    #[test]
    fn tokens_over_passes_where_there_is_no_histogram() {
        let (found, _) = import(r#"{"meta_info": {"completion_tokens": 100, "spec_verify_ct": 40}}"#);
        assert!((found[0].accept_length.expect("told").get() - 2.5).abs() < 1e-12);
        let (found, summary) = import(
            r#"{"meta_info": {"completion_tokens": 10, "spec_verify_ct": 40, "spec_accept_histogram": null}}"#,
        );
        assert_eq!((found.len(), summary.skipped.count), (0, 1));
    }

    #[test]
    fn contradictions_are_told() {
        let warnings = |meta: &str| {
            let (_, summary) = import(&format!(r#"{{"meta_info": {{{meta}, "e2e_latency": 2}}}}"#));
            summary
                .warnings
                .get("checksum")
                .map_or(Vec::new(), |noted| noted.first.iter().map(|notice| notice.why.clone()).collect())
        };
        let all = |tokens: &str, passes: &str, length: &str, cells: &str| {
            warnings(&format!(
                r#""completion_tokens": {tokens}, "spec_verify_ct": {passes}, "spec_accept_length": {length},
                "spec_accept_histogram": {cells}"#
            ))
        };
        assert_eq!(all("100", "50", "2.0", "[10, 30, 10]"), Vec::<String>::new());
        assert!(
            all("100", "50", "2.0", "[10, 30, 1000]")[0].contains("1040 cycles and `spec_verify_ct` says 50")
        );
        assert!(all("100", "0", "2.0", "[10, 30, 10]")[0].contains("50 cycles and `spec_verify_ct` says 0"));
        assert!(
            all("-100", "50", "2.0", "[10, 30, 10]")[0].contains("`completion_tokens` is no count: -100")
        );
        assert!(all("100", "50", "7.0", "[10, 30, 10]")[0].contains("says 7 and the histogram 2.000"));
        assert!(all("900", "50", "2.0", "[10, 30, 10]")[0].contains("gains 100 tokens"));
    }

    #[test]
    fn histograms_that_cannot_be_are_refused() {
        for cells in ["[1, -2]", "[1.5]", "[\"a\"]", "[18446744073709551615, 1]"] {
            let (found, summary) = import(&format!("{{\"spec_accept_histogram\": {cells}}}"));
            assert_eq!((found.len(), summary.skipped.count), (0, 1), "{cells}");
        }
    }
}
