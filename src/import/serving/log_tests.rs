//! Whole logs: ranks, restarts, wrappings, cuts, pairs.

use std::fmt::Write as _;

use super::super::rate::RateForm;
use super::*;
use crate::import::serving::Basis;

/// Reads a text with the reader of logs.
fn import(text: &str) -> (Vec<Observation>, Summary) {
    let mut found = Vec::new();
    let summary = read(&mut text.as_bytes(), &mut |observation| found.push(observation));
    (found, summary)
}

fn intervals(found: &[Observation]) -> Vec<&DecodeInterval> {
    found
        .iter()
        .filter_map(|o| match &o.what {
            What::Decode(interval) => Some(&**interval),
            _ => None,
        })
        .collect()
}

fn rates(found: &[Observation]) -> Vec<RateForm> {
    found
        .iter()
        .filter_map(|o| match &o.what {
            What::Rate(segment) => Some(segment.form.clone()),
            _ => None,
        })
        .collect()
}

/// The four lines of sglang#11948.
fn four_lines() -> String {
    let line = |second: u32, length: &str, rate: &str, throughput: &str| {
        format!(
            "[2025-10-22 10:27:{second} TP0] Decode batch. #running-req: 1, #token: 186, token usage: 0.00, accept len: {length}, \
             accept rate: {rate}, cuda graph: True, gen throughput (token/s): {throughput}, #queue-req: 0, \n"
        )
    };
    [
        line(57, "1.95", "0.49", "178.86"),
        line(58, "1.80", "0.45", "165.41"),
        line(58, "2.05", "0.51", "188.68"),
        line(59, "1.80", "0.45", "165.59"),
    ]
    .concat()
}

#[test]
fn the_four_published_lines_within_half_a_percent() {
    let (found, summary) = import(&four_lines());
    assert_eq!((summary.lines, summary.read, summary.skipped.count), (4, 4, 0));
    let cycles: Vec<f64> = intervals(&found).iter().map(|i| i.cycle().unwrap().0.ms()).collect();
    for (cycle, expected) in cycles.iter().zip([10.90, 10.88, 10.86, 10.87]) {
        assert!((cycle - expected).abs() < 0.005, "{cycles:?}");
    }
    assert_eq!(rates(&found), [RateForm::LengthOverRows { rows: 4 }]);
}

#[test]
fn ranks_that_print_the_same_count_once() {
    let mut text = String::new();
    for line in four_lines().lines() {
        for rank in 0..8 {
            text.push_str(&line.replace("TP0", &format!("TP{rank}")));
            text.push('\n');
        }
    }
    let (found, summary) = import(&text);
    assert_eq!(intervals(&found).len(), 4);
    assert_eq!(summary.warnings["repeated"].count, 28);
    let replicas = text.replace(" TP0]", " DP0 TP0]").replace(" TP4]", " DP1 TP4]");
    assert_eq!(intervals(&import(&replicas).0).len(), 8, "replicas decode batches of their own");
}

#[test]
fn a_restart_forgets_definitions_and_flags() {
    let new = "[2026-04-30 08:57:02 TP0] Decode batch, #running-req: 48, #token: 159559, token usage: 0.29, accept len: 2.94, \
               accept rate: 0.65, cuda graph: True, gen throughput (token/s): 2849.40, #queue-req: 1526\n";
    let start = "[2026-04-30 08:50:02] server_args=ServerArgs(speculative_num_steps=3, speculative_eagle_topk=1, \
                 speculative_num_draft_tokens=4)\n";
    let (found, _) = import(&[four_lines().as_str(), start, new].concat());
    let forms = [RateForm::LengthOverRows { rows: 4 }, RateForm::DraftsOverDrafted { rows: 4 }];
    assert_eq!(rates(&found), forms);
    let runs: Vec<u32> = intervals(&found).iter().map(|i| i.run).collect();
    assert_eq!(runs, [0, 0, 0, 0, 1]);
    assert!(!intervals(&found)[4].steady, "what ran before the restart is no predecessor");
    // Without the start line the numbers still tell that the definition changed.
    let (found, _) = import(&[four_lines().as_str(), new].concat());
    assert_eq!(rates(&found), forms);
}

#[test]
fn wrapped_coloured_and_prefixed_lines_are_the_same_lines() {
    let plain: Vec<f64> =
        intervals(&import(&four_lines()).0).iter().map(|i| i.cycle().unwrap().0.ms()).collect();
    let wrap = |how: fn(&str) -> String| four_lines().lines().map(how).collect::<Vec<_>>().join("\r\n");
    let variants = [
        wrap(|line| {
            serde_json::json!({"log": format!("{line}\n"), "stream": "stderr", "time": "x"}).to_string()
        }),
        wrap(|line| serde_json::json!({"level": "info", "message": line}).to_string()),
        wrap(|line| format!("2025-10-22T10:27:59.123456789Z stderr F {line}")),
        wrap(|line| format!("sglang-0  | {line}")),
        wrap(|line| {
            format!("\u{1b}[32m{}\u{1b}[0m", line.replace("accept len:", "\u{1b}[1maccept len:\u{1b}[0m"))
        }),
    ];
    for text in variants {
        let (found, summary) = import(&text);
        let cycles: Vec<f64> = intervals(&found).iter().map(|i| i.cycle().unwrap().0.ms()).collect();
        assert_eq!(cycles, plain, "{text}");
        assert_eq!(summary.skipped.count, 0);
    }
}

#[test]
fn cut_lines_are_shown_and_their_neighbours_read() {
    let lines = four_lines();
    let lines: Vec<&str> = lines.lines().collect();
    let text =
        [&lines[0][40..], "\n", &lines[1][..90], lines[1], "\n", &lines[2][..120], "\n", lines[3]].concat();
    let (found, summary) = import(&text);
    assert_eq!(intervals(&found).len(), 2);
    assert_eq!(summary.skipped.count, 3, "{:?}", summary.skipped);
    let cut = &lines[0][..lines[0].find("Decode").unwrap() + 60];
    let (found, summary) = import(&[lines[0], "\n", cut].concat());
    assert_eq!((intervals(&found).len(), summary.skipped.count), (1, 1));
}

#[test]
fn eager_verification_and_prefill_are_marked() {
    let text = four_lines().replace("cuda graph: True", "cuda graph: False");
    let prefill = "[2025-10-22 10:27:58 TP0] Prefill batch. #new-seq: 1, #new-token: 100, #cached-token: 0, token usage: 0.0, \
                   #running-req: 0, #queue-req: 0, \n";
    let lines: Vec<&str> = text.lines().collect();
    let text = [lines[0], "\n", lines[1], "\n", prefill, lines[2], "\n", lines[3], "\n"].concat();
    let (found, summary) = import(&text);
    assert_eq!(summary.warnings["eager"].count, 4);
    let undisturbed: Vec<bool> = intervals(&found).iter().map(|i| i.is_undisturbed()).collect();
    assert_eq!(undisturbed, [false, true, false, true]);
}

const ENGINE: &str = "(APIServer pid=1) INFO 08-04 20:51:08 [loggers.py:310] Engine 000: Avg prompt throughput: 0.0 tokens/s, \
                      Avg generation throughput: 76.0 tokens/s, Running: 1 reqs, Waiting: 0 reqs, GPU KV cache usage: 0.0%, \
                      Prefix cache hit rate: 0.0%\n";
const SPEC: &str = "(APIServer pid=1) INFO 08-04 20:51:08 [metrics.py:120] SpecDecoding metrics: Mean acceptance length: 2.56, \
                    Accepted throughput: 46.40 tokens/s, Drafted throughput: 89.09 tokens/s, Accepted: 464 tokens, Drafted: \
                    891 tokens, Per-position acceptance rate: 0.835, 0.512, 0.215, Avg Draft acceptance rate: 52.1%\n";

#[test]
fn vllm_lines_are_joined_with_the_nearest_engine_line() {
    for text in [[ENGINE, SPEC].concat(), [SPEC, ENGINE].concat()] {
        let (found, _) = import(&text);
        let found = intervals(&found);
        assert_eq!(found.len(), 1, "one interval, not one per line");
        let (cycle, basis) = found[0].cycle().unwrap();
        assert!((cycle.ms() - 33.7).abs() < 0.05);
        assert_eq!(basis, Basis::Drafts);
    }
    // Nearer to the line after it.
    let before = ENGINE.replace("20:51:08", "20:50:58").replace("Running: 1", "Running: 7");
    let after = ENGINE.replace("20:51:08", "20:51:09");
    let (found, _) = import(&[before.as_str(), SPEC, after.as_str()].concat());
    let joined = intervals(&found).into_iter().find(|i| i.accept_length.is_some()).unwrap();
    assert_eq!(joined.running, Some(1));
    // Too far from both.
    let far = ENGINE.replace("20:51:08", "20:40:00");
    let (found, _) = import(&[far.as_str(), SPEC].concat());
    let alone = intervals(&found).into_iter().find(|i| i.accept_length.is_some()).unwrap();
    assert_eq!((alone.running, alone.cycle()), (None, None));
}

#[test]
fn engine_lines_alone_are_steps_without_speculation() {
    let (found, _) = import(&[ENGINE, ENGINE].concat());
    let found = intervals(&found);
    assert_eq!(found.len(), 2);
    let (step, basis) = found[1].cycle().unwrap();
    assert!((step.ms() - 1000.0 / 76.0).abs() < 1e-9);
    assert_eq!(basis, Basis::Step);
    let idle = ENGINE.replace("76.0", "0.0");
    assert_eq!(intervals(&import(&idle).0).len(), 0);
}

#[test]
fn idle_time_in_an_interval_of_acceptance_unsettles_it() {
    let engine = |second: u32| ENGINE.replace("20:51:08", &format!("20:51:{second:02}"));
    let long = SPEC.replace("46.40", "0.60").replace("89.09", "1.15").replace("20:51:08", "20:51:18");
    let (found, _) = import(&[engine(8).as_str(), engine(18).as_str(), long.as_str()].concat());
    let spec = intervals(&found).into_iter().find(|i| i.accept_length.is_some()).unwrap();
    assert!(!spec.steady, "464 tokens at 0.6 per second are 773 s, of which 10 s were busy");
}

#[test]
fn v0_counters_become_differences_and_restarts_runs() {
    let line = |minute: u32, drafted: u64, emitted: u64| {
        format!(
            "INFO 10-22 10:{minute:02}:00 metrics.py:477] Speculative metrics: Draft acceptance rate: 0.600, System efficiency: \
             0.500, Number of speculative tokens: 4, Number of accepted tokens: 10, Number of draft tokens: {drafted}, Number \
             of emitted tokens: {emitted}.\n"
        )
    };
    let text = [line(1, 400, 250), line(2, 1200, 750), line(3, 1200, 750), line(4, 400, 200)].concat();
    let (found, _) = import(&text);
    let found = intervals(&found);
    let lengths: Vec<f64> = found.iter().map(|i| i.accept_length.unwrap().get()).collect();
    assert_eq!(lengths, [2.5, 2.5, 2.0]);
    assert_eq!(found.iter().map(|i| i.run).collect::<Vec<_>>(), [0, 0, 1]);
    assert_eq!(found[1].length.map(crate::units::Seconds::get), Some(60.0));
    // Found by fuzzing: drafts without a token emitted in between.
    let (found, summary) = import(&[line(1, 400, 250), line(2, 1200, 260)].concat());
    assert_eq!((intervals(&found).len(), summary.skipped.count), (1, 1));
}

#[test]
fn garbage_is_counted_and_nothing_is_made_of_it() {
    let mut bytes = four_lines().into_bytes();
    bytes.extend_from_slice(
        b"\x00\xff\xfe\x80 Decode batch. #running-req: \xff\n#running-req:\nSpecDecoding metrics:\n=\n:",
    );
    let mut found = Vec::new();
    let summary = read(&mut &bytes[..], &mut |observation| found.push(observation));
    assert_eq!(intervals(&found).len(), 4);
    assert_eq!(summary.skipped.count, 3);
}

proptest::proptest! {
    /// Ranks print at the same time: in which order their lines reach the file changes nothing.
    #[test]
    fn the_order_of_ranks_within_a_second_does_not_matter(
        orders in proptest::collection::vec(
            proptest::strategy::Strategy::prop_shuffle(proptest::strategy::Just([0, 1, 2, 3, 4, 5, 6, 7])),
            1..30,
        ),
    ) {
        let log = |shuffled: bool| -> String {
            let mut text = String::new();
            for (tick, order) in orders.iter().enumerate() {
                let ranks = if shuffled { *order } else { [0, 1, 2, 3, 4, 5, 6, 7] };
                for rank in ranks {
                    writeln!(
                        text,
                        "[2026-04-01 10:00:{tick:02} TP{rank}] Decode batch, #running-req: 4, #token: {}, token usage: 0.29, \
                         accept len: 2.{tick:02}, accept rate: 0.5, cuda graph: True, gen throughput (token/s): 300.{tick:02}, \
                         #queue-req: 0",
                        1000 + tick
                    )
                    .expect("a string takes all");
                }
            }
            text
        };
        let told = |text: &str| -> Vec<_> {
            let mut found = Vec::new();
            (SGLANG.read)(&mut text.as_bytes(), &mut |seen: Observation| {
                if let What::Decode(interval) = seen.what {
                    found.push((interval.accept_length, interval.throughput, interval.running));
                }
            });
            found
        };
        proptest::prop_assert_eq!(told(&log(true)).len(), orders.len());
        proptest::prop_assert_eq!(told(&log(true)), told(&log(false)));
    }
}
