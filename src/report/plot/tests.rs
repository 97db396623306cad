//! Figures of the reference case and of public measurements: they draw, they are deterministic, and every label
//! keeps off every other.

use std::path::PathBuf;

use super::*;
use crate::analytic::{Crossing, Verdict};
use crate::report::{png, reference};
use crate::units::{AcceptLength, Bytes, Seconds, TokensPerSecond};

const SETUP: &str = "Kimi-K2.5 on 8x RTX PRO 6000, SGLang, TP8, batch 1, context 2,048";

fn rate(tokens: f64, ms: f64) -> TokensPerSecond {
    TokensPerSecond::new(tokens / ms * 1e3)
}

fn verify_curve() -> String {
    let ms = Seconds::from_ms;
    throughput_against_verify(&VerifyCurve {
        setup: SETUP.to_owned(),
        baseline: TokensPerSecond::new(82.0),
        accept_length: AcceptLength::new(2.0),
        curve: (10..=160).map(|i| f64::from(i) * 0.25).map(|v| (ms(v), rate(2.0, v + 10.0 / 3.0))).collect(),
        break_even: Some(ms(21.0569)),
        observed: Some((ms(30.0), TokensPerSecond::new(60.0))),
        model: Some((ms(24.4), TokensPerSecond::new(73.3))),
    })
}

fn accept_curve() -> String {
    let length = AcceptLength::new;
    throughput_against_accept_length(&AcceptCurve {
        setup: SETUP.to_owned(),
        baseline: TokensPerSecond::new(82.0),
        limit: length(3.0),
        curve: (0..=40)
            .map(|i| 1.0 + f64::from(i) * 0.05)
            .map(|l| (length(l), rate(l, 100.0 / 3.0)))
            .collect(),
        break_even: Some(length(2.7333)),
        observed: Some((length(2.0), TokensPerSecond::new(60.0))),
        model: Some((length(2.0), TokensPerSecond::new(73.3))),
    })
}

fn heat_map() -> String {
    let verify: Vec<f64> = (0..=50).map(|i| 5.0 + f64::from(i) * 0.7).collect();
    let lengths: Vec<f64> = (0..=40).map(|i| 1.0 + f64::from(i) * 0.05).collect();
    let speedup = |l: f64, v: f64| l * (1000.0 / 82.0) / (v + 10.0 / 3.0);
    speedup_map(&HeatMap {
        setup: SETUP.to_owned(),
        verify: verify.iter().copied().map(Seconds::from_ms).collect(),
        accept_length: lengths.iter().copied().map(AcceptLength::new).collect(),
        speedup: lengths.iter().map(|&l| verify.iter().map(|&v| speedup(l, v)).collect()).collect(),
        break_even: Some(Seconds::from_ms(21.0569)),
        observed: Some((Seconds::from_ms(30.0), AcceptLength::new(2.0), 0.7317)),
        model: Some((Seconds::from_ms(24.4), AcceptLength::new(2.0), 0.8465)),
    })
}

/// The made-up vector with cliffs: three tokens drafted, accept length 2.4, 2 ms to draft.
fn batch_curve() -> String {
    let crossing = |at: &str, verdict, speedup| Crossing { at: at.to_owned(), verdict, speedup };
    speedup_against_batch(&BatchCurve {
        setup: SETUP.to_owned(),
        points: vec![(1, 1.714), (2, 1.650), (4, 0.900), (8, 0.884), (16, 1.500), (32, 1.271)],
        crossings: vec![
            crossing("1", Verdict::Wins, 1.714),
            crossing("4", Verdict::Loses, 0.900),
            crossing("16", Verdict::Wins, 1.500),
        ],
    })
}

/// NCCL 2.29.2 on 8x RTX PRO 6000 (aiconfigurator-core 0.12.0), and the one-shot fits on PCIe switches
/// (local-inference-lab/rtx6kpro).
fn allreduce() -> String {
    let kib = [1.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0, 4096.0];
    let nccl = [24.2, 26.7, 27.0, 29.4, 34.2, 47.8, 84.8, 156.0, 132.0, 345.0];
    let eager = [31.0, 31.0, 30.0, 70.0, 40.0, 51.0, 86.0, 156.0, 135.0, 346.0];
    let points = |times: &[f64]| -> Vec<(Bytes, Seconds)> {
        kib.iter().zip(times).map(|(&k, &t)| (Bytes::from_kib(k), Seconds::from_us(t))).collect()
    };
    let one_shot = [(1.0, 7.5), (8.0, 9.2), (32.0, 16.5), (64.0, 25.9), (256.0, 73.6)];
    let fit =
        (0..=12).map(|i| 2_f64.powi(i)).map(|k| (Bytes::from_kib(k), Seconds::from_us(6.9 + 0.298 * k)));
    allreduce_against_bytes(&AllreduceCurves {
        setup: "8x RTX PRO 6000 on PCIe, NCCL 2.29.2 measured by aiconfigurator-core 0.12.0".to_owned(),
        series: vec![
            AllreduceSeries {
                name: "NCCL in a graph".to_owned(),
                curve: points(&nccl),
                measured: points(&nccl),
            },
            AllreduceSeries {
                name: "SGLang, eager".to_owned(),
                curve: points(&eager),
                measured: points(&eager),
            },
            AllreduceSeries {
                name: "one-shot on switches (fitted)".to_owned(),
                curve: fit.collect(),
                measured: one_shot.iter().map(|&(k, t)| (Bytes::from_kib(k), Seconds::from_us(t))).collect(),
            },
        ],
        marks: vec![
            MessageSize {
                name: "decode".to_owned(),
                bytes: Bytes::new(14_336.0),
                time: Some(Seconds::from_us(26.9)),
            },
            MessageSize {
                name: "verify".to_owned(),
                bytes: Bytes::new(43_008.0),
                time: Some(Seconds::from_us(30.9)),
            },
        ],
    })
}

/// Decode steps and cycles of Kimi-K2.6 on 8x RTX PRO 6000 as measured, with made-up predictions beside.
fn comparison() -> String {
    let steps = [10.82, 13.22, 16.70, 22.80, 25.15, 33.41, 42.74, 57.59];
    let cycles = [20.34, 23.32, 24.92, 40.26, 43.75, 59.81, 83.6, 128.3];
    let errors = [0.03, -0.05, 0.08, -0.02, 0.17, 0.01, -0.12, 0.04];
    let point = |level: &str, prefix: &str, i: usize, measured: f64, error: f64| ComparedPoint {
        id: format!("{prefix}-b{}", 1 << i),
        level: level.to_owned(),
        predicted: measured * (1.0 + error),
        measured,
    };
    let steps = steps.iter().enumerate().map(|(i, &m)| point("V1: decode step", "step", i, m, errors[i]));
    let cycles = cycles
        .iter()
        .enumerate()
        .map(|(i, &m)| point("V2: draft/verify cycle", "cycle", i, m, errors[7 - i]));
    predicted_against_measured(&Comparison {
        title: "Median error 5 % over 16 times, worst +17 % (step-b16)".to_owned(),
        setup: "Kimi-K2.6 INT4 on 8x RTX PRO 6000, vLLM, TP8".to_owned(),
        quantity: "time".to_owned(),
        unit: "ms".to_owned(),
        points: steps.chain(cycles).collect(),
    })
}

fn bars() -> String {
    time_breakdown(&Bars::new(&reference::prediction(), SETUP))
}

fn speedup_tornado() -> String {
    let bar = |name: &str, range: &str, at_low, at_high| TornadoBar {
        name: name.to_owned(),
        range: range.to_owned(),
        at_low,
        at_high,
    };
    tornado(&Tornado {
        setup: SETUP.to_owned(),
        title: "What moves the speedup of 1.10x most: accept length".to_owned(),
        speedup: 1.1,
        bars: vec![
            bar("host per cycle, overlapped", "0.300 to 1.00 ms", 1.15, 1.06),
            bar("accept length", "1.80 to 2.20 tokens", 0.98, 1.21),
            bar("throughput with speculation", "57.1 to 62.9 tok/s", 1.09, 1.10),
            bar("no number", "", f64::NAN, 1.0),
        ],
    })
}

fn all() -> Vec<(&'static str, String)> {
    vec![
        ("throughput-verify", verify_curve()),
        ("throughput-accept-length", accept_curve()),
        ("speedup-map", heat_map()),
        ("breakdown", bars()),
        ("speedup-batch", batch_curve()),
        ("allreduce", allreduce()),
        ("validation", comparison()),
        ("tornado", speedup_tornado()),
    ]
}

#[test]
fn every_figure_is_an_svg_that_becomes_a_png() {
    // SPECPLAN_FIGURES names a folder in which to look at them.
    let folder = std::env::var_os("SPECPLAN_FIGURES").map(PathBuf::from);
    for (name, svg) in all() {
        assert!(svg.starts_with("<svg width=\"800\""), "{name}");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{name}");
        let png = png(&svg, 800).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(png.starts_with(b"\x89PNG"), "{name}");
        if let Some(folder) = &folder {
            std::fs::write(folder.join(format!("{name}.svg")), svg).expect("the folder can be written");
            std::fs::write(folder.join(format!("{name}.png")), png).expect("the folder can be written");
        }
    }
}

#[test]
fn the_same_data_give_the_same_bytes() {
    assert_eq!(all(), all());
}

#[test]
fn titles_state_the_finding() {
    assert!(verify_curve().contains("Verify must fall below 21.1 ms to beat 82.0 tok/s"));
    assert!(accept_curve().contains("Accept length must rise from 2.00 to 2.73 to reach 82.0 tok/s"));
    assert!(batch_curve().contains("Speculation wins from 1, loses from 4, wins from 16 requests"));
}

#[test]
fn figures_without_data_draw_their_frame() {
    let none = AllreduceCurves { setup: String::new(), series: vec![], marks: vec![] };
    let batch = BatchCurve { setup: String::new(), points: vec![], crossings: vec![] };
    let map = HeatMap {
        setup: String::new(),
        verify: vec![],
        accept_length: vec![],
        speedup: vec![],
        break_even: None,
        observed: None,
        model: None,
    };
    for svg in [allreduce_against_bytes(&none), speedup_against_batch(&batch), speedup_map(&map)] {
        assert!(svg.trim_end().ends_with("</svg>"));
    }
}

/// The boxes of all texts, as drawn with the embedded font.
fn text_boxes(group: &resvg::usvg::Group) -> Vec<(String, resvg::tiny_skia::Rect)> {
    let mut found = vec![];
    for node in group.children() {
        match node {
            resvg::usvg::Node::Group(inner) => found.extend(text_boxes(inner)),
            resvg::usvg::Node::Text(text) => {
                let words =
                    text.chunks().iter().map(|chunk| chunk.text().to_owned()).collect::<Vec<_>>().concat();
                found.push((words, text.abs_bounding_box()));
            }
            _ => {}
        }
    }
    found
}

#[test]
fn no_text_covers_another_or_leaves_the_figure() {
    for (name, svg) in all() {
        let options = resvg::usvg::Options { fontdb: crate::report::png::fonts(), ..Default::default() };
        let tree = resvg::usvg::Tree::from_str(&svg, &options).expect("a figure is an SVG");
        let boxes = text_boxes(tree.root());
        assert!(boxes.len() > 10, "{name}");
        for (i, (words, a)) in boxes.iter().enumerate() {
            assert!(
                a.left() >= 0.0 && a.right() <= tree.size().width(),
                "{name}: `{words}` leaves the figure"
            );
            for (others, b) in &boxes[i + 1..] {
                assert!(a.intersect(b).is_none(), "{name}: `{words}` covers `{others}`");
            }
        }
    }
}
