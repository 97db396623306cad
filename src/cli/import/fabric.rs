//! Sockets, root ports and switches from the words of `nvidia-smi topo -m`.
//!
//! What is closer than a class belongs together: SYS parts sockets, NODE host bridges, PHB root ports, PXB leaf switches.
//! A NUMA node counts as a socket, since nvidia-smi does not tell the two apart.

use std::fmt::Write as _;

/// How far apart two GPUs are, nearest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Distance {
    Pix,
    Pxb,
    Phb,
    Node,
    Sys,
}

/// The fabric as a box file writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fabric {
    /// The value of `topology`, one key a line.
    pub(super) yaml: String,
    /// GPUs in the order of the box file, by their numbers.
    pub(super) order: Vec<usize>,
    /// Sockets.
    pub(super) sockets: usize,
}

/// The fabric of a matrix of words; `numa` decides where NVLink hides the PCIe path.
pub(super) fn of(words: &[Vec<String>], numa: &[Option<u32>]) -> Fabric {
    let all: Vec<usize> = (0..words.len()).collect();
    let distance = |a: usize, b: usize| distance(&words[a][b], numa[a], numa[b]);
    let mut yaml = String::new();
    if let Some(nvlink) = nvlink(words) {
        let _ = writeln!(yaml, "  nvlink: {nvlink}");
    }
    let sockets = parts(&all, &|a, b| distance(a, b) < Distance::Sys);
    let mut order = Vec::new();
    yaml.push_str("  sockets:\n");
    for socket in &sockets {
        let bridges = parts(socket, &|a, b| distance(a, b) < Distance::Node);
        let mut ports = Vec::new();
        // A port without a number has one of its own, by its place: all of a socket are numbered, or none.
        let shared =
            bridges.iter().any(|bridge| parts(bridge, &|a, b| distance(a, b) < Distance::Phb).len() > 1);
        for (number, bridge) in bridges.iter().enumerate() {
            let roots = parts(bridge, &|a, b| distance(a, b) < Distance::Phb);
            for root in &roots {
                let leaves = parts(root, &|a, b| distance(a, b) < Distance::Pxb);
                order.extend(leaves.iter().flatten());
                ports.push(port(&leaves, shared.then_some(number)));
            }
        }
        let _ = writeln!(yaml, "    - [{}]", ports.join(", "));
    }
    Fabric { yaml, order, sockets: sockets.len() }
}

fn distance(word: &str, a: Option<u32>, b: Option<u32>) -> Distance {
    match word {
        "PIX" => Distance::Pix,
        "PXB" => Distance::Pxb,
        "PHB" => Distance::Phb,
        "NODE" => Distance::Node,
        word if word.starts_with("NV") && a.is_some() && a == b => Distance::Node,
        _ => Distance::Sys,
    }
}

/// The word of a box file for NVLink between GPUs; none where there is none, or in no shape that it knows.
fn nvlink(words: &[Vec<String>]) -> Option<&'static str> {
    let linked = |a: usize, b: usize| words[a][b].starts_with("NV");
    let count = words.len();
    let pairs = || (0..count).flat_map(|a| (0..a).map(move |b| (a, b)));
    if count > 1 && pairs().all(|(a, b)| linked(a, b)) {
        Some("switch")
    } else if pairs().any(|(a, b)| linked(a, b)) && pairs().all(|(a, b)| linked(a, b) == (a / 2 == b / 2)) {
        Some("pairs")
    } else {
        None
    }
}

/// Groups of those that hang together, in order of their first member.
fn parts(members: &[usize], together: &dyn Fn(usize, usize) -> bool) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for &member in members {
        let (mut joined, apart): (Vec<_>, Vec<_>) =
            groups.into_iter().partition(|group| group.iter().any(|&other| together(member, other)));
        let mut merged: Vec<usize> = joined.drain(..).flatten().collect();
        merged.push(member);
        merged.sort_unstable();
        groups = apart;
        groups.push(merged);
        groups.sort_by_key(|group| group[0]);
    }
    groups
}

/// A root port with what hangs on it.
fn port(leaves: &[Vec<usize>], bridge: Option<usize>) -> String {
    let bridge = bridge.map_or(String::new(), |number| format!(", bridge: {number}"));
    match leaves {
        [one] if one.len() == 1 => format!("{{ gpus: 1{bridge} }}"),
        [one] => format!("{{ switch: {{ gpus: {} }}{bridge} }}", one.len()),
        many => {
            let switches: Vec<String> =
                many.iter().map(|leaf| format!("{{ gpus: {} }}", leaf.len())).collect();
            format!("{{ switch: {{ switches: [{}] }}{bridge} }}", switches.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fabric(rows: &[&str], numa: &[u32]) -> Fabric {
        let words: Vec<Vec<String>> =
            rows.iter().map(|row| row.split_whitespace().map(str::to_owned).collect()).collect();
        let numa: Vec<Option<u32>> = numa.iter().map(|node| Some(*node)).collect();
        of(&words, &numa)
    }

    #[test]
    fn sockets_bridges_and_switches() {
        let found = fabric(
            &[
                "X SYS SYS SYS SYS",
                "SYS X PHB NODE NODE",
                "SYS PHB X NODE NODE",
                "SYS NODE NODE X PHB",
                "SYS NODE NODE PHB X",
            ],
            &[1, 0, 0, 0, 0],
        );
        let expected = "  sockets:\n    - [{ gpus: 1 }]\n    - [{ gpus: 1, bridge: 0 }, { gpus: 1, bridge: 0 }, \
            { gpus: 1, bridge: 1 }, { gpus: 1, bridge: 1 }]\n";
        assert_eq!((found.yaml.as_str(), found.sockets), (expected, 2));
        assert_eq!(found.order, [0, 1, 2, 3, 4]);
        let found =
            fabric(&["X PXB PIX NODE", "PXB X PXB NODE", "PIX PXB X NODE", "NODE NODE NODE X"], &[0; 4]);
        let expected =
            "  sockets:\n    - [{ switch: { switches: [{ gpus: 2 }, { gpus: 1 }] } }, { gpus: 1 }]\n";
        assert_eq!(found.yaml, expected);
        assert_eq!(found.order, [0, 2, 1, 3]);
    }

    #[test]
    fn nvlink_of_all_and_of_pairs() {
        let found = fabric(&["X NV12", "NV12 X"], &[0, 1]);
        assert_eq!(found.yaml, "  nvlink: switch\n  sockets:\n    - [{ gpus: 1 }]\n    - [{ gpus: 1 }]\n");
        let found =
            fabric(&["X NV4 SYS SYS", "NV4 X SYS SYS", "SYS SYS X NV4", "SYS SYS NV4 X"], &[0, 0, 1, 1]);
        assert!(found.yaml.starts_with("  nvlink: pairs\n"), "{}", found.yaml);
        assert_eq!(found.sockets, 2);
    }
}
