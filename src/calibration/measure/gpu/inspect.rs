//! The box as it shows itself.

use super::super::ffi::{self, Library, can_map};
use super::super::{Failure, GpuInfo, Inspection};
use super::device::Gpu;
use super::smi;

/// Everything that needs no measuring.
pub(super) fn inspect(gpus: &[Gpu]) -> Result<Inspection, Failure> {
    let facts = smi::facts();
    let infos = gpus.iter().map(|gpu| info(gpu, &facts)).collect::<Result<Vec<_>, _>>()?;
    let peer =
        |a: &Gpu, b: &Gpu| if a.ordinal == b.ordinal { Ok(true) } else { can_map(&a.context, &b.context) };
    let peers = gpus
        .iter()
        .map(|a| gpus.iter().map(|b| peer(a, b)).collect::<Result<Vec<_>, _>>())
        .collect::<Result<Vec<_>, _>>()?;
    let version = ffi::cuda_version()?;
    let nccl = ffi::nccl_version().map(nccl_words);
    let libraries = [
        ("nccl", nccl.is_some()),
        ("cublas", Library::Cublas.is_there()),
        ("nvrtc", Library::Nvrtc.is_there()),
    ];
    let joined = joined(gpus.len());
    Ok(Inspection {
        gpus: infos,
        driver: facts.first().map(|facts| facts.driver.clone()).or_else(driver_file).unwrap_or_default(),
        cuda: format!("{}.{}", version / 1000, version % 1000 / 10),
        nccl,
        missing: libraries.into_iter().filter(|(_, there)| !there).map(|(name, _)| name.to_owned()).collect(),
        peers,
        nvlink: !joined.is_empty() && joined.iter().all(|word| word.starts_with("NV")),
        topology: words(joined),
        synthetic: false,
    })
}

fn info(gpu: &Gpu, facts: &[smi::Facts]) -> Result<GpuInfo, Failure> {
    let (free, memory) = gpu.context.memory()?;
    let bus = gpu.context.bus()?;
    // nvidia-smi writes the PCI domain with 8 digits, CUDA with 4.
    let mine = facts.iter().find(|facts| facts.bus.ends_with(&bus)).cloned().unwrap_or_default();
    Ok(GpuInfo {
        name: gpu.context.name()?,
        memory,
        free,
        l2: gpu.l2,
        sms: gpu.sms,
        capability: gpu.capability,
        clocks: mine.clocks,
        pcie_generation: mine.pcie_generation,
        pcie_lanes: mine.pcie_lanes,
    })
}

/// 22803 is 2.28.3; before 2.9 the number had one digit less.
fn nccl_words(version: u32) -> String {
    let unit = if version < 10_000 { 1000 } else { 10_000 };
    format!("{}.{}.{}", version / unit, version % unit / 100, version % 100)
}

/// What joins each two of the visible GPUs; nothing where more GPUs exist than are visible, since their numbers differ.
fn joined(count: usize) -> Vec<String> {
    let matrix = smi::topology().unwrap_or_default();
    if matrix.len() != count {
        return Vec::new();
    }
    (0..count)
        .flat_map(|a| (0..a).map(move |b| (a, b)))
        .filter_map(|(a, b)| matrix[a].get(b).cloned())
        .collect()
}

fn words(mut joined: Vec<String>) -> String {
    joined.sort();
    joined.dedup();
    joined.join(", ")
}

fn driver_file() -> Option<String> {
    let text = std::fs::read_to_string("/proc/driver/nvidia/version").ok()?;
    let digits = |word: &&str| word.contains('.') && word.chars().all(|c| c.is_ascii_digit() || c == '.');
    text.split_whitespace().find(digits).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_nccl_in_words() {
        assert_eq!([22_803, 21_905, 2804].map(nccl_words), ["2.28.3", "2.19.5", "2.8.4"]);
    }

    #[test]
    fn links_are_told_once() {
        assert_eq!(words(vec!["PIX".into(), "NODE".into(), "PIX".into()]), "NODE, PIX");
    }
}
