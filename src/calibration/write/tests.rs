//! What is written is read back as it was meant, whatever the names and numbers.

use indexmap::IndexMap;
use proptest::prelude::*;

use super::*;
use crate::calibration::{
    Calibration, Family, FitOf, FitRange, Form, KernelForm, Mode, Params, base_for, parse,
};
use crate::collective::Transport;
use crate::runtime::CollectiveOp;
use crate::sourced::Source;
use crate::units::Bytes;

fn read(draft: &Draft) -> Calibration {
    let text = draft.to_yaml();
    let none = |_: &str| Err(std::io::ErrorKind::NotFound.into());
    parse("written", &text, &none).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Texts that YAML could take for something else.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ -~]{1,40}",
        "\\PC{1,20}",
        Just("2.10".to_owned()),
        Just("null".to_owned()),
        Just("- x: |".to_owned()),
        Just("#".to_owned()),
        Just("yes".to_owned()),
        Just("1e3".to_owned()),
        Just("\"'\\".to_owned()),
        Just("two\nlines\tand a tab".to_owned()),
    ]
    .prop_filter("a source cannot be blank", |text| !text.trim().is_empty())
}

fn collective_fit() -> impl Strategy<Value = Fit> {
    let knots = proptest::collection::btree_set(1u32..100_000, 0..4);
    let cv = proptest::option::of(0.0..9.0f64);
    (1e-3..1e5f64, knots, proptest::collection::vec(0.0..1e3f64, 4), cv, any::<bool>(), text()).prop_map(
        |(alpha_us, knots, slopes, cv_error, flagged, note)| {
            let knots_kib: Vec<f64> = knots.into_iter().map(f64::from).collect();
            Fit {
                of: FitOf {
                    op: CollectiveOp::AllReduce,
                    ranks: 8,
                    family: Family::TwoShot,
                    mode: Some(Mode::Graph),
                    transport: Transport::P2p,
                },
                form: if knots_kib.is_empty() { Form::AlphaBeta } else { Form::Piecewise },
                params: Params { alpha_us, beta_us_per_kib: slopes[..=knots_kib.len()].to_vec(), knots_kib },
                range: FitRange { from_bytes: Bytes::new(1024.0), to_bytes: Bytes::new(65_536.0) },
                cv_error,
                // A fit that misses by more than half is read only where it is flagged.
                flagged: flagged || cv_error.is_some_and(|error| error > 0.5),
                source: Source::Fitted,
                note,
            }
        },
    )
}

fn kernel_fit() -> impl Strategy<Value = KernelFit> {
    let rate = proptest::option::of(1e-3..1e5f64);
    let cv = proptest::option::of(0.0..9.0f64);
    (text(), 0.0..1e4f64, 1e-3..1e5f64, rate, cv, any::<bool>()).prop_map(
        |(of, floor_us, gb_s, tflops, cv_error, flagged)| KernelFit {
            of: clean(&of),
            form: if tflops.is_some() { KernelForm::Roofline } else { KernelForm::Bandwidth },
            floor_us,
            gb_s,
            tflops,
            range: FitRange { from_bytes: Bytes::new(1.0), to_bytes: Bytes::new(1e9) },
            cv_error,
            flagged,
        },
    )
}

fn jitter_fit() -> impl Strategy<Value = JitterFit> {
    let cv_error = proptest::option::of(0.0..9.0f64);
    (text(), 1e-3..1e6f64, 0.0..10.0f64, 1u32.., cv_error, any::<bool>()).prop_map(
        |(of, median_us, cv, samples, cv_error, flagged)| JitterFit {
            of: clean(&of),
            median_us,
            cv,
            samples,
            cv_error,
            flagged,
        },
    )
}

/// JSON escapes what YAML would end a line at; a control character stands as a blank in quoted texts alone.
fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

fn draft() -> impl Strategy<Value = Draft> {
    let texts = proptest::collection::vec(text(), 4..=12);
    let fits = proptest::option::of(collective_fit());
    let kernels = proptest::collection::vec(kernel_fit(), 0..3);
    let jitter = proptest::collection::vec(jitter_fit(), 0..3);
    (texts, fits, kernels, jitter, 8u32..1024, any::<bool>()).prop_map(
        |(texts, fits, mut kernel_fits, mut jitter, count, based)| {
            // One thing has one fit.
            let mut seen = std::collections::BTreeSet::new();
            kernel_fits.retain(|fit| seen.insert(fit.of.clone()));
            seen.clear();
            jitter.retain(|fit| seen.insert(fit.of.clone()));
            let environment: IndexMap<String, String> =
                [("NCCL_ALGO".to_owned(), texts[0].clone())].into_iter().collect();
            Draft {
                facts: BoxFacts {
                    gpu: "h200".to_owned(),
                    count,
                    driver: texts[1].clone(),
                    nccl: "2.10".to_owned(),
                    clocks: texts[2].clone(),
                    pcie: "Gen5 x16".to_owned(),
                    topology: texts[3].clone(),
                    environment,
                },
                provenance: Provenance {
                    source: texts[0].clone(),
                    licence: texts[1].clone(),
                    command: texts[2].clone(),
                    date: "2026-01-31".to_owned(),
                },
                base: base_for("h200").filter(|_| based).map(str::to_owned),
                notes: texts,
                tables: vec![("stream", "bytes,median_us\n1024,2.5\n".to_owned())],
                fits: fits.into_iter().collect(),
                kernel_fits,
                jitter,
            }
        },
    )
}

proptest! {
    #[test]
    fn a_written_file_reads_back(draft in draft()) {
        let found = read(&draft);
        let facts = found.facts.expect("facts");
        prop_assert_eq!(facts.count, draft.facts.count);
        prop_assert_eq!(&facts.nccl, "2.10");
        prop_assert_eq!(&facts.environment["NCCL_ALGO"], &clean(&draft.facts.environment["NCCL_ALGO"]));
        prop_assert_eq!(facts.driver, clean(&draft.facts.driver));
        prop_assert_eq!(facts.clocks, clean(&draft.facts.clocks));
        prop_assert_eq!(facts.topology, clean(&draft.facts.topology));
        prop_assert_eq!(&found.provenance.source, &clean(&draft.provenance.source));
        prop_assert_eq!(&found.provenance.command, &clean(&draft.provenance.command));
        prop_assert_eq!(&found.base, &draft.base);
        prop_assert_eq!(found.notes, draft.notes.iter().map(|note| clean(note)).collect::<Vec<_>>());
        prop_assert_eq!(&found.kernel_fits, &draft.kernel_fits);
        prop_assert_eq!(&found.jitter, &draft.jitter);
        let cleaned: Vec<Fit> = draft.fits.iter().map(|f| Fit { note: f.note.clone(), ..f.clone() }).collect();
        prop_assert_eq!(&found.fits, &cleaned);
    }
}

#[test]
fn another_version_is_refused_with_a_sentence() {
    let none = |_: &str| Err(std::io::ErrorKind::NotFound.into());
    for (format, said) in [
        (
            "specplan-calibration/2",
            "the format is `specplan-calibration/2`, this version reads `specplan-calibration/1`",
        ),
        (
            "specplan-calibration/0",
            "the format is `specplan-calibration/0`, this version reads `specplan-calibration/1`",
        ),
    ] {
        let text = format!("format: {format}\nwhatever: 3\n");
        assert_eq!(parse("x", &text, &none).unwrap_err().to_string(), said);
    }
}
