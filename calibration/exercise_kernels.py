#!/usr/bin/env python3
"""Sends one task of every kind to `specplan calibrate-worker` and prints medians, p10, p90 and rates.

For developers of the measuring code, on a machine with a GPU: `python3 calibration/exercise_kernels.py target/debug/specplan`.
LD_LIBRARY_PATH must lead to NVRTC, cuBLAS and NCCL where the loader does not find them; `specplan calibrate` sees to that itself.
With PyTorch, the same projections and attentions through it stand at the end. Nothing is written.
"""
import json
import statistics
import subprocess
import sys

MARK = "specplan-reply "


class Worker:
    def __init__(self, program):
        self.process = subprocess.Popen([program, "calibrate-worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.number = 0

    def ask(self, task, repeats=15, limit_ms=60000):
        self.number += 1
        request = dict(id=self.number, task=task, limit_ms=limit_ms, repeats=repeats)
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        for line in self.process.stdout:
            if line.startswith(MARK):
                return json.loads(line[len(MARK):])["outcome"]
        sys.exit("the worker ended without an answer")


def rate(task, us):
    """Bytes that must be read, and operations, over the time."""
    get = task.get
    read, work = 0.0, 0.0
    if task["what"] in ("stream", "link"):
        read = task["bytes"]
    elif task["what"] == "gemm":
        read = get("n") * get("k") * (1 if get("weights") == "fp8" else 2)
        work = 2 * get("n") * get("k") * get("rows")
    elif task["what"] == "dequant":
        read = get("n") * get("k") * (0.5 + 2 / get("group"))
        work = 2 * get("n") * get("k") * get("rows")
    elif task["what"] == "moe":
        distinct = min(get("tokens") * get("per_token"), get("experts"))  # round robin
        one = 2 if get("weights") == "bf16" else 0.5 + 2 / int(get("weights").split("g")[1])
        read = distinct * 3 * get("hidden") * get("width") / get("shards") * one
    elif task["what"] == "attention":
        read = 4 * get("batch") * get("context") * get("kv_heads") * get("head_dim")
        work = 4 * get("batch") * get("context") * get("heads") * get("rows") * get("head_dim")
    elif task["what"] == "mla":
        read = 1152 * get("batch") * get("context")
        work = 2 * 1088 * get("batch") * get("context") * get("heads") * get("rows")
    return (f" {read / us / 1e3:7.0f} GB/s" if read else "") + (f" {work / us / 1e6:6.1f} TFLOP/s" if work else "")


def show(worker, task, **how):
    outcome = worker.ask(task, **how)
    name = " ".join(str(value) for value in task.values())
    if "measured" not in outcome:
        print(f"{name:60} {json.dumps(outcome)[:300]}", flush=True)
        return
    samples = sorted(outcome["measured"]["samples_us"])
    at = lambda part: samples[min(len(samples) - 1, int(part * len(samples)))]
    times = f"{statistics.median(samples):10.2f} us [{at(0.1):.2f} {at(0.9):.2f}]"
    print(f"{name:60} {times} {outcome['measured']['check']}{rate(task, statistics.median(samples))}", flush=True)


def tasks(gpus):
    yield {"what": "self-test"}
    for size in (1 << 20, 16 << 20, 256 << 20, 1 << 30):
        yield dict(what="stream", bytes=size)
    for weights in ("bf16", "fp8"):
        for n, k, rows in ((7168, 2048, 1), (8192, 8192, 16), (8192, 8192, 2048)):
            yield dict(what="gemm", weights=weights, n=n, k=k, rows=rows)
    for n, k, rows in ((512, 7168, 4), (8192, 8192, 1), (28672, 8192, 1), (28672, 8192, 8), (28672, 8192, 64)):
        yield dict(what="dequant", bits=4, group=128, n=n, k=k, rows=rows)
    for weights in ("bf16", "int4-g32"):
        for tokens in (1, 4, 16, 64):
            yield dict(what="moe", weights=weights, hidden=4096, width=1536, per_token=8, experts=128, shards=4, tokens=tokens)
    for batch, rows, context in ((1, 1, 4096), (1, 4, 32768), (8, 4, 8192), (64, 1, 4096)):
        yield dict(what="attention", kv="bf16", head_dim=128, heads=32, kv_heads=8, batch=batch, rows=rows, context=context)
    for heads, batch, rows in ((16, 1, 1), (16, 16, 1), (16, 16, 4), (128, 16, 4)):
        yield dict(what="mla", kv="bf16", heads=heads, batch=batch, rows=rows, context=8192)
    for kind, rows, hidden in (("norm", 1, 7168), ("elementwise", 4, 7168), ("activation", 4, 2048), ("sampling", 1, 151936)):
        yield dict(what="small", kind=kind, rows=rows, hidden=hidden)
    for kind in ("issue", "issue-collective", "graph-node", "graph-launch", "synchronise", "read-back"):
        yield dict(what="launch", kind=kind)
    for size in (4096, 1 << 20, 64 << 20):
        yield {"what": "link", "kind": "host-copy", "from": "host", "to": "0", "bytes": size}
        yield {"what": "link", "kind": "host-copy", "from": "0", "to": "host", "bytes": size}
        if gpus > 1:
            yield {"what": "link", "kind": "copy", "from": "0", "to": "1", "bytes": size}
            yield {"what": "link", "kind": "all-pairs", "from": "all", "to": "all", "bytes": size}
    if gpus > 1:
        yield {"what": "link", "kind": "flag", "from": "0", "to": "1", "bytes": 4}
        common = dict(what="collective", op="all-reduce", ranks=gpus, transport="p2p", chain=20)
        for size in (8192, 65536, 1 << 20):
            for family, mode in (("nccl", "stream"), ("nccl", "graph"), ("nccl", "eager"), ("one-shot", "graph"), ("two-shot", "graph")):
                yield dict(common, family=family, mode=mode, bytes=size)
        yield dict(common, family="nccl", mode="graph", bytes=65536, between_gemms=dict(n=7168, k=2048, rows=4))
        yield dict(common, op="all-gather", family="nccl", mode="graph", bytes=65536)


def through_torch():
    try:
        import torch
        import torch.nn.functional as functional
    except ImportError:
        return

    def timed(run, copies, length=20):
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            for i in range(3):
                run(i % copies)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            for i in range(length):
                run(i % copies)
        times = []
        for _ in range(8):
            start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            start.record()
            graph.replay()
            end.record()
            torch.cuda.synchronize()
            times.append(start.elapsed_time(end) * 1e3 / length)
        return statistics.median(times)

    def random(*shape):
        return torch.randn(*shape, device="cuda", dtype=torch.bfloat16)

    for n, k, rows in ((7168, 2048, 1), (8192, 8192, 16)):
        weights, x = [random(n, k) for _ in range(8)], random(rows, k)
        print(f"PyTorch linear {n} {k} {rows}: {timed(lambda i: functional.linear(x, weights[i]), 8):.2f} us")
    for batch, context in ((1, 4096), (64, 4096)):
        copies = max(2, int(130e6 / (batch * context * 8 * 128 * 4)) + 1)
        caches, q = [(random(batch, 8, context, 128), random(batch, 8, context, 128)) for _ in range(copies)], random(batch, 32, 1, 128)
        run = lambda i: functional.scaled_dot_product_attention(q, *caches[i], enable_gqa=True)
        print(f"PyTorch attention {batch} {context}: {timed(run, copies):.2f} us")


def main():
    worker = Worker(sys.argv[1] if len(sys.argv) > 1 else "specplan")
    box = worker.ask({"what": "inspect"})
    print(json.dumps(box))
    if "inspected" not in box:
        sys.exit(2)
    for task in tasks(len(box["inspected"]["gpus"])):
        show(worker, task, repeats=200 if task["what"] == "launch" else 15)
    through_torch()


if __name__ == "__main__":
    main()
