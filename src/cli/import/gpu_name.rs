//! The GPU preset of a name that a driver prints: `NVIDIA GeForce RTX 4090`, `NVIDIA A100-SXM4-80GB`.

use crate::hardware::{Gpu, gpu_entries, gpu_preset};

/// Names that hold fewer words than our titles.
const SHORT: [(&str, &str); 4] =
    [("h200", "h200-sxm"), ("h100 hbm3", "h100-sxm"), ("b200", "b200"), ("h100 80 gb", "h100-sxm")];

/// The preset all of whose title stands in the driver's name; the longest of several.
pub(super) fn preset_of(driver_name: &str) -> Option<Gpu> {
    let words = words(driver_name);
    let holds = |title: &str| self::words(title).iter().all(|word| words.contains(word));
    let titled = gpu_entries().iter().filter_map(|entry| gpu_preset(&entry.name));
    let longest = titled.filter(|gpu| holds(&gpu.title)).max_by_key(|gpu| self::words(&gpu.title).len());
    longest.or_else(|| SHORT.iter().find(|(short, _)| holds(short)).and_then(|(_, name)| gpu_preset(name)))
}

/// Lower-case words; `80GB` is two, and the number of a socket's generation is dropped: `SXM4` is `sxm`.
fn words(name: &str) -> Vec<String> {
    let lower = name.to_ascii_lowercase().replace("gb", " gb").replace(['-', '_', '(', ')'], " ");
    lower
        .split_whitespace()
        .map(|word| if word.starts_with("sxm") { "sxm".to_owned() } else { word.to_owned() })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::preset_of;

    #[test]
    fn names_as_drivers_print_them() {
        for (name, preset) in [
            ("NVIDIA GeForce RTX 4090", "rtx-4090"),
            ("NVIDIA GeForce RTX 5090", "rtx-5090"),
            ("NVIDIA A100-SXM4-80GB", "a100-sxm"),
            ("NVIDIA A100 80GB PCIe", "a100-pcie"),
            ("NVIDIA H100 80GB HBM3", "h100-sxm"),
            ("NVIDIA H100 PCIe", "h100-pcie"),
            ("NVIDIA H100 NVL", "h100-nvl"),
            ("NVIDIA H200", "h200-sxm"),
            ("NVIDIA L40S", "l40s"),
            ("NVIDIA L4", "l4"),
            ("NVIDIA RTX PRO 6000 Blackwell Server Edition", "rtx-pro-6000-server"),
            ("NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "rtx-pro-6000-workstation"),
            ("NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition", "rtx-pro-6000-max-q"),
            ("NVIDIA RTX 6000 Ada Generation", "rtx-6000-ada"),
        ] {
            assert_eq!(preset_of(name).map(|gpu| gpu.name), Some(preset.to_owned()), "{name}");
        }
        assert_eq!(preset_of("Tesla V100-PCIE-32GB"), None);
        assert_eq!(preset_of("NVIDIA L40"), None);
    }
}
