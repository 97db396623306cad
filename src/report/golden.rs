//! The reference case in every format, against committed text.

use insta::assert_snapshot;

use super::reference::{context, observed_only, prediction};
use super::wrap::columns;
use super::{Style, csv, json, json_schema, markdown, text};
use crate::analytic::Verdict;

const PLAIN: Style = Style { color: false, width: 80 };

/// The text without its colour codes.
fn stripped(colored: &str) -> String {
    let mut pieces = colored.split('\u{1b}');
    let first = pieces.next().unwrap_or_default().to_owned();
    let code = |piece: &str| piece.split_once('m').expect("a colour code ends in m").1.to_owned();
    first + &pieces.map(code).collect::<String>()
}

#[test]
fn text_of_the_reference_case() {
    assert_snapshot!(text(&prediction(), &context(), &PLAIN));
}

#[test]
fn text_without_a_hardware_model() {
    let context = super::Context {
        calibration_name: None,
        overrides: vec![("speculation.verify.time".to_owned(), "30 ms".to_owned())],
        ..context()
    };
    assert_snapshot!(text(&observed_only(), &context, &PLAIN));
}

#[test]
fn markdown_of_the_reference_case() {
    assert_snapshot!(markdown(&prediction(), &context()));
}

#[test]
fn csv_of_the_reference_case() {
    assert_snapshot!(csv(&prediction(), &context()));
}

#[test]
fn json_of_the_reference_case() {
    let text = serde_json::to_string_pretty(&json(&prediction(), &context())).expect("a JSON value prints");
    assert_snapshot!(text);
}

#[test]
fn the_first_line_answers() {
    let text = text(&prediction(), &context(), &PLAIN);
    assert_eq!(
        text.lines().next(),
        Some("Speculation loses: 60.0 tok/s, against 82.0 tok/s without it (0.73x).")
    );
}

#[test]
fn no_line_is_wider_than_asked_or_ends_in_blanks() {
    for width in [60, 72, 80, 120] {
        for p in [prediction(), observed_only()] {
            for line in text(&p, &context(), &Style { color: false, width }).lines() {
                assert!(width < 80 || columns(line) <= width, "{width}: {line}");
                assert_eq!(line, line.trim_end());
            }
        }
    }
}

#[test]
fn colour_changes_nothing_but_colour() {
    let colored = text(&prediction(), &context(), &Style { color: true, width: 80 });
    assert!(colored.contains("\u{1b}[31mSpeculation loses\u{1b}[0m"));
    assert_eq!(stripped(&colored), text(&prediction(), &context(), &PLAIN));
}

#[test]
fn a_win_turns_the_levers_into_what_may_change() {
    let mut p = prediction();
    p.verdict = Verdict::Wins;
    p.win_probability = Some(0.995);
    let text = text(&p, &context(), &PLAIN);
    assert!(text.starts_with("Speculation wins: "), "{text}");
    assert!(text.contains("To stay above 82.0 tok/s"), "{text}");
    assert!(text.contains("over 99 %"), "{text}");
}

#[test]
fn numbers_that_are_not_finite_become_null() {
    let mut p = prediction();
    p.speedup.used.value = f64::INFINITY;
    p.elasticities[0].value = f64::NAN;
    let json = json(&p, &context());
    assert!(json["speedup"]["value"].is_null());
    assert!(json["elasticities"][0]["value"].is_null());
}

#[test]
fn the_schema_names_every_key_of_the_report() {
    let schema = json_schema();
    let report = json(&prediction(), &context());
    for key in report.as_object().expect("a report is an object").keys() {
        assert!(schema["properties"].get(key).is_some(), "{key}");
    }
}

/// Only what a study adds, in text and Markdown.
#[test]
fn how_sure_the_reference_case_is() {
    let studied = super::Context { uncertainty: Some(super::reference::uncertainty()), ..context() };
    let added = |with: &str, without: &str| {
        with.lines()
            .filter(|line| !without.lines().any(|other| other == *line))
            .collect::<Vec<_>>()
            .join("\n")
    };
    let plain = text(&prediction(), &studied, &PLAIN);
    assert!(plain.lines().all(|line| columns(line) <= 80), "{plain}");
    assert_snapshot!(added(&plain, &text(&prediction(), &context(), &PLAIN)));
    assert_snapshot!(added(&markdown(&prediction(), &studied), &markdown(&prediction(), &context())));
}
