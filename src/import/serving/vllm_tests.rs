//! Published lines with their numbers, and cut or inconsistent ones.

use super::*;

const JUNE: &str = "SpecDecoding metrics: Draft acceptance rate: 38.8%, Mean acceptance length: 2.16, Accepted: 150 tokens, \
                    Drafted: 387 tokens, Per-position acceptance rate: 0.543, 0.357, 0.264";
const LATER: &str = "SpecDecoding metrics: Mean acceptance length: 2.56, Accepted throughput: 46.40 tokens/s, Drafted \
                     throughput: 89.09 tokens/s, Accepted: 464 tokens, Drafted: 891 tokens, Per-position acceptance rate: \
                     0.835, 0.512, 0.215, Avg Draft acceptance rate: 52.1%";
const OLD: &str = "Speculative metrics: Draft acceptance rate: 0.607, System efficiency: 0.510, Number of speculative \
                   tokens: 4, Number of accepted tokens: 32594, Number of draft tokens: 53716, Number of emitted tokens: \
                   34244.";

fn read(record: &str) -> Spec {
    spec(record).expect("readable").expect("drafted")
}

#[test]
fn june_2025() {
    let found = read(JUNE);
    assert_eq!((found.counted.drafts, found.counted.drafted, found.counted.accepted), (129, 387, 150));
    assert_eq!(found.counted.positions, [70, 46, 34]);
    assert!((1.0 + 150.0 / 129.0_f64 - 2.163).abs() < 5e-4);
    assert_eq!(found.accepted_rate, None);
    assert_eq!(found.odd, None);
}

#[test]
fn later_lines_tell_their_interval() {
    let found = read(LATER);
    assert_eq!((found.counted.drafts, found.counted.positions.iter().sum::<u64>()), (297, 464));
    assert_eq!(found.counted.positions, [248, 152, 64]);
    let interval = 464.0 / found.accepted_rate.expect("told").value;
    assert!((interval - 10.0).abs() < 0.01);
    // A public log of a vLLM with seven drafted tokens.
    let seven = "SpecDecoding metrics: Mean acceptance length: 3.49, Accepted throughput: 0.12 tokens/s, Drafted throughput: \
                 0.34 tokens/s, Accepted: 92 tokens, Drafted: 259 tokens, Per-position acceptance rate: 0.757, 0.622, 0.432, \
                 0.324, 0.189, 0.108, 0.054, Avg Draft acceptance rate: 35.5%";
    let found = read(seven);
    assert_eq!(found.counted.drafts, 37);
    assert_eq!(found.counted.positions, [28, 23, 16, 12, 7, 4, 2]);
}

#[test]
fn nothing_drafted_is_no_record() {
    let nan = "SpecDecoding metrics: Draft acceptance rate: nan%, Accepted: 0 tokens, Drafted: 0 tokens";
    assert_eq!(spec(nan), Ok(None));
    let early =
        "SpecDecoding metrics: Draft acceptance rate: 38.8%, Accepted: 150 tokens, Drafted: 387 tokens";
    assert!(spec(early).is_err(), "no positions and no mean: the number of drafts is unknown");
}

#[test]
fn checksums_refuse_altered_numbers_and_cut_lines() {
    for (from, to) in [
        ("0.512", "0.412"),
        ("2.56", "2.66"),
        ("464 tokens", "474 tokens"),
        ("891", "791"),
        ("0.215", "0.915"),
    ] {
        assert!(spec(&LATER.replace(from, to)).is_err(), "{from} {to}");
    }
    let whole = read(JUNE);
    for end in V1.len()..JUNE.len() {
        match spec(&JUNE[..end]) {
            Err(_) | Ok(None) => {}
            // A digit less of the last rate is still that rate, less finely printed.
            Ok(Some(cut)) => assert_eq!(cut.counted, whole.counted, "{}", &JUNE[..end]),
        }
    }
}

#[test]
fn drafts_of_varying_length_follow_from_the_mean() {
    // 100 drafts of 3 and 10 of 1: drafted 310, no multiple of 3. Accepted 80 + 50 + 20.
    let line = "SpecDecoding metrics: Mean acceptance length: 2.36, Accepted throughput: 15.00 tokens/s, Drafted throughput: \
                31.00 tokens/s, Accepted: 150 tokens, Drafted: 310 tokens, Per-position acceptance rate: 0.727, 0.455, 0.182, \
                Avg Draft acceptance rate: 48.4%";
    let found = read(line);
    assert_eq!((found.counted.drafts, found.counted.positions), (110, vec![80, 50, 20]));
    assert!(found.odd.is_some());
}

#[test]
fn v0_counts_since_the_start_and_its_rate_overstates() {
    let found = spec_v0(OLD).expect("readable").expect("drafted");
    assert_eq!((found.k, found.drafts()), (4, 13429));
    let length = found.emitted as f64 / found.drafts() as f64;
    assert!((length - 2.55).abs() < 0.005, "not 1 + 4 · 0.607 = 3.43: {length}");
    // efficiency · (k + 1) · drafts.
    assert!((0.510 * 5.0 * 13429.0 - 34244.0_f64).abs() < 0.0005 * 5.0 * 13429.0);
    for end in V0.len()..OLD.len() {
        assert!(spec_v0(&OLD[..end]).is_err(), "{}", &OLD[..end]);
    }
}

#[test]
fn engine_lines_of_both() {
    let v1 = "(APIServer pid=1) INFO 09-02 13:08:10 [loggers.py:123] Engine 003: Avg prompt throughput: 7.3 tokens/s, Avg \
              generation throughput: 238.7 tokens/s, Running: 10 reqs, Waiting: 2 reqs, GPU KV cache usage: 4.1%, Prefix \
              cache hit rate: 53.7%";
    let expected = Engine { replica: 3, running: 10, queued: 2, generation: 238.7, prompt: 7.3 };
    assert_eq!(engine(v1), Ok(expected));
    let v0 = "INFO 2025-09-10 16:32:05.957 metrics.py:386] Avg prompt throughput: 0.2 tokens/s, Avg generation throughput: 1.1 \
              tokens/s, Running: 1 reqs, Swapped: 0 reqs, Pending: 3 reqs, GPU KV cache usage: 0.0%.";
    let expected = Engine { replica: 0, running: 1, queued: 3, generation: 1.1, prompt: 0.2 };
    assert_eq!(engine(v0), Ok(expected));
    assert!(engine("Engine 000: Avg prompt throughput: 7.3 tokens/s, Avg gener").is_err());
}
