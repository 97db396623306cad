use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::units::Seconds;

#[test]
fn every_preset_parses_and_says_where_it_comes_from() {
    assert!(preset_entries().len() >= 35);
    for entry in preset_entries() {
        let hardware = preset(&entry.name).unwrap_or_else(|| panic!("{} is listed", entry.name));
        assert!(!hardware.source.is_empty(), "{}", entry.name);
        assert_eq!(hardware.name, entry.name);
        for ranks in 2..=hardware.count {
            let ring = hardware.topology.ring(ranks).expect("every size has a ring");
            assert!(ring.bandwidth.gb_s() > 1.0 && ring.nominal.gb_s() > 1.0, "{}", entry.name);
        }
        assert!(hardware.topology.ring(hardware.count + 1).is_none());
    }
    for family in ["rtx-4090", "rtx-5090", "l40s", "a100", "h100", "h200"] {
        for count in [1, 2, 4, 8] {
            assert!(preset(&format!("{family}-x{count}")).is_some());
        }
    }
    assert!(preset("rtx-pro-6000-x3").is_none() && preset("nothing").is_none());
}

#[test]
fn paths_have_the_words_of_nvidia_smi() {
    let switch = preset("rtx-pro-6000-x8-switch").expect("preset").topology;
    assert_eq!(switch.path(0, 1), Some(PathKind::Pix));
    assert_eq!(switch.path(0, 7), Some(PathKind::Pxb));
    assert_eq!(switch.worst_path(4), Some(PathKind::Pix));
    assert_eq!(switch.worst_path(8), Some(PathKind::Pxb));
    let turin = preset("rtx-pro-6000-x8-dual-turin").expect("preset").topology;
    assert_eq!(turin.worst_path(4), Some(PathKind::Node));
    assert_eq!(turin.worst_path(8), Some(PathKind::Sys));
    assert_eq!(turin.sockets_in_use(), 2);
    let h200 = preset("h200-x8").expect("preset");
    assert_eq!(h200.topology.worst_path(8), Some(PathKind::Nvlink));
    assert!(h200.full_nvlink(8) && h200.has_multicast());
}

#[test]
fn an_unknown_topology_is_legal_and_said_so() {
    let hardware = preset("rtx-pro-6000-x8").expect("preset");
    assert!(!hardware.topology.is_known());
    assert_eq!((hardware.topology.path(0, 1), hardware.topology.route(0, 1)), (None, None));
    assert!(hardware.notes.iter().any(|note| note.contains("topology is unknown")));
    assert!(hardware.topology.ring(8).is_some_and(|ring| ring.fitted));
}

#[test]
fn hops_add_up_to_the_measured_ranges() {
    // local-inference-lab/rtx6kpro @e2c2b95 hardware/*.md, one-way, low and high over pairs [µs].
    let hop = |name: &str, a, b| preset(name).expect("preset").topology.latency(a, b).expect("route").us();
    for (name, b, low, high) in [
        ("rtx-pro-6000-x8-switch", 1, 0.63, 0.73),
        ("rtx-pro-6000-x8-switch", 7, 0.71, 0.73),
        ("rtx-pro-6000-x8-dual-turin", 1, 0.76, 0.84),
        ("rtx-pro-6000-x8-dual-turin", 7, 1.27, 1.36),
    ] {
        let measured = hop(name, 0, b);
        assert!((low..=high).contains(&measured), "{name} 0-{b}: {measured}");
    }
    let flat = json!({ "gpu": "rtx-pro-6000", "count": 8, "topology": { "cpu": "amd", "sockets": [[
        { "switch": { "gpus": 4 } }, { "switch": { "gpus": 4 } }]] } });
    let cross = parse("flat", &flat).expect("valid").topology.latency(0, 4).expect("route").us();
    assert!((1.039..=1.18).contains(&cross), "{cross}");
}

#[test]
fn a_ring_is_as_wide_as_its_narrowest_shared_link() {
    let ring = |name: &str, n| *preset(name).expect("preset").topology.ring(n).expect("ring");
    // One edge up and one down each switch uplink: nothing is shared.
    assert!((ring("rtx-pro-6000-x8-switch", 8).nominal.gb_s() - 48.0).abs() < 1e-9);
    // The socket link has 16 GB/s by NCCL's constants and 44 by measurement.
    assert!((ring("rtx-pro-6000-x8-dual-turin", 8).nominal.gb_s() - 16.0).abs() < 1e-9);
    assert!((ring("rtx-pro-6000-x8-dual-turin", 8).bandwidth.gb_s() - 44.0).abs() < 1e-9);
    assert!((ring("rtx-pro-6000-x8-dual-turin", 4).nominal.gb_s() - 48.0).abs() < 1e-9);
    // Intel: root ports cost 6/5.
    let intel = json!({ "gpu": "rtx-pro-6000", "count": 2, "topology": { "cpu": "intel-emerald-rapids",
        "sockets": [[{ "gpus": 1 }, { "gpus": 1 }]] } });
    let nominal = parse("intel", &intel).expect("valid").topology.ring(2).expect("ring").nominal;
    assert!((nominal.gb_s() - 40.0).abs() < 1e-9);
}

#[test]
fn mistakes_in_a_box_file_are_sentences() {
    let message = |value| parse("mine", &value).expect_err("wrong").to_string();
    assert_eq!(
        message(json!({ "gpu": "rtx-4091", "count": 2 })),
        "`rtx-4091` is no GPU preset; did you mean `rtx-4090`?"
    );
    assert!(message(json!({ "gpu": "l40s", "count": 2, "gpus": 2 })).contains("unknown field `gpus`"));
    assert_eq!(message(json!({ "gpu": "l40s", "count": 0 })), "`count` must be from 1 to 64");
    let short = json!({ "gpu": "l40s", "count": 4, "topology": { "sockets": [[{ "gpus": 1 }]] } });
    assert_eq!(message(short), "the topology holds 1 GPUs, but `count` says 4");
    let unitless = json!({ "gpu": { "base": "l40s", "bandwidth": "864" }, "count": 1 });
    assert_eq!(message(unitless), "`gpu.bandwidth`: a bandwidth needs a unit");
    let crowded = json!({ "gpu": "l40s", "count": 2, "topology": { "sockets": [[{ "gpus": 2 }]] } });
    assert!(message(crowded).contains("either `gpus: 1` or a `switch`"));
    assert!(message(json!([])).starts_with("box: "));
}

#[test]
fn a_gpu_can_be_a_preset_with_changes() {
    let value = json!({ "gpu": { "base": "rtx-4090", "memory": "48 GiB", "achieved_bandwidth": 0.9 },
        "count": 2, "p2p": true });
    let hardware = parse("modded", &value).expect("valid");
    assert!((hardware.gpu.memory.get() - 48.0 * 1_073_741_824.0).abs() < 1.0);
    assert!(hardware.p2p && hardware.peers_reach_each_other(2) && !hardware.full_nvlink(2));
}

proptest! {
    #[test]
    fn routes_are_symmetric_and_latency_grows_with_distance(a in 0u32..8, b in 0u32..8) {
        for name in ["rtx-pro-6000-x8-switch", "rtx-pro-6000-x8-dual-turin", "l40s-x8", "h200-x8"] {
            let topology = preset(name).expect("preset").topology;
            let (there, back) = (topology.route(a, b).expect("route"), topology.route(b, a).expect("route"));
            prop_assert_eq!(there.len(), back.len());
            for (x, y) in there.iter().zip(back.iter().rev()) {
                prop_assert_eq!((x.link, x.upward), (y.link, !y.upward));
            }
            prop_assert_eq!(topology.path(a, b), topology.path(b, a));
            if a != b {
                prop_assert!(topology.latency(a, b).expect("route") > Seconds::ZERO);
                prop_assert!(topology.bandwidth(a, b).expect("route") >= topology.ring(8).expect("ring").bandwidth);
            }
        }
    }
}
