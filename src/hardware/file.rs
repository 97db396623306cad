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
//! Unknown keys, counts that disagree and values without units are errors, as sentences.

use serde::Deserialize;
use serde_json::Value;

use super::gpu::{Gpu, Pcie};
use super::gpu_table::{gpu_entries, gpu_preset};
use super::preset::closest;
use super::route::Ring;
use super::topology::{Builder, Cpu, Nvlink, PathKind, Topology};
use super::{GraphFile, Hardware};
use crate::sourced::Sourced;
use crate::units::{Bandwidth, Bytes, FlopRate, ParseUnitError};

/// The most GPUs of one box.
const MOST_GPUS: u32 = 64;

/// Why a box file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HardwareError {
    /// A key is unknown or missing, or a value has the wrong shape.
    #[error("{place}: {message}")]
    Shape {
        /// The part of the file.
        place: &'static str,
        /// What is wrong.
        message: String,
    },
    /// The GPU is no preset.
    #[error("`{name}` is no GPU preset{}", suggest(.closest.as_ref()))]
    UnknownGpu {
        /// As written.
        name: String,
        /// A preset with a similar name.
        closest: Option<String>,
    },
    /// A value cannot be read as a quantity.
    #[error("`{key}`: {error}")]
    Quantity {
        /// The key.
        key: &'static str,
        /// What is wrong.
        error: ParseUnitError,
    },
    /// A value lies outside what makes sense.
    #[error("`{key}` must be {expected}")]
    Range {
        /// The key.
        key: &'static str,
        /// What would do.
        expected: &'static str,
    },
    /// The topology holds another number of GPUs than `count` says.
    #[error("the topology holds {found} GPUs, but `count` says {count}")]
    Count {
        /// GPUs in the topology.
        found: u32,
        /// GPUs by `count`.
        count: u32,
    },
}

fn suggest(closest: Option<&String>) -> String {
    closest.map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BoxFile {
    gpu: Value,
    count: u32,
    p2p: Option<bool>,
    #[serde(default)]
    topology: Value,
    p2p_level: Option<PathKind>,
    graph_file: Option<GraphFileText>,
    calibration: Option<String>,
    #[serde(default)]
    source: String,
    #[serde(default)]
    notes: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GraphFileText {
    channels: u32,
    speed: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GpuText {
    base: String,
    memory: Option<String>,
    bandwidth: Option<String>,
    achieved_bandwidth: Option<f64>,
    bf16: Option<String>,
    fp8: Option<String>,
    fp4: Option<String>,
    pcie: Option<PcieText>,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(deny_unknown_fields)]
struct PcieText {
    generation: u8,
    lanes: u8,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TopologyText {
    #[serde(default)]
    cpu: Option<Cpu>,
    socket_link: Option<String>,
    #[serde(default)]
    nvlink: Nvlink,
    #[serde(default)]
    sockets: Vec<Vec<PortText>>,
    /// For a box whose graph is unknown: what its rings were measured to do.
    #[serde(default)]
    rings: Vec<RingText>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RingText {
    ranks: u32,
    nccl_bus: String,
    bandwidth: String,
    bulk: Option<String>,
    halved_beyond: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PortText {
    gpus: Option<u32>,
    switch: Option<SwitchText>,
    bridge: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SwitchText {
    #[serde(default)]
    gpus: u32,
    #[serde(default)]
    switches: Vec<SwitchText>,
    uplink: Option<PcieText>,
}

fn read<T: serde::de::DeserializeOwned>(place: &'static str, value: &Value) -> Result<T, HardwareError> {
    T::deserialize(value).map_err(|error| HardwareError::Shape { place, message: error.to_string() })
}

fn quantity<T: std::str::FromStr<Err = ParseUnitError>>(
    key: &'static str,
    text: &str,
) -> Result<T, HardwareError> {
    text.parse().map_err(|error| HardwareError::Quantity { key, error })
}

fn positive(key: &'static str, text: &str) -> Result<Bandwidth, HardwareError> {
    let bandwidth: Bandwidth = quantity(key, text)?;
    if bandwidth > Bandwidth::ZERO {
        Ok(bandwidth)
    } else {
        Err(HardwareError::Range { key, expected: "above zero" })
    }
}

/// Reads a box file that was turned into JSON values.
///
/// # Errors
/// See [`HardwareError`]; the first thing wrong is reported.
pub fn parse(name: &str, value: &Value) -> Result<Hardware, HardwareError> {
    let file: BoxFile = read("box", value)?;
    if !(1..=MOST_GPUS).contains(&file.count) {
        return Err(HardwareError::Range { key: "count", expected: "from 1 to 64" });
    }
    let gpu = gpu(&file.gpu)?;
    let mut notes = file.notes;
    let topology = topology(&file.topology, &gpu, file.count, &mut notes)?;
    let graph_file = file.graph_file.as_ref().map(graph_file).transpose()?;
    Ok(Hardware {
        name: name.to_owned(),
        p2p: file.p2p.unwrap_or(gpu.p2p_over_pcie),
        gpu,
        count: file.count,
        topology,
        p2p_level: file.p2p_level,
        graph_file,
        default_calibration: file.calibration,
        source: file.source,
        notes,
    })
}

fn graph_file(text: &GraphFileText) -> Result<GraphFile, HardwareError> {
    if !(1..=64).contains(&text.channels) {
        return Err(HardwareError::Range { key: "graph_file.channels", expected: "from 1 to 64" });
    }
    Ok(GraphFile { channels: text.channels, speed: positive("graph_file.speed", &text.speed)? })
}

fn gpu(value: &Value) -> Result<Gpu, HardwareError> {
    if let Some(name) = value.as_str() {
        return named_gpu(name);
    }
    let text: GpuText = read("gpu", value)?;
    let mut gpu = named_gpu(&text.base)?;
    if let Some(memory) = text.memory {
        gpu.memory = quantity::<Bytes>("gpu.memory", &memory)?;
    }
    if let Some(bandwidth) = text.bandwidth {
        gpu.bandwidth = positive("gpu.bandwidth", &bandwidth)?;
    }
    if let Some(share) = text.achieved_bandwidth {
        if !(share > 0.0 && share <= 1.0) {
            return Err(HardwareError::Range {
                key: "gpu.achieved_bandwidth",
                expected: "above 0, at most 1",
            });
        }
        gpu.achieved_bandwidth = Sourced::given(share);
    }
    let rate = |key, text: Option<String>| text.map(|t| quantity::<FlopRate>(key, &t)).transpose();
    gpu.bf16 = rate("gpu.bf16", text.bf16)?.unwrap_or(gpu.bf16);
    gpu.fp8 = rate("gpu.fp8", text.fp8)?.or(gpu.fp8);
    gpu.fp4 = rate("gpu.fp4", text.fp4)?.or(gpu.fp4);
    if let Some(pcie) = text.pcie {
        gpu.pcie = checked(pcie)?;
    }
    if gpu.memory <= Bytes::ZERO || gpu.bf16 <= FlopRate::ZERO {
        return Err(HardwareError::Range { key: "gpu", expected: "described by figures above zero" });
    }
    Ok(gpu)
}

fn checked(pcie: PcieText) -> Result<Pcie, HardwareError> {
    if !(1..=6).contains(&pcie.generation) || !matches!(pcie.lanes, 1 | 2 | 4 | 8 | 16) {
        let expected = "generation 1 to 6 with 1, 2, 4, 8 or 16 lanes";
        return Err(HardwareError::Range { key: "pcie", expected });
    }
    Ok(Pcie { generation: pcie.generation, lanes: pcie.lanes })
}

fn named_gpu(name: &str) -> Result<Gpu, HardwareError> {
    gpu_preset(name).ok_or_else(|| HardwareError::UnknownGpu {
        name: name.to_owned(),
        closest: closest(name, gpu_entries()),
    })
}

fn topology(
    value: &Value,
    gpu: &Gpu,
    count: u32,
    notes: &mut Vec<String>,
) -> Result<Topology, HardwareError> {
    if value.is_null() || value.as_str() == Some("unknown") {
        return Ok(unknown(gpu, count, &[], notes));
    }
    let text: TopologyText = read("topology", value)?;
    if text.sockets.is_empty() && text.nvlink == Nvlink::None {
        let rings = text.rings.iter().map(measured_ring).collect::<Result<Vec<_>, _>>()?;
        return Ok(unknown(gpu, count, &rings, notes));
    }
    let link = text.socket_link.map(|link| positive("socket_link", &link)).transpose()?;
    let mut builder = Builder::new(text.cpu.unwrap_or(Cpu::Unknown), gpu);
    let mut found = 0;
    if text.sockets.is_empty() {
        // NVLink alone matters: every GPU on a root port of its own.
        let socket = builder.socket();
        for bridge in 0..count {
            let port = builder.root_port(socket, bridge, gpu.pcie);
            builder.gpu(port);
        }
        found = count;
    }
    for ports in &text.sockets {
        let socket = builder.socket();
        for (at, port) in ports.iter().enumerate() {
            found += add_port(&mut builder, socket, at as u32, port, gpu.pcie)?;
        }
    }
    if found != count {
        return Err(HardwareError::Count { found, count });
    }
    builder.join_sockets(link);
    builder.nvlink(text.nvlink);
    Ok(builder.finish())
}

fn add_port(
    builder: &mut Builder,
    socket: usize,
    at: u32,
    port: &PortText,
    pcie: Pcie,
) -> Result<u32, HardwareError> {
    let root = builder.root_port(socket, port.bridge.unwrap_or(at), pcie);
    match (&port.switch, port.gpus) {
        (None, Some(1)) => {
            builder.gpu(root);
            Ok(1)
        }
        (Some(switch), None) => add_switch(builder, root, switch, pcie, 0),
        _ => Err(HardwareError::Shape {
            place: "topology",
            message: "a root port has either `gpus: 1` or a `switch`".to_owned(),
        }),
    }
}

fn add_switch(
    builder: &mut Builder,
    parent: usize,
    text: &SwitchText,
    pcie: Pcie,
    depth: u32,
) -> Result<u32, HardwareError> {
    if depth > 4 || text.gpus > MOST_GPUS {
        let expected = "at most 5 switches deep with at most 64 GPUs each";
        return Err(HardwareError::Range { key: "switch", expected });
    }
    let uplink = text.uplink.map_or(Ok(pcie), checked)?;
    let switch = builder.switch(parent, uplink);
    for _ in 0..text.gpus {
        builder.gpu(switch);
    }
    let mut found = text.gpus;
    for below in &text.switches {
        found += add_switch(builder, switch, below, pcie, depth + 1)?;
    }
    Ok(found)
}

fn measured_ring(text: &RingText) -> Result<Ring, HardwareError> {
    let bandwidth = positive("rings.bandwidth", &text.bandwidth)?;
    let bulk = text.bulk.as_ref().map(|bulk| positive("rings.bulk", bulk)).transpose()?;
    let halved = text.halved_beyond.as_ref().map(|b| quantity("rings.halved_beyond", b)).transpose()?;
    Ok(Ring {
        ranks: text.ranks,
        worst: None,
        hop: PathKind::Node.hop_latency(),
        bandwidth,
        bulk: bulk.unwrap_or(bandwidth),
        halved_beyond: halved,
        nominal: positive("rings.nccl_bus", &text.nccl_bus)?,
        nvlink: false,
        fitted: true,
    })
}

/// Without a graph a ring of up to 4 GPUs is assumed to have every link for itself, a larger one to cross one
/// link twice, as the public 8-GPU box of aiconfigurator's tables does (fitted bus 20 of 48 GB/s).
fn unknown(gpu: &Gpu, count: u32, measured: &[Ring], notes: &mut Vec<String>) -> Topology {
    if count > 1 {
        notes.push(
            "the PCIe topology is unknown: whether rings cross switches, root ports or sockets is not modelled"
                .to_owned(),
        );
    }
    let rings = (2..=count).map(|ranks| {
        let share = if ranks <= 4 { 1.0 } else { 0.5 };
        let assumed = Ring {
            ranks,
            worst: None,
            hop: PathKind::Node.hop_latency(),
            bandwidth: gpu.pcie.measured() * share,
            bulk: gpu.pcie.measured() * share,
            halved_beyond: None,
            nominal: gpu.pcie.nominal() * share,
            nvlink: false,
            fitted: false,
        };
        measured.iter().find(|ring| ring.ranks == ranks).copied().unwrap_or(assumed)
    });
    let rings = rings.collect();
    Builder::new(Cpu::Unknown, gpu).unknown(rings)
}
