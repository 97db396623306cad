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
    assert_eq!(
        message(json!({ "gpu": "rtx-4091", "count": 2 })),
        "`rtx-4091` is no GPU preset; did you mean `rtx-4090`?"
    );
    assert!(message(json!({ "gpu": "l40s", "count": 2, "gpus": 2 })).starts_with("unknown key `gpus`"));
    assert_eq!(
        message(json!({ "gpu": "l40s", "count": 0 })),
        "`count` is 0, but must be a whole number from 1 to 64"
    );
    let short = json!({ "gpu": "l40s", "count": 4, "topology": { "sockets": [[{ "gpus": 1 }]] } });
    assert_eq!(message(short), "the topology holds 1 GPU, but `count` says 4");
    let unitless = json!({ "gpu": { "base": "l40s", "bandwidth": "864" }, "count": 1 });
    assert_eq!(message(unitless), "`gpu.bandwidth`: a bandwidth needs a unit");
    let crowded = json!({ "gpu": "l40s", "count": 2, "topology": { "sockets": [[{ "gpus": 2 }]] } });
    assert!(message(crowded).contains("either `gpus: 1` or a `switch`"));
    assert!(message(json!([])).contains("not a list"));
}

#[allow(clippy::needless_pass_by_value)] // Values are written where they are checked.
fn message(value: serde_json::Value) -> String {
    parse("mine", &value).expect_err("invalid").to_string()
}

/// No message may show what the reader is made of.
fn plain(value: serde_json::Value) -> String {
    let text = message(value);
    for inside in
        ["struct", "u32", "u8", "field", "variant", "invalid type", "invalid length", "enum", "Some("]
    {
        assert!(!text.contains(inside), "{text}");
    }
    text
}

#[test]
fn figures_that_no_machine_has_are_refused() {
    let gpu = |key: &str, value: &str| {
        let mut gpu = json!({ "base": "l40s" });
        gpu[key] = value.into();
        json!({ "gpu": gpu, "count": 1 })
    };
    for (key, value, range) in [
        ("memory", "1e20 GiB", "from 1 GiB to 10 TiB"),
        ("memory", "0 GiB", "from 1 GiB to 10 TiB"),
        ("memory", "-48 GiB", "from 1 GiB to 10 TiB"),
        ("bandwidth", "1e200 TB/s", "from 1 GB/s to 1000 TB/s"),
        ("bf16", "1e-300 TFLOPS", "from 0.01 TFLOPS to 1000 PFLOPS"),
        ("fp8", "0 TFLOPS", "from 0.01 TFLOPS to 1000 PFLOPS"),
        ("fp4", "-1 TFLOPS", "from 0.01 TFLOPS to 1000 PFLOPS"),
    ] {
        assert_eq!(plain(gpu(key, value)), format!("`gpu.{key}` is {value}, but must be {range}"));
    }
    for share in [json!(0), json!(1.5), json!(-1), json!(1e-9)] {
        let value = json!({ "gpu": { "base": "l40s", "achieved_bandwidth": share }, "count": 1 });
        assert!(plain(value).ends_with("but must be a share from 0.01 to 1"));
    }
    for count in [json!(0), json!(-1), json!(65), json!(4.5), json!(1e300), json!(4_294_967_296_u64)] {
        assert!(plain(json!({ "gpu": "l40s", "count": count })).contains("from 1 to 64"));
    }
    let link = json!({ "gpu": "l40s", "count": 1, "graph_file": { "channels": 2, "speed": "1e30 GB/s" } });
    assert!(plain(link).ends_with("must be from 0.1 GB/s to 10 TB/s"));
    let lanes = json!({ "gpu": { "base": "l40s", "pcie": { "generation": 4, "lanes": 3 } }, "count": 1 });
    assert_eq!(plain(lanes), "`gpu.pcie.lanes` is 3, but must be 1, 2, 4, 8 or 16");
}

#[test]
fn a_topology_that_says_nothing_is_refused() {
    let of = |gpu: &str, topology: serde_json::Value| {
        plain(json!({ "gpu": gpu, "count": 2, "topology": topology }))
    };
    for empty in [json!({}), json!({ "sockets": [] }), json!({ "cpu": "amd" }), json!({ "nvlink": "none" })] {
        assert!(of("l40s", empty).contains("says nothing about how the GPUs are joined"));
    }
    let ports = json!([{ "gpus": 1 }, { "gpus": 1 }]);
    assert!(of("l40s", json!({ "nvlink": "switch" })).contains("has no NVLink"));
    assert!(of("l40s", json!({ "sockets": [ports], "socket_link": "20 GB/s" })).contains("fewer than two"));
    assert!(
        of("l40s", json!({ "sockets": [ports], "rings": [] })).contains("leave out `rings` or `sockets`")
    );
    assert_eq!(
        of("l40s", json!({ "sockets": [[{ "switch": {} }]] })),
        "`topology.sockets[0][0].switch` is a switch without `gpus` and `switches`"
    );
    let ring = |ranks: u32| json!({ "ranks": ranks, "nccl_bus": "20 GB/s", "bandwidth": "20 GB/s" });
    assert!(of("l40s", json!({ "rings": [ring(4)] })).contains("at most `count`, 2"));
    assert!(of("l40s", json!({ "rings": [ring(2), ring(2)] })).contains("two rings of 2 ranks"));
    assert_eq!(
        of("l40s", json!({ "rings": [{ "ranks": 2, "bandwidth": "20 GB/s" }] })),
        "`topology.rings[0].nccl_bus` is missing: it takes a bandwidth, as in `24 GB/s`"
    );
    let mut deep = json!({ "gpus": 2 });
    for _ in 0..6 {
        deep = json!({ "switches": [deep] });
    }
    assert!(of("l40s", json!({ "sockets": [[{ "switch": deep }]] })).contains("more than 5 switches deep"));
}

#[test]
fn wrong_kinds_and_words_are_named_with_what_the_key_takes() {
    for (value, expected) in [
        (json!({}), "`gpu` is missing: it takes the name of a GPU preset, or keys with a `base`"),
        (
            json!({ "gpu": null, "count": 1 }),
            "`gpu` is missing: it takes the name of a GPU preset, or keys with a `base`",
        ),
        (json!({ "gpu": "l40s" }), "`count` is missing: it takes how many GPUs there are"),
        (
            json!({ "gpu": 3, "count": 1 }),
            "`gpu` must be the name of a GPU preset, or keys with a `base`, not 3",
        ),
        (json!({ "gpu": "l40s", "count": "two" }), "`count` must be a whole number, not `two`"),
        (json!({ "gpu": "l40s", "count": 1, "p2p": "yes" }), "`p2p` must be `true` or `false`, not `yes`"),
        (
            json!({ "gpu": "l40s", "count": 1, "p2p_level": "SYSS" }),
            "`p2p_level` cannot be `SYSS`; did you mean `SYS`?",
        ),
        (
            json!({ "gpu": "l40s", "count": 1, "p2p_level": "far" }),
            "`p2p_level` cannot be `far`; known: NVLINK, PIX, PXB, PHB, NODE, SYS",
        ),
        (json!({ "gpu": "l40s", "cuont": 1 }), "unknown key `cuont`; did you mean `count`?"),
        (
            json!({ "gpu": { "base": "l40s", "memroy": "1 GiB" }, "count": 1 }),
            "unknown key `gpu.memroy`; did you mean `memory`?",
        ),
        (json!({ "gpu": { "base": "l40s", "memory": 48 }, "count": 1 }), "`gpu.memory`: a size needs a unit"),
        (
            json!({ "gpu": { "base": "l40s", "memory": [48] }, "count": 1 }),
            "`gpu.memory` must be a number with its unit, not a list",
        ),
        (
            json!({ "gpu": { "memory": "48 GiB" }, "count": 1 }),
            "`gpu.base` is missing: it takes the name of a GPU preset",
        ),
        (
            json!({ "gpu": "l40s", "count": 1, "topology": 3 }),
            "`topology` must be `unknown`, or keys such as `sockets`, not 3",
        ),
        (
            json!({ "gpu": "l40s", "count": 1, "topology": { "cpu": "amd-turing", "sockets": [[{ "gpus": 1 }]] } }),
            "`topology.cpu` cannot be `amd-turing`; did you mean `amd-turin`?",
        ),
        (
            json!({ "gpu": "l40s", "count": 1, "topology": { "sockets": [{ "gpus": 1 }] } }),
            "`topology.sockets[0]` must be a list of root ports, each `{ gpus: 1 }` or `{ switch: ... }`, not a map of keys",
        ),
        (
            json!({ "gpu": "l40s", "count": 1, "topology": { "sockets": [[1]] } }),
            "`topology.sockets[0][0]` must be a root port: `{ gpus: 1 }` or `{ switch: ... }`, not 1",
        ),
        (json!({ "gpu": "l40s", "count": 1, "notes": ["a", 3] }), "`notes[1]` must be a text, not 3"),
        (json!("l40s"), "the box must be a map with the keys `gpu` and `count`, not `l40s`"),
        (json!(null), "the box must be a map with the keys `gpu` and `count`, not empty"),
    ] {
        assert_eq!(plain(value), expected);
    }
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

/// Anything that a careless or hostile file may hold at a place.
fn any_value() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        (0u32..70).prop_map(Into::into),
        any::<f64>().prop_map(Into::into),
        "[a-z0-9 ]{0,8}".prop_map(Into::into),
        (any::<f64>(), prop::sample::select(vec!["GiB", "GB/s", "TFLOPS", "TB/s"]))
            .prop_map(|(n, unit)| format!("{n:e} {unit}").into()),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let key =
            prop::sample::select(vec!["gpus", "switch", "switches", "ranks", "base", "sockets", "nvlink"]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Into::into),
            prop::collection::vec((key, inner), 0..3).prop_map(|entries| {
                entries
                    .into_iter()
                    .map(|(key, value)| (key.to_owned(), value))
                    .collect::<serde_json::Map<_, _>>()
                    .into()
            }),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_read_has_figures_of_a_machine(
        key in prop::sample::select(vec!["gpu", "count", "topology", "p2p", "graph_file", "notes", "p2p_level"]),
        inner in prop::sample::select(vec!["memory", "bandwidth", "bf16", "fp8", "sockets", "rings", "pcie"]),
        value in any_value(), nested in any::<bool>(),
    ) {
        let mut file = json!({ "gpu": { "base": "l40s" }, "count": 2, "topology": { "sockets": [[{ "gpus": 1 }, { "gpus": 1 }]] } });
        if nested && file[key].is_object() {
            file[key][inner] = value;
        } else {
            file[key] = value;
        }
        if let Ok(hardware) = parse("any", &file) {
            let gpu = &hardware.gpu;
            for figure in [gpu.memory.get(), gpu.bandwidth.get(), gpu.bf16.get(), gpu.fp8.map_or(1e12, crate::units::FlopRate::get)] {
                prop_assert!((1e9..=1e18).contains(&figure), "{figure}");
            }
            for ranks in 2..=hardware.count {
                let ring = hardware.topology.ring(ranks).expect("every size has a ring");
                prop_assert!(ring.bandwidth.gb_s() >= 0.05 && ring.nominal.is_finite());
            }
        }
    }
}
