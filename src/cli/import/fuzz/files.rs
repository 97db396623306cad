//! specplan's own files, mutated.

use super::Target;
use crate::calibration;
use crate::cli::measurements;
use crate::diagnostic::{SourceText, render_all};
use crate::hardware;
use crate::scenario::{self, Builtin, Overrides, tree};
use crate::serving::Trace;

/// Readers of files that are no imports.
pub(super) const TARGETS: &[Target] = &[
    Target { word: "calibration", check: |_, bytes, _| drop(calibration(&lossy(bytes))) },
    Target { word: "box", check: |_, bytes, _| drop(hardware(&lossy(bytes))) },
    Target { word: "acceptance", check: |_, bytes, _| drop(acceptance(&lossy(bytes))) },
    Target { word: "scenario", check: |_, bytes, _| drop(scenario(bytes)) },
    Target { word: "measurements", check: |_, bytes, _| drop(measured(bytes)) },
    Target { word: "request-trace", check: |_, bytes, _| drop(Trace::read(bytes)) },
];

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Reads a calibration; one that is sound is so after it was written again.
pub(super) fn calibration(yaml: &str) -> Result<(), String> {
    let none = |_: &str| Err(std::io::ErrorKind::NotFound.into());
    calibration::parse("file", yaml, &none).map(drop).map_err(|error| error.to_string())
}

/// Reads a box.
pub(super) fn hardware(yaml: &str) -> Result<(), String> {
    let source = SourceText::file("file", yaml.to_owned());
    let tree = tree::parse(&source).map_err(|fault| format!("{fault:?}"))?;
    hardware::parse("file", &tree.to_json()).map(drop).map_err(|error| error.to_string())
}

/// Opens the least scenario that names an acceptance file.
pub(super) fn acceptance(yaml: &str) -> Result<(), String> {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("acceptance.yaml"), yaml).expect("written");
    let path = folder.path().join("scenario.yaml");
    let text = "baseline: { observed: { throughput: 82 tok/s } }\nspeculation:\n  draft_tokens: 257\n  \
                acceptance: { file: acceptance.yaml }\n  verify: { observed: { time: 30 ms } }\n";
    std::fs::write(&path, text).expect("written");
    opened(&path)
}

fn scenario(bytes: &[u8]) -> Result<(), String> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("scenario.yaml");
    std::fs::write(&path, bytes).expect("written");
    opened(&path)
}

fn opened(path: &std::path::Path) -> Result<(), String> {
    match scenario::open(path, &Overrides::default(), &Builtin) {
        Ok(_) => Ok(()),
        Err(found) => Err(render_all(&found, false)),
    }
}

fn measured(bytes: &[u8]) -> Result<(), String> {
    for row in measurements::parse(bytes, "file", None)? {
        let _ = row.setup(&measurements::Machine::default());
    }
    Ok(())
}
