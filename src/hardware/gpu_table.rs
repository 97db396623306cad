//! The GPUs that ship with the tool: `presets/hardware/gpus.csv`, parsed once, when first asked for.

use std::sync::OnceLock;

use serde::Deserialize;

use super::gpu::{Gpu, Pcie};
use super::preset::PresetEntry;
use crate::sourced::{Source, Sourced};
use crate::units::{Bandwidth, Bytes, FlopRate};

const TABLE: &str = include_str!("../../presets/hardware/gpus.csv");

#[derive(Deserialize)]
struct Row {
    name: String,
    aliases: String,
    title: String,
    architecture: String,
    cc: String,
    sms: u32,
    memory_gib: f64,
    bandwidth_gb_s: f64,
    achieved: f64,
    achieved_low: f64,
    achieved_high: f64,
    achieved_from: String,
    l2_mib: f64,
    bf16_tflops: f64,
    fp8_tflops: Option<f64>,
    fp4_tflops: Option<f64>,
    pcie_generation: u8,
    pcie_lanes: u8,
    nvlink_gb_s: Option<f64>,
    p2p_over_pcie: String,
    multicast: String,
    tdp_w: Option<u32>,
    notes: String,
    source: String,
}

struct Table {
    gpus: Vec<Gpu>,
    entries: Vec<PresetEntry>,
}

fn table() -> &'static Table {
    static PARSED: OnceLock<Table> = OnceLock::new();
    PARSED.get_or_init(|| {
        let mut table = Table { gpus: Vec::new(), entries: Vec::new() };
        for row in csv::Reader::from_reader(TABLE.as_bytes()).deserialize() {
            let row: Row = row.expect("the compiled-in GPU table is well-formed, as a test holds");
            table.entries.push(entry(&row));
            table.gpus.push(gpu(row));
        }
        table
    })
}

fn entry(row: &Row) -> PresetEntry {
    PresetEntry {
        name: row.name.clone(),
        aliases: row.aliases.split_whitespace().map(str::to_owned).collect(),
        source: format!("{}: {}", row.title, row.source),
    }
}

fn gpu(row: Row) -> Gpu {
    let (major, minor) = row.cc.split_once('.').unwrap_or((row.cc.as_str(), "0"));
    let source = if row.achieved_from == "assumed" { Source::Assumed } else { Source::Fitted };
    Gpu {
        compute_capability: (major.parse().unwrap_or(0), minor.parse().unwrap_or(0)),
        sms: row.sms,
        memory: Bytes::from_kib(row.memory_gib * 1024.0 * 1024.0),
        bandwidth: Bandwidth::from_gb_s(row.bandwidth_gb_s),
        achieved_bandwidth: Sourced::new(row.achieved, source)
            .with_spread(row.achieved_low, row.achieved_high),
        l2: Bytes::from_kib(row.l2_mib * 1024.0),
        bf16: FlopRate::from_tflops(row.bf16_tflops),
        fp8: row.fp8_tflops.map(FlopRate::from_tflops),
        fp4: row.fp4_tflops.map(FlopRate::from_tflops),
        pcie: Pcie { generation: row.pcie_generation, lanes: row.pcie_lanes },
        nvlink: row.nvlink_gb_s.map(Bandwidth::from_gb_s),
        p2p_over_pcie: row.p2p_over_pcie == "yes",
        multicast: row.multicast == "yes",
        kernel_floor: Gpu::default_kernel_floor(),
        tdp_watts: row.tdp_w,
        name: row.name,
        title: row.title,
        architecture: row.architecture,
        notes: row.notes,
        source: row.source,
    }
}

/// The GPU of that name or alias.
pub fn gpu_preset(name: &str) -> Option<Gpu> {
    let table = table();
    let at = table.entries.iter().position(|e| e.answers_to(name))?;
    Some(table.gpus[at].clone())
}

/// All GPUs, in the order of the table.
pub fn gpu_entries() -> &'static [PresetEntry] {
    &table().entries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_gpu_of_the_table_is_there_and_sane() {
        assert_eq!(gpu_entries().len(), 19);
        for entry in gpu_entries() {
            let gpu = gpu_preset(&entry.name).expect("a listed GPU is found");
            assert!(gpu.compute_capability.0 >= 8, "{}", gpu.name);
            let spread = gpu.achieved_bandwidth.spread.expect("each share has a range");
            assert!(spread.low < gpu.achieved_bandwidth.value && gpu.achieved_bandwidth.value < spread.high);
            assert!(!gpu.source.is_empty());
        }
    }

    #[test]
    fn the_card_of_the_public_tables() {
        let gpu = gpu_preset("rtx-pro-6000").expect("alias");
        assert_eq!(gpu.name, "rtx-pro-6000-server");
        assert_eq!((gpu.sms, gpu.capability()), (188, 120));
        assert!((gpu.effective_bandwidth().value.gb_s() - 1487.36).abs() < 0.01);
        assert!(gpu_preset("rtx-9999").is_none());
    }

    #[test]
    fn nccl_assumes_24_and_48_for_gen4_and_gen5() {
        for (generation, gb_s) in [(3, 12.0), (4, 24.0), (5, 48.0)] {
            assert!((Pcie { generation, lanes: 16 }.nominal().gb_s() - gb_s).abs() < 1e-9);
        }
        assert!((Pcie { generation: 4, lanes: 8 }.nominal().gb_s() - 12.0).abs() < 1e-9);
    }
}
