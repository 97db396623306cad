//! Calibrations that ship with specplan, compiled in.

use std::sync::OnceLock;

use super::{Calibration, file};

/// A calibration that ships with specplan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PresetEntry {
    /// Its name.
    pub name: &'static str,
    /// What it holds and where that came from, in a sentence.
    pub summary: &'static str,
}

struct Preset {
    entry: PresetEntry,
    yaml: &'static str,
    loaded: OnceLock<Calibration>,
}

macro_rules! presets {
    ($($name:literal: $summary:literal),+ $(,)?) => {
        static PRESETS: [Preset; ENTRIES.len()] = [$(Preset {
            entry: PresetEntry { name: $name, summary: $summary },
            yaml: include_str!(concat!("../../calibration/", $name, ".yaml")),
            loaded: OnceLock::new(),
        }),+];
        const ENTRIES: &[PresetEntry] = &[$(PresetEntry { name: $name, summary: $summary }),+];
    };
}

presets! {
    "rtx-pro-6000-x1": "one RTX PRO 6000 Server: kernels (aiconfigurator-core 0.12.0)",
    "rtx-pro-6000-x2": "2x RTX PRO 6000 Server: kernels, all-reduce of 2 (aiconfigurator-core 0.12.0)",
    "rtx-pro-6000-x4": "4x RTX PRO 6000 Server: kernels, all-reduce of 2 and 4 (aiconfigurator-core 0.12.0)",
    "rtx-pro-6000-x8": "8x RTX PRO 6000 Server: kernels, all-reduce of 2, 4 and 8 (aiconfigurator-core 0.12.0)",
    "rtx-pro-6000-x8-switch": "8x RTX PRO 6000 behind switches: all-reduce measured, large sizes fitted (rtx6kpro); \
        kernels as rtx-pro-6000-x8",
    "rtx-pro-6000-x8-dual-turin": "8x RTX PRO 6000 on two Turin sockets: all-reduce measured from 32 to 256 KiB, \
        else assumed or fitted (rtx6kpro); kernels as rtx-pro-6000-x8",
    "rtx-pro-6000-x8-dual-turin-graphfile": "the same with NCCL_GRAPH_FILE: all-reduce measured from 32 to 256 KiB, \
        assumed flat below (rtx6kpro); kernels as rtx-pro-6000-x8",
    "rtx-pro-6000-x8-direct": "8x RTX PRO 6000 on one socket: all-reduce fitted to rtx-pro-6000-x8; kernels as there",
    "l40s-x1": "one L40S: kernels (aiconfigurator-core 0.12.0)",
    "l40s-x2": "2x L40S: kernels, all-reduce of 2 (aiconfigurator-core 0.12.0)",
    "l40s-x4": "4x L40S: kernels, all-reduce of 2 and 4 (aiconfigurator-core 0.12.0)",
    "l40s-x8": "8x L40S: kernels, all-reduce of 2 and 4, none of 8 (aiconfigurator-core 0.12.0)",
    "rtx-4090-x2": "2x RTX 4090 without P2P: all-reduce (kalavai-client)",
    "rtx-4090-x4": "4x RTX 4090 with and without P2P: all-reduce (nccl-tests logs)",
    "rtx-4090-x8": "8x RTX 4090 without P2P: all-reduce (nccl-tests log)",
    "rtx-5090-x8": "8x RTX 5090 with a patched P2P driver: all-reduce (nccl-tests log)",
    "a100-x4": "4x A100 SXM over NVLink: all-reduce (sheffield_hpc)",
    "h100-x8": "8x H100 SXM over NVLink: all-reduce fitted to a few figures (aiconfigurator-core 0.12.0)",
    "h200-x1": "one H200: kernels (aiconfigurator-core 0.12.0)",
    "h200-x2-shm": "2x H200 through host memory: all-reduce measured for specplan; kernels as h200-x1",
    "h200-x2-p2p": "2x H200 SXM over NVLink: all of `specplan calibrate`, PyTorch 2.11 too; other kernels as h200-x1",
    "h200-x2-shm-calibrated": "2x H200 SXM through host memory: collectives, launch costs and PyTorch by \
        `specplan calibrate`; other kernels as h200-x1",
    "h200-x8": "8x H200 SXM over NVLink: all-reduce fitted to figures of 8x H100; kernels as h200-x1",
}

/// Every calibration that ships with specplan.
pub fn preset_entries() -> &'static [PresetEntry] {
    ENTRIES
}

/// A calibration that ships with specplan, by name. Loaded once; copies share their tables.
pub fn preset(name: &str) -> Option<Calibration> {
    let preset = PRESETS.iter().find(|p| p.entry.name == name)?;
    let load = || {
        file::parse_trusted(name, preset.yaml).expect("a calibration that ships with specplan is well formed")
    };
    Some(preset.loaded.get_or_init(load).clone())
}

/// The calibration whose kernel tables a box of such GPUs may lie over: that of one such GPU alone.
pub fn base_for(gpu: &str) -> Option<&'static str> {
    let of = |entry: &PresetEntry| entry.name.strip_suffix("-x1").is_some_and(|name| name == gpu);
    ENTRIES.iter().find(|entry| of(entry)).map(|entry| entry.name)
}

macro_rules! side_files {
    ($($path:literal),+ $(,)?) => {
        /// A table that ships with specplan, by the name that calibration files use.
        pub(super) fn side_file(path: &str) -> Option<&'static [u8]> {
            match path {
                $($path => Some(include_bytes!(concat!("../../calibration/", $path))),)+
                _ => None,
            }
        }
    };
}

side_files! {
    "kernels/rtx-pro-6000/gemm.csv.gz",
    "kernels/rtx-pro-6000/attention.csv.gz",
    "kernels/rtx-pro-6000/mla.csv.gz",
    "kernels/rtx-pro-6000/moe.csv.gz",
    "kernels/l40s/gemm.csv.gz",
    "kernels/l40s/attention.csv.gz",
    "kernels/l40s/mla.csv.gz",
    "kernels/l40s/moe.csv.gz",
    "kernels/h200/gemm.csv.gz",
    "kernels/h200/attention.csv.gz",
    "kernels/h200/mla.csv.gz",
    "kernels/h200/moe.csv.gz",
}

/// The text of every preset, in the order of [`preset_entries`].
#[cfg(test)]
pub(super) fn texts() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().map(|p| p.yaml)
}
