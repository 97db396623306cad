//! The user's PyTorch: found, run with the shipped script, its rows kept beside those of specplan's own meter.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use super::measure::Run;
use crate::calibration::Mode;
use crate::calibration::measure::plan::{Depth, Part, Plan, Shapes, transport_of, word};
use crate::calibration::measure::probe::{self, Probe, Probed};
use crate::calibration::measure::{FailureKind, Task};
use crate::cli::args::CalibrateArgs;
use crate::cli::exit::Failure;
use crate::cli::output::say;
use crate::model::WeightFormat;

/// The script, as it stands in the repository.
const SCRIPT: &str = include_str!("../../../calibration/probe_torch.py");
/// Its time.
const LIMIT_QUICK: Duration = Duration::from_secs(20);
const LIMIT_FULL: Duration = Duration::from_secs(75);

/// The python to probe with; none: none was found, or none is wanted.
pub(super) fn python(args: &CalibrateArgs, parts: &std::collections::BTreeSet<Part>) -> Option<PathBuf> {
    let wanted = [Part::Launch, Part::Collectives].iter().any(|part| parts.contains(part));
    if args.no_torch || !wanted {
        return None;
    }
    if let Some(python) = &args.python {
        return Some(python.clone());
    }
    // Made-up times are not mixed with true ones.
    if args.synthetic.is_some() {
        return None;
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join("python3")).find(|python| python.is_file())
}

/// How long it may take.
pub(super) const fn limit(depth: Depth) -> Duration {
    match depth {
        Depth::Quick => LIMIT_QUICK,
        Depth::Full => LIMIT_FULL,
    }
}

impl Run<'_> {
    /// Runs the probe; none where the user stopped it.
    pub(super) fn probe(&self, python: &Path, stop: &dyn Fn() -> bool) -> Result<Option<Probed>, Failure> {
        let cannot = |error| Failure::Input(format!("cannot write a temporary file: {error}"));
        let folder = std::env::temp_dir().join(format!("specplan-{}", std::process::id()));
        std::fs::create_dir_all(&folder).map_err(cannot)?;
        let script = folder.join("probe_torch.py");
        std::fs::write(&script, SCRIPT).map_err(cannot)?;
        let limit = limit(self.wish.depth);
        let shapes = self.probe_shapes(limit);
        let probe = Probe {
            python,
            script: &script,
            shapes: &shapes,
            devices: self.launcher.devices.as_deref(),
            limit,
        };
        let probed = probe::run(&probe, stop);
        let _ = std::fs::remove_dir_all(&folder);
        if let Some(probed) = &probed {
            self.tell_probe(probed);
        }
        Ok(probed)
    }

    /// A python without PyTorch is no fault, unless it was named.
    fn tell_probe(&self, probed: &Probed) {
        if self.args.quiet {
            return;
        }
        match &probed.ended {
            None => {}
            Some(failure) if self.args.python.is_some() => {
                say(&format!("warning: the PyTorch probe: {} ({})", failure.because, word(&failure.kind)));
            }
            Some(failure) if probed.rows.is_empty() && failure.kind == FailureKind::Crashed => {
                say(&format!(
                    "note: PyTorch is not probed ({}); --python PATH names the python of your server",
                    failure.because
                ));
            }
            Some(failure) => say(&format!("note: the PyTorch probe ended early: {}", failure.because)),
        }
    }

    fn probe_shapes(&self, limit: Duration) -> Value {
        let transport = transport_of(self.found, &self.wish.environment);
        let quick = self.wish.depth == Depth::Quick;
        let mut shapes = json!({
            "gpus": self.found.gpus.len(),
            "transport": word(&transport),
            "limit_s": limit.as_secs(),
            "tasks": tasks(self.plan),
            "collective_bytes": messages(self.plan),
        });
        if quick {
            shapes["tokens"] = json!([1, 4, 16, 64]);
            shapes["batches"] = json!([1, 16]);
            shapes["rows"] = json!([1, 4]);
            shapes["contexts"] = json!([1024, 8192]);
        }
        if let Some(wanted) = &self.wish.shapes {
            shapes["tensor"] = json!(wanted.ranks.max(1));
            shapes["models"] = json!([model(wanted)]);
        }
        shapes
    }
}

/// A whole model from the shapes of a rank, as far as they tell; the script has defaults for the rest.
fn model(shapes: &Shapes) -> Value {
    let ranks = shapes.ranks.max(1);
    let mut model = json!({ "hidden": shapes.hidden, "vocabulary": shapes.vocabulary });
    if let Some(attention) = shapes.attention.first() {
        model["heads"] = json!(attention.heads * ranks);
        model["kv_heads"] = json!(attention.kv_heads * ranks);
        model["head_dim"] = json!(attention.head_dim);
    }
    if let Some(experts) = shapes.experts.first() {
        model["width"] = json!(experts.width);
        model["experts"] = json!(experts.experts);
        model["per_token"] = json!(experts.per_token);
    }
    model
}

/// The planned kernels that plain PyTorch has too.
fn tasks(plan: &Plan) -> Vec<&Task> {
    let wanted = |task: &&Task| match task {
        Task::Gemm { weights, .. } | Task::Moe { weights, .. } => *weights == WeightFormat::Bf16,
        Task::Attention { kv, .. } => *kv == crate::model::KvFormat::Bf16,
        _ => false,
    };
    // The whole grid would take minutes through PyTorch: a scenario's shapes come first in a plan.
    plan.tasks().map(|(_, request)| &request.task).filter(wanted).take(400).collect()
}

/// The planned messages of graphs.
fn messages(plan: &Plan) -> Vec<u64> {
    let mut sizes: Vec<u64> = plan
        .tasks()
        .filter_map(|(_, request)| match &request.task {
            Task::Collective(c) if c.mode == Mode::Graph && c.bytes <= 16 << 20 => Some(c.bytes),
            _ => None,
        })
        .collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// What the file says about the probe.
pub(super) fn note(probed: &Probed) -> Option<String> {
    if probed.rows.is_empty() {
        return None;
    }
    let version = if probed.version.is_empty() { String::new() } else { format!(" {}", probed.version) };
    let failed = match probed.failed + probed.unreadable {
        0 => String::new(),
        n => format!("; {n} operations could not be timed"),
    };
    Some(format!("Rows of `pytorch` come from the user's PyTorch{version}{failed}."))
}
