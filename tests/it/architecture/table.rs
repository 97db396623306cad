//! Who may use whom: the table of `ARCHITECTURE.md`, as data.
//!
//! Rows stand in the order of the data flow. A row may name modules above it only, so the table has no cycles.

/// What one module may use, beside itself and the modules that are open to all.
pub(super) struct Row {
    /// Module below the crate; a deeper path overrides its parent's row.
    pub(super) module: &'static str,
    /// Modules, or single items of a module, that it may use.
    pub(super) may_use: &'static [&'static str],
    /// Why no more than these.
    pub(super) because: &'static str,
}

/// Modules that every other module may use, unless [`CLOSED`] names it.
pub(super) const OPEN: &[&str] = &["units", "sourced", "diagnostic"];

/// Modules to which the open ones are closed too; their row lists all that they may use.
pub(super) const CLOSED: &[&str] = &["des"];

/// The table.
pub(super) const TABLE: &[Row] = &[
    Row { module: "units", may_use: &[], because: "quantities know nothing but one another" },
    Row { module: "sourced", may_use: &[], because: "provenance is independent of what it labels" },
    Row {
        module: "diagnostic",
        may_use: &[],
        because: "an error message knows places in a file, no physics",
    },
    Row {
        module: "des",
        may_use: &["units"],
        because: "a generic event kernel knows no GPU, token or scenario",
    },
    Row { module: "runtime", may_use: &[], because: "data only: what a server does per operation" },
    Row {
        module: "hardware",
        may_use: &[],
        because: "GPUs and links exist without models, layers or speculation",
    },
    Row { module: "model", may_use: &[], because: "shapes and widths, no hardware, cost or time" },
    Row {
        module: "collective",
        may_use: &["hardware", "runtime"],
        because: "an all-reduce knows bytes and links, not who sends them",
    },
    Row {
        module: "forward",
        may_use: &["model", "runtime"],
        because: "the operations of a pass hold neither hardware nor any time",
    },
    Row {
        module: "calibration",
        may_use: &[
            "hardware",
            "runtime",
            "collective::Transport",
            "collective::Backend",
            "collective::Algorithm",
            "collective::Protocol",
            "model::KvFormat",
            "model::WeightFormat",
            "model::parse_weight_format",
        ],
        because: "tables are keyed by the vocabulary of their neighbours and know no scenario and no solver",
    },
    Row {
        module: "calibration::measure",
        may_use: &[
            "hardware",
            "runtime",
            "collective",
            "model::KvFormat",
            "model::WeightFormat",
            "model::parse_weight_format",
            "calibration",
        ],
        because: "measuring fills calibration files and nothing else",
    },
    Row {
        module: "cost",
        may_use: &["forward", "hardware", "collective", "calibration", "runtime", "model"],
        because: "prices operations, whoever asks; it knows no scenario and no speculation",
    },
    Row {
        module: "speculation",
        may_use: &["cost", "runtime"],
        because: "drafting and acceptance see priced passes, not how they were priced",
    },
    Row {
        module: "analytic",
        may_use: &["speculation"],
        because: "closed forms over a cycle; it meets the simulators only in a test",
    },
    Row {
        module: "machine",
        may_use: &["speculation", "des", "hardware", "collective", "cost", "runtime"],
        because: "simulates a cycle, and must not borrow from the closed forms it is checked against",
    },
    Row {
        module: "serving",
        may_use: &["speculation", "des", "hardware", "collective"],
        because: "simulates requests, and must not borrow from the closed forms it is checked against",
    },
    Row { module: "import", may_use: &[], because: "an observation holds what a foreign file says, no more" },
    Row {
        module: "scenario",
        may_use: &["hardware", "model", "runtime", "collective", "forward", "speculation", "calibration"],
        because: "fills types; it solves, simulates, reports and prints nothing",
    },
    Row {
        module: "uncertainty",
        may_use: &[],
        because: "takes a function of scores to outputs and knows nothing of its inside",
    },
    Row {
        module: "evaluate",
        may_use: &[
            "hardware",
            "model",
            "runtime",
            "collective",
            "forward",
            "cost",
            "calibration",
            "speculation",
            "analytic",
            "scenario",
            "uncertainty",
        ],
        because: "the one place that walks from a setup to a prediction, without simulation or strings for people",
    },
    Row {
        module: "simulation",
        may_use: &[
            "des",
            "runtime",
            "hardware",
            "model",
            "forward",
            "speculation",
            "machine",
            "serving",
            "scenario",
            "evaluate",
        ],
        because: "walks from a setup to a simulation, and only here simulators and closed forms meet; no strings for people",
    },
    Row {
        module: "sweep",
        may_use: &["scenario", "analytic"],
        because: "takes a function Setup → Prediction",
    },
    Row {
        module: "tune",
        may_use: &["scenario", "analytic", "speculation", "runtime", "collective"],
        because: "takes a function Setup → Prediction, and varies the vocabulary of a setup",
    },
    Row { module: "validation", may_use: &["analytic"], because: "compares predictions with observations" },
    Row {
        module: "report",
        may_use: &[
            "analytic",
            "validation",
            "machine::Distribution",
            "machine::PassResult",
            "machine::RankAllreduce",
            "serving::Arrivals",
            "serving::Latency",
            "serving::Length",
            "serving::Lengths",
            "serving::ServingConfig",
            "serving::ServingResult",
            "serving::Slo",
            "simulation",
            "sweep",
            "tune",
            "uncertainty",
        ],
        because: "strings and pictures of results; it computes no physical quantity, not even a ratio",
    },
    Row { module: "explain", may_use: &[], because: "data: terms and error codes as text" },
    Row {
        module: "cli",
        may_use: &[
            "des",
            "runtime",
            "hardware",
            "model",
            "collective",
            "forward",
            "calibration",
            "calibration::measure",
            "cost",
            "speculation",
            "analytic",
            "machine",
            "serving",
            "import",
            "scenario",
            "evaluate",
            "simulation",
            "uncertainty",
            "sweep",
            "tune",
            "validation",
            "report",
            "explain",
        ],
        because: "wires everything; nothing imports it",
    },
];

/// Files that may be longer than the limit, each with its reason.
pub(super) const LONG_FILES: &[(&str, &str)] = &[];
