//! The `topology` of a box file.

use serde_json::Value;

use super::error::HardwareError;
use super::keys::Keys;
use super::{LINK, MOST_GPUS, pcie};
use crate::hardware::gpu::{Gpu, Pcie};
use crate::hardware::route::Ring;
use crate::hardware::topology::{Builder, Cpu, Nvlink, PathKind, Topology};

const KEYS: &[&str] = &["cpu", "socket_link", "nvlink", "sockets", "rings"];

const CPUS: &[(&str, Cpu)] = &[
    ("amd-turin", Cpu::AmdTurin),
    ("amd-genoa", Cpu::AmdGenoa),
    ("amd", Cpu::Amd),
    ("intel-broadwell", Cpu::IntelBroadwell),
    ("intel-skylake", Cpu::IntelSkylake),
    ("intel-sapphire-rapids", Cpu::IntelSapphireRapids),
    ("intel-emerald-rapids", Cpu::IntelEmeraldRapids),
    ("unknown", Cpu::Unknown),
];

const NVLINKS: &[(&str, Nvlink)] =
    &[("none", Nvlink::None), ("pairs", Nvlink::Pairs), ("switch", Nvlink::Switch)];

/// The most switches between a root port and a GPU.
const DEEPEST: u32 = 5;

const SOCKET: &str = "a list of root ports, each `{ gpus: 1 }` or `{ switch: ... }`";

/// The fabric of `count` GPUs; a note is added where it is unknown.
pub(super) fn topology(
    value: Option<&Value>,
    gpu: &Gpu,
    count: u32,
    notes: &mut Vec<String>,
) -> Result<Topology, HardwareError> {
    let Some(value) = value.filter(|value| value.as_str() != Some("unknown")) else {
        return Ok(unknown(gpu, count, &[], notes));
    };
    let keys = Keys::of("topology".to_owned(), value, KEYS, "`unknown`, or keys such as `sockets`")?;
    let cpu = keys.word("cpu", CPUS)?;
    let nvlink = keys.word("nvlink", NVLINKS)?.unwrap_or_default();
    let link = keys.quantity("socket_link", LINK.0, LINK.1)?;
    let sockets = keys.list("sockets", "a list of sockets")?;
    if nvlink != Nvlink::None && gpu.nvlink.is_none() {
        let text = format!("`topology.nvlink` is given, but the GPU `{}` has no NVLink", gpu.name);
        return Err(HardwareError::Together(text));
    }
    if let Some(rings) = keys.list("rings", "a list of rings")? {
        if let Some(other) = keys.there(&["sockets", "nvlink", "cpu", "socket_link"]) {
            let text = format!(
                "`topology.rings` is for a box whose graph is unknown: leave out `rings` or `{other}`"
            );
            return Err(HardwareError::Together(text));
        }
        return Ok(unknown(gpu, count, &measured_rings(rings, count)?, notes));
    }
    if sockets.is_some_and(<[Value]>::is_empty) || (sockets.is_none() && nvlink == Nvlink::None) {
        let text = "`topology` says nothing about how the GPUs are joined: list `sockets`, name an `nvlink`, \
            or write `topology: unknown`";
        return Err(HardwareError::Together(text.to_owned()));
    }
    if link.is_some() && sockets.is_none_or(|sockets| sockets.len() < 2) {
        let text = "`topology.socket_link` joins sockets, but fewer than two are listed under `sockets`";
        return Err(HardwareError::Together(text.to_owned()));
    }
    let mut builder = Builder::new(cpu.unwrap_or(Cpu::Unknown), gpu);
    let found = if let Some(sockets) = sockets {
        add_sockets(&mut builder, sockets, gpu.pcie)?
    } else {
        // NVLink alone matters: every GPU on a root port of its own.
        let socket = builder.socket();
        for bridge in 0..count {
            let port = builder.root_port(socket, bridge, gpu.pcie);
            builder.gpu(port);
        }
        count
    };
    if found != count {
        return Err(HardwareError::Count { found, count });
    }
    builder.join_sockets(link);
    builder.nvlink(nvlink);
    Ok(builder.finish())
}

fn add_sockets(builder: &mut Builder, sockets: &[Value], pcie: Pcie) -> Result<u32, HardwareError> {
    let mut found = 0;
    if sockets.len() > MOST_GPUS as usize {
        return Err(too_many("sockets", sockets.len()));
    }
    for (number, value) in sockets.iter().enumerate() {
        let place = format!("topology.sockets[{number}]");
        let ports = value.as_array().ok_or_else(|| super::keys::wrong(place.clone(), SOCKET, value))?;
        if ports.len() > MOST_GPUS as usize {
            return Err(too_many(&place, ports.len()));
        }
        let socket = builder.socket();
        for (at, port) in ports.iter().enumerate() {
            found += add_port(builder, socket, at as u32, port, pcie, format!("{place}[{at}]"))?;
        }
    }
    Ok(found)
}

fn too_many(key: &str, found: usize) -> HardwareError {
    let expected = format!("at most {MOST_GPUS} entries long");
    HardwareError::Range { key: key.to_owned(), found: format!("{found} entries long"), expected }
}

fn add_port(
    builder: &mut Builder,
    socket: usize,
    at: u32,
    value: &Value,
    pcie: Pcie,
    place: String,
) -> Result<u32, HardwareError> {
    const TAKES: &str = "a root port: `{ gpus: 1 }` or `{ switch: ... }`";
    let keys = Keys::of(place, value, &["gpus", "switch", "bridge"], TAKES)?;
    let bridge = keys.whole("bridge", 0..=1023)?;
    let root = builder.root_port(socket, bridge.unwrap_or(at), pcie);
    let gpus = keys.whole("gpus", 0..=MOST_GPUS)?;
    match (keys.get("switch"), gpus) {
        (None, Some(1)) => {
            builder.gpu(root);
            Ok(1)
        }
        (Some(switch), None) => add_switch(builder, root, switch, pcie, keys.path("switch"), 1),
        _ => {
            let place = keys.path("gpus");
            let place = place.trim_end_matches(".gpus");
            let text = format!("`{place}` is a root port, which has either `gpus: 1` or a `switch`");
            Err(HardwareError::Together(text))
        }
    }
}

fn add_switch(
    builder: &mut Builder,
    parent: usize,
    value: &Value,
    pcie_of_gpu: Pcie,
    place: String,
    depth: u32,
) -> Result<u32, HardwareError> {
    const TAKES: &str = "a switch: `{ gpus: 4 }` or `{ switches: [...] }`";
    if depth > DEEPEST {
        let text = format!("`{place}` lies more than {DEEPEST} switches deep");
        return Err(HardwareError::Together(text));
    }
    let keys = Keys::of(place, value, &["gpus", "switches", "uplink"], TAKES)?;
    let gpus = keys.whole("gpus", 0..=MOST_GPUS)?.unwrap_or(0);
    let below = keys.list("switches", "a list of switches")?.unwrap_or_default();
    if below.len() > MOST_GPUS as usize {
        return Err(too_many(&keys.path("switches"), below.len()));
    }
    if gpus == 0 && below.is_empty() {
        let path = keys.path("gpus");
        let text = format!("`{}` is a switch without `gpus` and `switches`", path.trim_end_matches(".gpus"));
        return Err(HardwareError::Together(text));
    }
    let uplink = match keys.get("uplink") {
        Some(uplink) => pcie(uplink, keys.path("uplink"))?,
        None => pcie_of_gpu,
    };
    let switch = builder.switch(parent, uplink);
    for _ in 0..gpus {
        builder.gpu(switch);
    }
    let mut found = gpus;
    for (at, value) in below.iter().enumerate() {
        let place = format!("{}[{at}]", keys.path("switches"));
        found += add_switch(builder, switch, value, pcie_of_gpu, place, depth + 1)?;
        if found > MOST_GPUS {
            return Err(HardwareError::Together(format!("a box of more than {MOST_GPUS} GPUs is not read")));
        }
    }
    Ok(found)
}

fn measured_rings(rings: &[Value], count: u32) -> Result<Vec<Ring>, HardwareError> {
    let mut found: Vec<Ring> = Vec::new();
    for (at, value) in rings.iter().enumerate() {
        let ring = measured_ring(value, format!("topology.rings[{at}]"), count)?;
        if found.iter().any(|earlier| earlier.ranks == ring.ranks) {
            let text = format!("`topology.rings` holds two rings of {} ranks", ring.ranks);
            return Err(HardwareError::Together(text));
        }
        found.push(ring);
    }
    Ok(found)
}

fn measured_ring(value: &Value, place: String, count: u32) -> Result<Ring, HardwareError> {
    const KEYS: &[&str] = &["ranks", "nccl_bus", "bandwidth", "bulk", "halved_beyond"];
    const TAKES: &str = "a ring: keys `ranks`, `nccl_bus`, `bandwidth`";
    const BANDWIDTH: &str = "it takes a bandwidth, as in `24 GB/s`";
    let keys = Keys::of(place, value, KEYS, TAKES)?;
    let missing = |key: &str, takes| HardwareError::Missing { key: keys.path(key), takes };
    let link = |key| keys.quantity(key, LINK.0, LINK.1);
    let ranks = keys
        .whole("ranks", 2..=MOST_GPUS)?
        .ok_or_else(|| missing("ranks", "it takes how many GPUs are in the ring"))?;
    if ranks > count {
        return Err(keys.out_of_range("ranks", ranks, format!("at most `count`, {count}")));
    }
    let bandwidth = link("bandwidth")?.ok_or_else(|| missing("bandwidth", BANDWIDTH))?;
    Ok(Ring {
        ranks,
        worst: None,
        hop: PathKind::Node.hop_latency(),
        bandwidth,
        bulk: link("bulk")?.unwrap_or(bandwidth),
        halved_beyond: keys.quantity("halved_beyond", "1 B", "1 TiB")?,
        nominal: link("nccl_bus")?.ok_or_else(|| missing("nccl_bus", BANDWIDTH))?,
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
