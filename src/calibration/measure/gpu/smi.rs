//! What only `nvidia-smi` tells: clocks, power limit, PCIe link, driver version, what joins GPUs. It is asked for two seconds
//! at most, and goes without if it does not answer.

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// One line of the query.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Facts {
    /// Bus address, to find the GPU by; it is not passed on.
    pub(super) bus: String,
    /// Version of the driver.
    pub(super) driver: String,
    /// Clocks and power limit in words.
    pub(super) clocks: String,
    /// PCIe generation in use; 0: cannot be told.
    pub(super) pcie_generation: u32,
    /// PCIe lanes in use; 0: cannot be told.
    pub(super) pcie_lanes: u32,
}

const FIELDS: &str = "--query-gpu=pci.bus_id,driver_version,clocks.sm,clocks.max.sm,clocks.mem,power.limit,\
                      pcie.link.gen.current,pcie.link.width.current";

/// Facts of all GPUs of the box, visible or not.
pub(super) fn facts() -> Vec<Facts> {
    let text = ask(&[FIELDS, "--format=csv,noheader,nounits"]).unwrap_or_default();
    text.lines().filter_map(parse).collect()
}

/// What joins the GPUs: the matrix of `nvidia-smi topo -m`, without what it says of CPUs and cards.
pub(super) fn topology() -> Option<Vec<Vec<String>>> {
    Some(matrix(&ask(&["topo", "-m"])?))
}

fn parse(line: &str) -> Option<Facts> {
    let fields: Vec<&str> = line.split(',').map(str::trim).collect();
    let [bus, driver, sm, most, memory, power, generation, lanes] = fields[..] else { return None };
    let told = |word: &str| word.chars().next().is_some_and(|first| first.is_ascii_digit());
    let mut clocks = Vec::new();
    if told(sm) && told(most) {
        clocks.push(format!("SM {sm} MHz of {most}"));
    }
    if told(memory) {
        clocks.push(format!("memory {memory} MHz"));
    }
    if let Some(watts) = power.parse::<f64>().ok().filter(|watts| *watts > 0.0) {
        clocks.push(format!("{watts:.0} W"));
    }
    Some(Facts {
        bus: bus.to_ascii_lowercase(),
        driver: driver.to_owned(),
        clocks: clocks.join(", "),
        pcie_generation: generation.parse().unwrap_or(0),
        pcie_lanes: lanes.parse().unwrap_or(0),
    })
}

fn matrix(text: &str) -> Vec<Vec<String>> {
    let rows: Vec<Vec<&str>> = text
        .lines()
        .filter(|line| line.starts_with("GPU"))
        .map(|line| line.split_whitespace().collect())
        .collect();
    rows.iter()
        .map(|row| row.iter().skip(1).take(rows.len()).map(|&word| word.to_owned()).collect())
        .collect()
}

fn ask(arguments: &[&str]) -> Option<String> {
    let mut child = Command::new("nvidia-smi")
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut out = child.stdout.take()?;
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        let _ = out.read_to_string(&mut text);
        text
    });
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(2) {
        if let Ok(Some(status)) = child.try_wait() {
            return status.success().then(|| reader.join().unwrap_or_default());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let _ = child.kill();
    let _ = child.wait();
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_query_is_read_and_what_is_not_told_left_out() {
        let facts = parse("00000000:C1:00.0, 580.65.06, 1980, 1980, 3201, 700.00, 5, 16").unwrap();
        assert_eq!(facts.clocks, "SM 1980 MHz of 1980, memory 3201 MHz, 700 W");
        assert_eq!((facts.pcie_generation, facts.pcie_lanes, facts.driver.as_str()), (5, 16, "580.65.06"));
        let bare = parse("00000000:C1:00.0, 580.65.06, [N/A], [N/A], [N/A], [N/A], [N/A], [N/A]").unwrap();
        assert_eq!((bare.clocks.as_str(), bare.pcie_generation, bare.pcie_lanes), ("", 0, 0));
        assert_eq!(parse("No devices were found"), None);
    }

    #[test]
    fn the_matrix_is_cut_from_its_page() {
        let page = "\tGPU0\tGPU1\tNIC0\tCPU Affinity\nGPU0\t X \tNV18\tSYS\t0-31\nGPU1\tNV18\t X \tSYS\t0-31\nNIC0\tSYS\tSYS\t X\n";
        assert_eq!(matrix(page), [["X", "NV18"], ["NV18", "X"]]);
    }
}
