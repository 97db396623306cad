//! TensorRT-LLM's iteration statistics, as JSON lines or one JSON list (`/metrics`, `llm.get_stats()`).
//!
//! ```text
//! {"iter": 7, "iterLatencyMS": 31.2, "inflightBatchingStats": {...}, "specDecodingStats": {"numDraftTokens": 24,
//!  "numAcceptedTokens": 13, "numRequestsWithDraftTokens": 8, "acceptanceLength": 2.625, "iterLatencyMS": 4.1, "draftOverhead": 0.13}}
//! ```
//!
//! acceptanceLength = (accepted + requests) / requests, bonus token included (`executor/types.h`, `pyexecutor`). The
//! `iterLatencyMS` inside `specDecodingStats` is the draft time alone; the outer one is the whole iteration, and is the cycle
//! where no prompt was prefilled in it. With attention data parallelism other ranks copy the statistics of rank 0.

use std::io::BufRead;

use serde::Deserialize;

use super::interval::{Counted, DecodeInterval, Server};
use super::objects;
use crate::import::{Importer, Observation, Sink, Summary, What};
use crate::units::{AcceptLength, Seconds};

/// Iteration statistics.
pub(in crate::import) static ITERATIONS: Importer = Importer {
    kind: "tensorrt-llm-stats",
    about: "TensorRT-LLM iteration statistics (JSON lines or a list)",
    claim: |head| head.sure_if(&["\"specDecodingStats\"", "\"inflightBatchingStats\""]),
    read,
};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Iteration {
    #[serde(rename = "iterLatencyMS")]
    latency: Option<f64>,
    inflight_batching_stats: Option<Batching>,
    spec_decoding_stats: Option<Speculation>,
    attention_dp_rank: Option<u32>,
}

#[derive(Deserialize)]
struct Batching {
    #[serde(rename = "numContextRequests")]
    context: Option<u64>,
    #[serde(rename = "numGenRequests")]
    generating: Option<u64>,
    #[serde(rename = "numPausedRequests")]
    paused: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Speculation {
    num_draft_tokens: u64,
    num_accepted_tokens: u64,
    num_requests_with_draft_tokens: u64,
    acceptance_length: Option<f64>,
}

fn read(input: &mut dyn BufRead, sink: &mut Sink) -> Summary {
    let mut before = None;
    objects::each(input, |line, value| {
        let found: Iteration = serde_json::from_value(value).map_err(|error| error.to_string())?;
        if found.attention_dp_rank.is_some_and(|rank| rank != 0) {
            return Ok(false);
        }
        let Some(mut interval) = interval(&found, line)? else { return Ok(false) };
        interval.steady = before == interval.running;
        before = interval.running;
        sink(Observation::at(line, What::Decode(Box::new(interval))));
        Ok(true)
    })
}

/// The interval of an iteration; none where nothing was decoded.
fn interval(found: &Iteration, line: u64) -> Result<Option<DecodeInterval>, String> {
    let batching = found.inflight_batching_stats.as_ref();
    let mut interval = DecodeInterval::new(Server::TensorRt, line);
    interval.printed_cycle = found.latency.filter(|ms| ms.is_finite() && *ms > 0.0).map(Seconds::from_ms);
    interval.prefill = batching.and_then(|b| b.context).is_some_and(|requests| requests > 0);
    interval.queued = batching.and_then(|b| b.paused).and_then(|n| u32::try_from(n).ok());
    let generating = batching.and_then(|b| b.generating);
    match &found.spec_decoding_stats {
        Some(spec) if spec.num_draft_tokens > 0 => {
            let (accepted, requests) = (spec.num_accepted_tokens, spec.num_requests_with_draft_tokens);
            if requests == 0
                || accepted > spec.num_draft_tokens
                || spec.num_draft_tokens > requests.saturating_mul(1024)
            {
                return Err("its counts disagree".to_owned());
            }
            let length = 1.0 + accepted as f64 / requests as f64;
            if spec.acceptance_length.is_some_and(|printed| (printed - length).abs() > 0.01) {
                return Err("acceptanceLength is not (accepted + requests) / requests".to_owned());
            }
            interval.accept_length = Some(AcceptLength::new(length));
            interval.running = u32::try_from(requests).ok();
            // Every request drafts as many tokens, unless one is near its end.
            let even = spec.num_draft_tokens.is_multiple_of(requests);
            interval.drafted_tokens =
                even.then(|| u32::try_from(spec.num_draft_tokens / requests).ok()).flatten();
            let (drafts, drafted) = (requests, spec.num_draft_tokens);
            interval.counted = Some(Counted { drafts, drafted, accepted, ..Counted::default() });
        }
        _ => {
            let Some(running) = generating.filter(|n| *n > 0) else { return Ok(None) };
            interval.running = u32::try_from(running).ok();
        }
    }
    Ok(Some(interval))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = r#"{"iter": 7, "iterLatencyMS": 31.2, "inflightBatchingStats": {"numContextRequests": 0, "numGenRequests": 8},
        "specDecodingStats": {"numDraftTokens": 24, "numAcceptedTokens": 13, "numRequestsWithDraftTokens": 8,
        "acceptanceLength": 2.625, "iterLatencyMS": 4.1, "draftOverhead": 0.131}}"#;

    fn import(text: &str) -> (Vec<DecodeInterval>, Summary) {
        super::super::intervals_of(read, text)
    }

    #[test]
    fn lists_and_lines_give_the_same_and_the_outer_latency_is_the_cycle() {
        let line = ONE.replace('\n', " ");
        for text in [format!("[{ONE}, {ONE}]"), format!("{line}\n{line}\n"), format!("{line}\n{line}")] {
            let (found, summary) = import(&text);
            assert_eq!((found.len(), summary.read), (2, 2), "{text}");
            assert!(
                (found[1].cycle().expect("printed").0.ms() - 31.2).abs() < 1e-12,
                "not the 4.1 ms of drafting"
            );
            assert!((found[1].accept_length.expect("drafted").get() - 2.625).abs() < 1e-12);
            assert_eq!((found[1].running, found[1].drafted_tokens), (Some(8), Some(3)));
            assert!(found[1].is_undisturbed() && !found[0].is_undisturbed());
        }
    }

    #[test]
    fn other_ranks_and_broken_rows_do_not_count() {
        let line = ONE.replace('\n', " ");
        let copy = line.replacen('{', "{\"attentionDpRank\": 1, ", 1);
        let wrong = line.replace("2.625", "1.625");
        let (found, summary) = import(&format!("{line}\n{copy}\n{wrong}\n{}\n", &line[..90]));
        assert_eq!((found.len(), summary.skipped.count), (1, 2), "{summary:?}");
        let plain = line.replace("\"numDraftTokens\": 24", "\"numDraftTokens\": 0");
        let (found, _) = import(&plain);
        assert_eq!((found[0].running, found[0].accept_length), (Some(8), None));
    }
}
