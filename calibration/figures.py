"""What each calibration file holds: which public rows are used, and the figures that are public only as text."""

KERNEL_SETS = {"rtx-pro-6000": "rtx_pro_6000", "l40s": "l40s", "h200": "h200"}

# Table of nccl-tests: (file, ranks, transport)
NCCL_TESTS = {
    "rtx-5090-x8": ("rtx5090x8_p2p_sys_nccl2.29.7", 8, "p2p"),
    "rtx-4090-x8": ("rtx4090x8_nop2p_epyc_8numa", 8, "shm"),
    "rtx-4090-x4-p2p": ("rtx4090x4_p2pdriver", 4, "p2p"),
    "rtx-4090-x4-shm": ("rtx4090x4_nop2p_docker", 4, "shm"),
    "rtx-4090-x2-shm": ("rtx4090x2_nop2p_docker_sameroot", 2, "shm"),
    "a100-x4": ("a100sxm_x4_nvlink_nccl_cuda11.7", 4, "nvlink"),
}

KIB, MIB, GIB = 1024, 1 << 20, 1 << 30
APACHE = "Apache-2.0"
FACTS = "figures quoted as facts from a public page"
COMMAND = "python3 calibration/from_aiconfigurator.py TABLES"
AIC = "PyPI aiconfigurator-core 0.12.0 (NVIDIA)"
RTX6K = "github.com/local-inference-lab/rtx6kpro @e2c2b95"


def curve(ranks, backend, mode, version, dtype, family, server, siblings, largest=GIB):
    return dict(ranks=ranks, backend=backend, mode=mode, version=version, dtype=dtype, family=family,
                server=server, siblings=siblings, largest=largest)


def public_curves(nccl, sglang, vllm, all_siblings, ranks):
    """The rows used of the public tables: one version of each, bf16 or fp16, of one host."""
    out = []
    for n in ranks:
        out.append(curve(n, "NCCL", "stream", nccl, "half", "nccl", "", all_siblings))
        for server, version in (("sglang", sglang), ("vllm", vllm)):
            # Two GPUs get the servers' custom all-reduce: in SGLang up to 8 MiB; vLLM has left it there already.
            custom = n == 2
            largest = (8 * MIB if server == "sglang" else 4 * MIB) if custom else GIB
            family = "custom-all-reduce" if custom else "nccl"
            for mode in ("graph", "eager"):
                out.append(curve(n, server, mode, version, "bfloat16", family, server, all_siblings, largest))
    return out


RTX_CURVES = public_curves("nccl-2.29.2", "sglang-0.5.14", "vllm-0.24.0",
                           {"nccl-2.29.2", "sglang-0.5.14", "vllm-0.24.0"}, (8, 4, 2))
L40S_CURVES = public_curves("nccl-2.27.3", "sglang-0.5.14", "vllm-0.22.0",
                            {"nccl-2.27.3", "sglang-0.5.10", "sglang-0.5.14", "vllm-0.22.0"}, (4, 2))

L2 = ("Kernel rows were measured with the same weights or cache again and again: where they fit in L2 "
      "({} MB) they are lower bounds for a decode step.")
INFERRED = ("The source does not name the transport; P2P is inferred from 1.4 to 1.5 µs per ring step (host memory "
            "takes 2.2 to 2.5).")
EAGER = "Eager rows include the host's issue time; for the device's time take stream or graph."


def row(ranks, size, time, family="nccl", source="", op="all-reduce", mode="stream", transport="p2p"):
    return (op, ranks, family, mode, transport, "", size, time, source, "")


def fit(ranks, family, transport, alpha, beta, low, high, cv=None, knots=None, source="fitted", note=""):
    of = dict(op="all-reduce", ranks=ranks, family=family, transport=transport)
    params = dict(alpha_us=alpha, beta_us_per_kib=beta if isinstance(beta, list) else [beta])
    if knots:
        params["knots_kib"] = knots
    out = dict(of=of, form="piecewise" if knots else "alpha-beta", params=params,
               range=dict(from_bytes=low, to_bytes=high))
    if cv is not None:
        out["cv_error"] = cv
    return {**out, "source": source, "note": note}


def at_busbw(ranks, size, gb_s):
    """All-reduce time [µs] at a bus bandwidth: 2(n-1)/n of the bytes cross each link."""
    return f"{2 * (ranks - 1) / ranks * size / gb_s / 1e3:.1f}"


def public_box(gpu, count, collectives, curves, nccl, pcie, l2, notes, rows=()):
    public = [(collectives, curves, count)] if count > 1 else []
    box = {"box": {"gpu": gpu, "count": count, "pcie": pcie, "topology": "not stated by the source"},
           "provenance": {"source": AIC + ": systems/data", "licence": APACHE, "command": COMMAND},
           "kernels": gpu, "public": public, "rows": [r for r in rows if r[1] <= count],
           "notes": [L2.format(l2)] + (notes if count > 1 else [])}
    if count > 1:
        box["box"]["nccl"] = nccl
    return box


# All-gather of the same source. Its sizes are taken as the gathered whole: the time above the floor is half that
# of an all-reduce of equal size (0.49 to 0.59 from 64 KiB to 1 MiB), as half the bytes then cross each link;
# per rank it would be four times. So the part of one rank is an eighth.
GATHERED = [(512, 14.2), (16 * KIB, 16.5), (64 * KIB, 19.1), (128 * KIB, 28.1), (256 * KIB, 45.7),
            (512 * KIB, 91), (1 * MIB, 75)]
RTX_ALL_GATHER = [row(8, size // 8, time, op="all-gather") for size, time in GATHERED]
# Beyond the last of them a ring gathers in half the time of an all-reduce (NCCL stream rows), which scatters first.
REDUCED = [(2 * MIB, 221.24), (4 * MIB, 345.47), (8 * MIB, 661.36), (16 * MIB, 1247.96), (32 * MIB, 2493.57),
           (64 * MIB, 4927.03)]
RTX_ALL_GATHER += [row(8, size // 8, round(time / 2, 2), op="all-gather", source="fitted") for size, time in REDUCED]

RTX_NOTES = [
    "All-reduce rows: NCCL stream is nccl-2.29.2, half; graph and eager are sglang 0.5.14 and vllm 0.24.0. With 4 "
    "and 8 GPUs the servers' rows are NCCL too; with 2 they are the custom all-reduce.",
    "Left out: sglang 0.5.10 and vllm 0.19.0 (2 GPUs, evidently a slower host: 19 to 21 µs), int8 rows (equal to half "
    "but for a spike with 4 GPUs at 32 KiB), TensorRT-LLM.", INFERRED, EAGER,
    "All-gather (8 GPUs): sizes of the source are read as the gathered whole, so bytes here are an eighth; the floor "
    "of 14.2 µs is placed at 512 B. From 2 MiB (of the whole) on half an all-reduce is taken: fitted.",
]
L40S_NOTES = [
    "All-reduce rows: NCCL stream is nccl-2.27.3, half; graph and eager are sglang 0.5.14 and vllm 0.22.0. With 4 "
    "GPUs the servers' rows are NCCL too; with 2 they are the custom all-reduce.",
    "Left out: sglang 0.5.12 (evidently another host), sglang 0.5.10 and vllm 0.14.0 (equal to newer versions), "
    "int8 rows, TensorRT-LLM (one table copied four times).", INFERRED, EAGER,
]

BOXES = {}
for count in (1, 2, 4, 8):
    BOXES[f"rtx-pro-6000-x{count}"] = public_box(
        "rtx-pro-6000", count, "collectives_rtx_pro_6000_server.csv", RTX_CURVES, "2.29.2", "Gen5 x16", 128,
        RTX_NOTES, RTX_ALL_GATHER)
for count in (1, 2, 4, 8):
    BOXES[f"l40s-x{count}"] = public_box(
        "l40s", count, "collectives_l40s.csv", L40S_CURVES, "2.27.3", "Gen4 x16", 96,
        L40S_NOTES + (["No collective of 8 L40S is public; those of 2 and 4 are kept."] if count == 8 else []))


def rtx_fabric(topology, notes, rows=(), fits=()):
    return {"box": {"gpu": "rtx-pro-6000", "count": 8, "pcie": "Gen5 x16", "topology": topology},
            "provenance": {"source": f"collectives: {RTX6K}; kernels: {AIC}",
                           "licence": f"collectives: {FACTS}; kernels: {APACHE}", "command": COMMAND},
            "kernels": "rtx-pro-6000", "rows": list(rows), "fits": list(fits), "notes": [L2.format(128)] + notes}


BOXES["rtx-pro-6000-x8-switch"] = rtx_fabric(
    "8 GPUs behind PCIe switches of one host",
    ["NCCL: 24 µs flat up to 64 KiB (Microchip switches); 256 KiB and 1 MiB are of a WRX90 box with switches, where "
     "smaller sizes take 17 to 25 µs. 64 MiB is fitted: bus bandwidth 43.5 GB/s, the middle of 41 to 46.",
     "One-shot, 8 GPUs: five sizes measured; 4 GPUs: a fit on a switch tree. On a Broadcom board within one NUMA node "
     "4 GPUs take 6.05 µs + 0.092 µs/KiB."],
    [row(8, KIB, 24), row(8, 64 * KIB, 24), row(8, 256 * KIB, 25), row(8, MIB, 80),
     row(8, 64 * MIB, at_busbw(8, 64 * MIB, 43.5), source="fitted")]
    + [row(8, kib * KIB, time, family="one-shot")
       for kib, time in ((1, 7.5), (8, 9.2), (32, 16.5), (64, 25.9), (256, 73.6))],
    [fit(4, "one-shot", "p2p", 7.07, 0.277, KIB, 512 * KIB, cv=0.15,
         note="switch tree, rtx6kpro; its error is that of the same form on the 8-GPU rows")])

TURIN_LARGE = "64 MiB is fitted: bus bandwidth {} GB/s."
BOXES["rtx-pro-6000-x8-dual-turin"] = rtx_fabric(
    "direct attach, two EPYC Turin sockets",
    ["Measured at 32, 64, 128, 256 KiB. From 4 to 32 KiB assumed flat (8x RTX 5090, also direct attach, fall by 6 % "
     "from 32 to 8 KiB). Below 4 KiB assumed 24.5 µs: NCCL finds no ring on such a box, falls back to 0.1 GB/s and so "
     "takes Simple from 3.9 KB, LL below, and LL of 8 GPUs takes 24.5 µs elsewhere.",
     TURIN_LARGE.format("22, the default channels")],
    [row(8, 512, 24.5, source="assumed"), row(8, 2 * KIB, 24.5, source="assumed"),
     row(8, 4 * KIB, 48.2, source="assumed"), row(8, 32 * KIB, 48.2), row(8, 64 * KIB, 48.7),
     row(8, 128 * KIB, 51.6), row(8, 256 * KIB, 56.5),
     row(8, 64 * MIB, at_busbw(8, 64 * MIB, 22), source="fitted")])
BOXES["rtx-pro-6000-x8-dual-turin-graphfile"] = rtx_fabric(
    "direct attach, two EPYC Turin sockets; NCCL rings given by NCCL_GRAPH_FILE",
    ["Measured at 32, 64, 128, 256 KiB. Below 32 KiB nothing is measured: assumed flat at 26.2 µs."],
    [row(8, 512, 26.2, source="assumed"), row(8, 32 * KIB, 26.2), row(8, 64 * KIB, 25.6),
     row(8, 128 * KIB, 32.1), row(8, 256 * KIB, 37.3)])
PUBLIC_BOX = "fitted to the all-reduce rows of the public tables' box (topology not stated), not to a direct-attach one"
BOXES["rtx-pro-6000-x8-direct"] = rtx_fabric(
    "direct attach, one socket",
    ["No all-reduce of a single-socket direct-attach box is public. The curves are fits to the box of the public "
     "tables, P2P on (NCCL_P2P_LEVEL=SYS; NCCL's default would stage through host memory). From box to box 8 GPUs "
     "range from 17 to 57 µs."],
    (), [fit(8, "nccl", "p2p", 24, [0.16384, 0.27648], 512, 256_000, cv=0.10, knots=[62.5], note=PUBLIC_BOX),
         fit(4, "nccl", "p2p", 13.5, 0.057, 512, 64 * KIB, cv=0.10, note=PUBLIC_BOX),
         fit(2, "nccl", "p2p", 6.6, 0.043, 512, 64 * KIB, cv=0.10, note=PUBLIC_BOX)])
BOXES["rtx-pro-6000-x8-direct"]["provenance"].update(
    source=f"{AIC}; range from box to box: {RTX6K}", licence=APACHE)


def tested(gpu, count, tables, source, licence, facts, notes):
    return {"box": {"gpu": gpu, "count": count, **facts},
            "provenance": {"source": source, "licence": licence, "command": COMMAND},
            "nccl_tests": tables, "notes": notes + ["Out-of-place times of all_reduce_perf, float, from 512 B."]}


KALAVAI = "kalavai-net/kalavai-client scripts/README.md (Apache-2.0)"
LOG = "a public log of nccl-tests, repository not recorded"
BOXES["rtx-5090-x8"] = tested(
    "rtx-5090", 8, ["rtx-5090-x8"], "nccl-tests table in the README of a patched open-gpu-kernel-modules fork",
    FACTS, {"nccl": "2.29.7", "pcie": "Gen5 x16", "topology": "direct attach, P2P by a patched driver",
                    "environment": {"NCCL_P2P_LEVEL": "SYS"}},
    ["NCCL_P2P_LEVEL=SYS. LL up to 2 KiB, Simple from 4 KiB: NCCL's fallback bandwidth on a box without a ring."])
BOXES["rtx-4090-x8"] = tested(
    "rtx-4090", 8, ["rtx-4090-x8"], LOG, FACTS,
    {"pcie": "Gen4 x16", "topology": "EPYC, 8 NUMA nodes, no P2P: through host memory"}, [])
BOXES["rtx-4090-x4"] = tested(
    "rtx-4090", 4, ["rtx-4090-x4-p2p", "rtx-4090-x4-shm", "rtx-4090-x2-shm"], f"p2p: {LOG}; shm: {KALAVAI}",
    f"p2p: {FACTS}; shm: {APACHE}", {"pcie": "Gen4 x16", "topology": "two boxes: P2P by a patched driver; no P2P"},
    ["The p2p rows and the shm rows are of different boxes; shm was measured inside a container."])
BOXES["rtx-4090-x2"] = tested(
    "rtx-4090", 2, ["rtx-4090-x2-shm"], KALAVAI, APACHE,
    {"pcie": "Gen4 x16", "topology": "same root complex, no P2P: through host memory"},
    ["Measured inside a container."])
BOXES["a100-x4"] = tested(
    "a100", 4, ["a100-x4"], "rcgsheffield/sheffield_hpc (CC BY 3.0)", "CC BY 3.0",
    {"topology": "A100 SXM, NVLink"}, ["An NVLink control. CUDA 11.7."])

H200_LINK = 2 * 7 / 8 * KIB / 450e9 * 1e6
NVLINK = [
    fit(8, "nccl", "nvlink", 18.5, round(H200_LINK, 5), 512, 256 * KIB, cv=0.05,
        note="floor of 18 to 19 µs on 8x H100; the slope is the datasheet link, 450 GB/s one way"),
    fit(8, "custom-all-reduce", "nvlink", 6.5, round(H200_LINK, 5), 512, 256 * KIB, cv=0.25,
        note="5 to 8 µs in a graph on 8x H100, sizes not stated; the slope is the datasheet link, 450 GB/s one way"),
]
NVLINK_NOTE = ("An NVLink control. Collectives: fits to a few figures of 8x H100 (NCCL 18 to 19 µs, custom all-reduce "
               "in a graph 5 to 8 µs).")
BOXES["h200-x1"] = public_box("h200", 1, "", [], "", "Gen5 x16", 50, [])
BOXES["h200-x8"] = public_box("h200", 1, "", [], "", "Gen5 x16", 50, [])
BOXES["h200-x8"]["box"].update(count=8, topology="SXM, NVLink through NVSwitch")
BOXES["h200-x8"].update(fits=NVLINK, notes=[L2.format(50), NVLINK_NOTE])
BOXES["h100-x8"] = {
    "box": {"gpu": "h100", "count": 8, "pcie": "Gen5 x16", "topology": "SXM, NVLink through NVSwitch"},
    "provenance": {"source": AIC + ": systems/data", "licence": APACHE, "command": COMMAND},
    "fits": NVLINK, "notes": [NVLINK_NOTE]}
BOXES["h200-x2-shm"] = {
    "box": {"gpu": "h200", "count": 2, "nccl": "2.28.9", "pcie": "Gen5 x16",
            "topology": "one host, all-reduce staged through host memory",
            "environment": {"NCCL_P2P_DISABLE": "1", "NCCL_NVLS_ENABLE": "0"}},
    "provenance": {"source": f"collectives: measured for specplan, PyTorch 2.11; kernels: {AIC}",
                   "licence": f"collectives: that of specplan; kernels: {APACHE}", "command": COMMAND},
    "kernels": "h200", "thin_shm": True,
    "notes": [L2.format(50),
              "All-reduce: chains of 40 calls through torch.distributed, medians of the slowest rank, mean of two "
              "runs. Graph runs repeat within a few percent, eager ones depend on the host.", EAGER]}
