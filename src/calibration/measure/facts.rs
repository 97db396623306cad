//! The box as the file states it.

use indexmap::IndexMap;

use super::privacy;
use super::reply::Inspection;
use crate::calibration::{BoxFacts, base_for};
use crate::hardware::{self, PresetEntry};

/// Facts of a box; NCCL_* variables as the file may hold them.
pub fn facts(found: &Inspection, environment: &[(String, String)]) -> BoxFacts {
    let first = found.gpus.first();
    let same = found.gpus.windows(2).all(|pair| pair[0].name == pair[1].name);
    let pcie = first.filter(|gpu| gpu.pcie_generation > 0 && gpu.pcie_lanes > 0);
    let driver = match (found.driver.as_str(), found.cuda.as_str()) {
        ("", "") => String::new(),
        ("", cuda) => format!("CUDA {cuda}"),
        (driver, "") => driver.to_owned(),
        (driver, cuda) => format!("{driver} (CUDA {cuda})"),
    };
    let topology = match (found.topology.as_str(), same) {
        (words, true) => words.to_owned(),
        ("", false) => "GPUs of several kinds".to_owned(),
        (words, false) => format!("{words}; GPUs of several kinds"),
    };
    BoxFacts {
        gpu: first.map(|gpu| preset_of(&gpu.name)).unwrap_or_default(),
        count: found.gpus.len() as u32,
        driver,
        nccl: found.nccl.clone().unwrap_or_default(),
        clocks: first.map(|gpu| gpu.clocks.clone()).unwrap_or_default(),
        pcie: pcie.map(|g| format!("Gen{} x{}", g.pcie_generation, g.pcie_lanes)).unwrap_or_default(),
        topology,
        environment: environment
            .iter()
            .map(|(name, value)| (name.clone(), privacy::value(name, value)))
            .collect::<IndexMap<_, _>>(),
    }
}

/// The GPU preset of a name that the driver gives, or that name as a word.
pub fn preset_of(driver_name: &str) -> String {
    let asked = plain(driver_name);
    let answers = |name: &str| {
        let name = plain(name);
        name == asked || asked.starts_with(&format!("{name}-"))
    };
    // The longest name wins: `rtx-6000-ada` over `rtx-6000`.
    let mut best: Option<(usize, &PresetEntry)> = None;
    for entry in hardware::gpu_entries() {
        for name in std::iter::once(&entry.name).chain(&entry.aliases) {
            if answers(name) && best.is_none_or(|(length, _)| plain(name).len() > length) {
                best = Some((plain(name).len(), entry));
            }
        }
    }
    best.map_or(asked.clone(), |(_, entry)| with_tables(entry).to_owned())
}

/// Of the names of a GPU the one by which the calibrations that ship with specplan know it.
fn with_tables(entry: &PresetEntry) -> &str {
    let names = std::iter::once(&entry.name).chain(&entry.aliases);
    names.map(String::as_str).find(|name| base_for(name).is_some()).unwrap_or(&entry.name)
}

/// `NVIDIA RTX PRO 6000 Blackwell Server Edition` as `rtx-pro-6000-server`.
fn plain(name: &str) -> String {
    let words = name.to_lowercase();
    let words = words.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let noise = ["nvidia", "geforce", "blackwell", "edition", "tesla", "generation"];
    words.filter(|word| !noise.contains(word)).collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names as nvidia-smi and cuDeviceGetName print them.
    #[test]
    fn names_of_the_driver_find_their_preset() {
        for (driver_name, preset) in [
            ("NVIDIA H200", "h200"),
            ("NVIDIA L40S", "l40s"),
            ("NVIDIA GeForce RTX 4090", "rtx-4090"),
            ("NVIDIA GeForce RTX 5090", "rtx-5090"),
            ("NVIDIA RTX PRO 6000 Blackwell Server Edition", "rtx-pro-6000"),
            ("NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition", "rtx-pro-6000-max-q"),
            ("synthetic", "synthetic"),
            ("NVIDIA Zeta 9", "zeta-9"),
        ] {
            assert_eq!(preset_of(driver_name), preset, "{driver_name}");
        }
    }
}
