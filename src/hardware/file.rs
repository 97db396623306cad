//! Box files: the form in which presets ship and users describe their own machines.
//!
//! ```yaml
//! gpu: rtx-4090                 # a preset, or { base: rtx-4090, memory: 48 GiB, ... }
//! count: 4
//! p2p: true                     # patched driver; left out: what the stock driver does
//! topology:                     # left out or `unknown`: rings rest on assumed figures, and the notes say so
//!   cpu: amd-genoa
//!   sockets:                    # each socket a list of root ports
//!     - [{ gpus: 1 }, { gpus: 1 }, { switch: { gpus: 2 } }]
//! ```
//! Unknown keys, counts that disagree, values without units and figures that no machine has are errors, as
//! sentences that name the key. The ranges are \[B\]: wide enough for every GPU of the last and the next ten
//! years, and narrow enough that no product or quotient of them leaves what a `f64` can hold.

mod error;
mod fabric;
mod keys;

use serde_json::Value;

use super::gpu::{Gpu, Pcie};
use super::gpu_table::{gpu_entries, gpu_preset};
use super::preset::closest;
use super::topology::PathKind;
use super::{GraphFile, Hardware};
use crate::sourced::Sourced;
use keys::Keys;

pub use error::HardwareError;

/// The most GPUs of one host.
const MOST_GPUS: u32 = 64;
/// Bandwidths of links.
const LINK: (&str, &str) = ("0.1 GB/s", "10 TB/s");
/// Rates of operations.
const RATE: (&str, &str) = ("0.01 TFLOPS", "1000 PFLOPS");

const KEYS: &[&str] =
    &["gpu", "count", "p2p", "topology", "p2p_level", "graph_file", "calibration", "source", "notes"];

const GPU_KEYS: &[&str] =
    &["base", "memory", "bandwidth", "achieved_bandwidth", "bf16", "fp8", "fp4", "pcie"];

const GPU: &str = "it takes the name of a GPU preset, or keys with a `base`";

const PATHS: &[(&str, PathKind)] = &[
    ("NVLINK", PathKind::Nvlink),
    ("PIX", PathKind::Pix),
    ("PXB", PathKind::Pxb),
    ("PHB", PathKind::Phb),
    ("NODE", PathKind::Node),
    ("SYS", PathKind::Sys),
];

/// Reads a box file that was turned into JSON values.
///
/// # Errors
/// See [`HardwareError`]; the first thing wrong is reported.
pub fn parse(name: &str, value: &Value) -> Result<Hardware, HardwareError> {
    let keys = Keys::of(String::new(), value, KEYS, "a map with the keys `gpu` and `count`")?;
    let gpu = gpu(keys.needed("gpu", GPU)?)?;
    let missing =
        || HardwareError::Missing { key: "count".to_owned(), takes: "it takes how many GPUs there are" };
    let count = keys.whole("count", 1..=MOST_GPUS)?.ok_or_else(missing)?;
    let mut notes = notes(&keys)?;
    let topology = fabric::topology(keys.get("topology"), &gpu, count, &mut notes)?;
    Ok(Hardware {
        name: name.to_owned(),
        p2p: keys.flag("p2p")?.unwrap_or(gpu.p2p_over_pcie),
        gpu,
        count,
        topology,
        p2p_level: keys.word("p2p_level", PATHS)?,
        graph_file: keys.get("graph_file").map(graph_file).transpose()?,
        default_calibration: keys.text("calibration")?.filter(|name| !name.is_empty()).map(str::to_owned),
        source: keys.text("source")?.unwrap_or_default().to_owned(),
        notes,
    })
}

fn notes(keys: &Keys) -> Result<Vec<String>, HardwareError> {
    let list = keys.list("notes", "a list of texts")?.unwrap_or_default();
    let note = |(at, value): (usize, &Value)| {
        let text = value.as_str().map(str::to_owned);
        text.ok_or_else(|| keys::wrong(format!("notes[{at}]"), "a text", value))
    };
    list.iter().enumerate().map(note).collect()
}

fn graph_file(value: &Value) -> Result<GraphFile, HardwareError> {
    const TAKES: &str = "keys `channels` and `speed`";
    let keys = Keys::of("graph_file".to_owned(), value, &["channels", "speed"], TAKES)?;
    let missing = |key: &str, takes| HardwareError::Missing { key: keys.path(key), takes };
    Ok(GraphFile {
        channels: keys
            .whole("channels", 1..=64)?
            .ok_or_else(|| missing("channels", "it takes a number of channels"))?,
        speed: keys
            .quantity("speed", LINK.0, LINK.1)?
            .ok_or_else(|| missing("speed", "it takes the bandwidth of a channel, as in `24 GB/s`"))?,
    })
}

fn gpu(value: &Value) -> Result<Gpu, HardwareError> {
    if let Some(name) = value.as_str() {
        return named_gpu(name);
    }
    let keys =
        Keys::of("gpu".to_owned(), value, GPU_KEYS, "the name of a GPU preset, or keys with a `base`")?;
    let base = keys.text("base")?;
    let missing =
        || HardwareError::Missing { key: keys.path("base"), takes: "it takes the name of a GPU preset" };
    let mut gpu = named_gpu(base.ok_or_else(missing)?)?;
    gpu.memory = keys.quantity("memory", "1 GiB", "10 TiB")?.unwrap_or(gpu.memory);
    gpu.bandwidth = keys.quantity("bandwidth", "1 GB/s", "1000 TB/s")?.unwrap_or(gpu.bandwidth);
    if let Some(value) = keys.get("achieved_bandwidth") {
        const SHARE: &str = "a share from 0.01 to 1";
        let share =
            value.as_f64().ok_or_else(|| keys::wrong(keys.path("achieved_bandwidth"), SHARE, value))?;
        if !(0.01..=1.0).contains(&share) {
            return Err(keys.out_of_range("achieved_bandwidth", value, SHARE.to_owned()));
        }
        gpu.achieved_bandwidth = Sourced::given(share);
    }
    let rate = |key| keys.quantity(key, RATE.0, RATE.1);
    gpu.bf16 = rate("bf16")?.unwrap_or(gpu.bf16);
    gpu.fp8 = rate("fp8")?.or(gpu.fp8);
    gpu.fp4 = rate("fp4")?.or(gpu.fp4);
    if let Some(value) = keys.get("pcie") {
        gpu.pcie = pcie(value, keys.path("pcie"))?;
    }
    Ok(gpu)
}

fn pcie(value: &Value, place: String) -> Result<Pcie, HardwareError> {
    const TAKES: &str = "keys `generation` and `lanes`";
    let keys = Keys::of(place, value, &["generation", "lanes"], TAKES)?;
    let missing = |key: &str, takes| HardwareError::Missing { key: keys.path(key), takes };
    let generation = keys
        .whole("generation", 1..=6)?
        .ok_or_else(|| missing("generation", "it takes a number from 1 to 6"))?;
    let lanes =
        keys.whole("lanes", 1..=16)?.ok_or_else(|| missing("lanes", "it takes 1, 2, 4, 8 or 16 lanes"))?;
    if !lanes.is_power_of_two() {
        return Err(keys.out_of_range("lanes", lanes, "1, 2, 4, 8 or 16".to_owned()));
    }
    Ok(Pcie { generation: generation as u8, lanes: lanes as u8 })
}

fn named_gpu(name: &str) -> Result<Gpu, HardwareError> {
    gpu_preset(name).ok_or_else(|| HardwareError::UnknownGpu {
        name: keys::shown(name),
        closest: closest(name, gpu_entries()),
        known: gpu_entries().iter().map(|entry| entry.name.as_str()).collect::<Vec<_>>().join(", "),
    })
}
