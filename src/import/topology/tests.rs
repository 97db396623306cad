//! Matrices as the programs print them; `tests/fixtures/import` names their sources.

use super::*;

fn of(text: &str) -> (Vec<What>, Summary) {
    let mut found = Vec::new();
    let summary = read(&mut text.as_bytes(), &mut |observation| found.push(observation.what));
    (found, summary)
}

fn fixture(name: &str) -> String {
    let path = format!("{}/tests/fixtures/import/topology/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn paths_and_numa_nodes() {
    let (found, summary) = of(&fixture("topo-5x4090.txt"));
    let [What::Peers(matrix)] = &found[..] else { panic!("{found:?}") };
    let PeerMatrix::Paths { words, numa } = &**matrix else { panic!("{matrix:?}") };
    assert_eq!(words[1], ["SYS", "X", "PHB", "NODE", "NODE"]);
    assert_eq!(numa[..], [Some(1), Some(0), Some(0), Some(0), Some(0)]);
    assert_eq!((summary.read, summary.skipped.count), (5, 0));
}

#[test]
fn underlined_headers_tabs_and_network_cards() {
    let text = "\t\u{1b}[4mGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\u{1b}[0m\nGPU0\t X \tNV12\tPIX\t0-63\t3\t\tN/A\n\
        GPU1\tNV12\t X \tSYS\t64-127\t1\t\tN/A\nNIC0\tPIX\tSYS\t X\n\nLegend:\n";
    let (found, _) = of(text);
    let [What::Peers(matrix)] = &found[..] else { panic!("{found:?}") };
    let PeerMatrix::Paths { words, numa } = &**matrix else { panic!("{matrix:?}") };
    assert_eq!(words[0], ["X", "NV12"]);
    assert_eq!(numa[..], [Some(3), Some(1)]);
}

#[test]
fn access_of_topo_p2p() {
    let (found, _) = of(" \tGPU0\tGPU1\t\n GPU0\tX\tGNS\t\n GPU1\tGNS\tX\t\n\nLegend:\n");
    let [What::Peers(matrix)] = &found[..] else { panic!("{found:?}") };
    assert_eq!(**matrix, PeerMatrix::Access { can: vec![vec![true, false], vec![false, true]] });
}

#[test]
fn bandwidths_and_access() {
    let (found, summary) = of(&fixture("p2p-2x4090.txt"));
    assert_eq!(found.len(), 2 + 4, "{found:?}");
    assert_eq!(found[0], What::Gpu("NVIDIA GeForce RTX 4090".to_owned()));
    let enabled = PeerMatrix::Bandwidth {
        bidirectional: false,
        p2p: true,
        reads: false,
        gb_s: vec![vec![1015.27, 6.6], vec![6.6, 945.63]],
    };
    assert!(found.contains(&What::Peers(Box::new(enabled))), "{found:?}");
    assert_eq!(summary.read, 2 + 2 * 4);
}

#[test]
fn a_cut_matrix_is_no_matrix() {
    let text = fixture("p2p-2x4090.txt");
    let (found, summary) = of(&text[..text.len() - 30]);
    assert_eq!(found.len(), 2 + 3);
    assert!(summary.skipped.count > 0);
    let (_, summary) = of("     D\\D     0     1\n     0     1  oops\n     1     1     1\n");
    assert_eq!(summary.skipped.first[0].why, "`oops` is no figure");
}

#[test]
fn contradicting_directions_and_impossible_links() {
    let rows = |there: &str, back: &str| {
        of(&format!(
            "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\nGPU0\t X \t{there}\t0-31\t0\nGPU1\t{back}\t X \t0-31\t0\n\n"
        ))
    };
    let (found, summary) = rows("NV18", "NV18");
    assert_eq!((found.len(), summary.warnings.len(), summary.skipped.count), (1, 0, 0));
    let (_, summary) = rows("NV18", "PHB");
    assert_eq!(summary.warnings["one-sided"].first[0].why, "GPU0 to GPU1 is NV18 and GPU1 to GPU0 is PHB");
    for word in ["NV999999999999", "NV0", "NV", "NV65"] {
        let (found, summary) = rows(word, word);
        assert_eq!((found.len(), summary.skipped.count), (0, 1), "{word}");
        assert!(summary.skipped.first[0].why.contains("is no number of NVLinks"));
    }
}
