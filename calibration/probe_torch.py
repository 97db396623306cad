#!/usr/bin/env python3
"""What plain PyTorch costs on this machine: rows of calibration tables, one JSON object a line.

    python3 calibration/probe_torch.py SHAPES.json      (or - for standard input)

Run it with the python of your server. SHAPES.json holds, all optional (without models: those of reference_torch.py):

    {"models": [{"hidden": 4096, "heads": 32, "kv_heads": 8, "head_dim": 128, "width": 8192, "experts": 0, "per_token": 0,
                 "vocabulary": 32768}],   whole models; `width` is the FFN's, or one expert's
     "tensor": 1,                         GPUs that share them
     "tasks": [{"what": "gemm", "n": 4096, "k": 4096, "rows": 1}, {"what": "attention", ...}, {"what": "moe", ...}],
     "tokens": [1, 2, ...], "batches": [1, 4, ...], "rows": [1, 2, ...], "contexts": [1024, ...],
     "grid": true,                        projections and heads around the models' own [true where no model is named]
     "collective_bytes": [1024, ...], "transport": "p2p", "limit_s": 60}

A line is {"table": NAME, "row": {column: value}} with the columns of the calibration format and server `pytorch`,
{"failed": TASK, "because": SENTENCE}, and last {"done": true, "rows": n, "failed": n, "seconds": s, "versions": {...}}.
Device times come from two CUDA graphs of a chain of one operation, one three times as long as the other: their difference
holds no launch. Weights and caches are rotated through more than L2. In a chain of itself an operation finds its code in
the caches of the multiprocessors and its launch behind its twin's; amid others, as in a pass, it takes up to a microsecond
longer. So a whole layer is timed too, as a pass issues it, and what it takes beyond its operations is the row `graph-node`,
`amid`: a share of an operation, at the bytes of the hidden state. Host times are taken operation by operation in the order
of a layer and scaled so that they add up to a layer without a clock between; blocks of both are spread over the whole run,
since hosts change their speed within seconds. `issue` of `layer` is such a layer, its p10 and p90 those of the blocks: how
far an eager figure of this host moves. With several ranks all issue these blocks at once, without and with the two all-reduces
of a layer: half the difference, on the slower rank of each repeat, is `issue-collective` of `all-reduce`, and the same while a
CUDA graph that holds an all-reduce is alive, as beside a drafter's graphs, that of `all-reduce-beside-graphs`;
`all-reduce-loop` is a call in a loop of nothing else. Before collectives are timed, matrix products bring the clocks up. No
name of the host or its user is written.
"""

import json
import math
import os
import re
import socket
import subprocess
import sys
import time

TOKENS = [1, 2, 3, 4, 8, 16, 32, 64, 128, 256]
BATCHES = [1, 4, 16, 64]
ROWS = [1, 2, 4, 8, 16]
CONTEXTS = [128, 1024, 2048, 8192]
GRID = [1024, 2048, 4096, 6144, 8192, 14336]
GRID_GROUPS = [4, 8]  # query heads per KV head; KV heads are the first model's
COLLECTIVE_BYTES = [1024, 4096, 8192, 16384, 32768, 65536, 131072, 262144, 1048576, 4194304]
# The dense and the MoE model of reference_torch.py.
DEFAULT_MODEL = dict(hidden=4096, heads=32, kv_heads=8, head_dim=128, width=8192, experts=0, per_token=0, vocabulary=32768)
DEFAULT_MODELS = [{}, dict(hidden=2048, width=768, experts=64, per_token=8)]
SAMPLES = 9
L2_TIMES = 1.3
LAYER_TOKENS = [(1, 1), (1, 4), (16, 1), (16, 4), (64, 4)]  # requests, rows of the layers that are timed
LAYER_CONTEXT = 1024
ISSUE_LAYERS = 12  # of one block, the first quarter to warm up
ISSUE_PASSES = 3
LAYER_ALLREDUCES = 2  # each before a residual_add
WARM_SECONDS = 0.1


def quantile(values, q):
    values = sorted(values)
    at = q * (len(values) - 1)
    low = math.floor(at)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (at - low)


class Printer:
    """Lines on standard output, each point once."""

    def __init__(self, quiet):
        self.quiet, self.rows, self.failed, self.seen = quiet, 0, 0, set()

    def line(self, value):
        if not self.quiet:
            print(json.dumps(value, separators=(",", ":")), flush=True)

    def row(self, table, key, samples):
        times = {name: float(f"{quantile(samples, q):.5g}") for name, q in
                 (("median_us", 0.5), ("p10_us", 0.1), ("p90_us", 0.9))}  # fmt: skip
        if times["median_us"] < 0.001:
            return self.fail(key, "it takes less than a nanosecond")
        self.rows += 1
        self.line({"table": table, "row": {**key, **times, "samples": len(samples)}})

    def new(self, table, key):
        name = (table, *sorted(key.items()))
        fresh = name not in self.seen
        self.seen.add(name)
        return fresh

    def fail(self, task, because):
        self.failed += 1
        self.line({"failed": task, "because": because})


class Probe:
    def __init__(self, torch, rank, ranks, shapes, started, store=None):
        self.torch, self.F = torch, torch.nn.functional
        self.rank, self.ranks, self.shapes, self.started = rank, ranks, shapes, started
        self.limit = float(shapes.get("limit_s", 60))
        self.printer = Printer(rank > 0)
        self.l2 = torch.cuda.get_device_properties(0).L2_cache_size or 64 << 20
        self.issued, self.whole, self.repeats, self.alone = {}, {}, {}, {}
        self.in_situ = {"all-reduce": [], "all-reduce-beside-graphs": []}
        self.store, self.turn = store, 0
        free, _ = torch.cuda.mem_get_info()
        numbers = int(min(6e9, 0.45 * free)) // 2
        self.pool = torch.empty(numbers, dtype=torch.bfloat16, device="cuda")
        for start in range(0, numbers, 1 << 28):
            self.pool[start : start + (1 << 28)].normal_(0.0, 0.02)
        self.grouped = getattr(self.F, "grouped_mm", None) or getattr(torch, "_grouped_mm", None)

    # --- measuring -----------------------------------------------------------------------------------------------

    def late(self):
        return time.time() - self.started > self.limit

    def graph(self, run, count):
        graph = self.torch.cuda.CUDAGraph()
        with self.torch.cuda.graph(graph, capture_error_mode="thread_local"):
            for number in range(count):
                run(number)
        return graph

    def replays(self, graph, count, lead=None):
        """Device times of a graph; `lead` is enqueued before each."""
        torch, times = self.torch, []
        for _ in range(count + 2):
            start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            torch.cuda.synchronize()
            if lead:
                lead()
            start.record()
            graph.replay()
            end.record()
            torch.cuda.synchronize()
            times.append(1000 * start.elapsed_time(end))
        return times[2:]

    def device_us(self, run, count):
        """Samples of the device time of one item of a chain; run(i) is its i-th item."""
        for number in range(2):
            run(number)
        self.torch.cuda.synchronize()
        short, long = self.graph(run, count), self.graph(run, 3 * count)
        a, b = self.replays(short, SAMPLES), self.replays(long, SAMPLES)
        samples = [(y - x) / (2 * count) for x, y in zip(a, b)]
        del short, long
        return samples

    def chain(self, item_bytes, least=8, most=160):
        """How many items it takes to leave L2, and how many operands fit the pool."""
        item = max(item_bytes, 2)
        wanted = min(max(math.ceil(L2_TIMES * self.l2 / item), least), most)
        return wanted, max(1, int(self.pool.numel() * 2 // item))

    def view(self, number, fit, *shape):
        """The number-th piece of the pool; neighbouring ones do not overlap until the pool is used up."""
        size = math.prod(shape)
        start = (number % fit) * size
        return self.pool[start : start + size].view(shape)

    def measured(self, table, key, make):
        """Prints a row, unless it is there or time is up. make() gives what runs and how often."""
        if self.late():
            self.skipped = True
            return
        if not self.printer.new(table, key):
            return
        try:
            with self.torch.no_grad():
                samples = self.device_us(*make())
            self.printer.row(table, key, samples)
        except self.torch.OutOfMemoryError:
            self.torch.cuda.empty_cache()
            self.printer.fail({"table": table, **key}, "out of memory")
        except (RuntimeError, ValueError, TypeError) as error:
            reason = str(error).splitlines()[0][:120] if str(error) else type(error).__name__
            self.torch.cuda.synchronize()
            self.printer.fail({"table": table, **key}, reason)

    # --- operations as plain PyTorch writes them --------------------------------------------------------------------

    def activation(self, *shape, dtype=None):
        x = self.torch.empty(shape, dtype=self.torch.bfloat16, device="cuda").normal_()
        return x.to(dtype) if dtype else x

    def gemm(self, n, k, rows):
        def make():
            x = self.activation(rows, k)
            count, fit = self.chain(2 * n * k)
            return lambda i: self.F.linear(x, self.view(i, fit, n, k)), count

        self.measured("gemm", dict(server="pytorch", weights="bf16", n=n, k=k, rows=rows), make)

    def attend(self, q, keys, values):
        out = self.F.scaled_dot_product_attention(
            q.transpose(1, 2), keys.transpose(1, 2), values.transpose(1, 2), enable_gqa=q.shape[2] != keys.shape[2]
        )
        return out.transpose(1, 2).reshape(q.shape[0] * q.shape[1], -1)

    def attention(self, head_dim, heads, kv_heads, batch, rows, context):
        def make():
            q = self.activation(batch, rows, heads, head_dim)
            size = batch * context * kv_heads * head_dim
            count, fit = self.chain(4 * size, least=4, most=48)
            if 2 * size > self.pool.numel():
                raise ValueError("the cache is larger than the memory set aside")

            def run(i):
                both = self.view(i, fit, 2, batch, context, kv_heads, head_dim)
                return self.attend(q, both[0], both[1])

            return run, count

        key = dict(server="pytorch", kv="bf16", head_dim=head_dim, heads=heads, kv_heads=kv_heads, batch=batch, rows=rows,
                   context=context)  # fmt: skip
        self.measured("attention", key, make)

    def mix(self, h, weights, chosen, up, down, numbers):
        torch, top = self.torch, chosen.shape[1]
        flat, order = torch.sort(chosen.view(-1))
        token = order // top
        ends = torch.searchsorted(flat, numbers, right=True, out_int32=True)
        gate, second = self.grouped(h[token], up.transpose(1, 2), offs=ends).chunk(2, dim=-1)
        out = self.grouped(self.F.silu(gate) * second, down.transpose(1, 2), offs=ends)
        out = out * weights.view(-1)[order].unsqueeze(-1)
        return torch.zeros_like(h).index_add_(0, token, out)

    def experts_of(self, hidden, width, per_token, experts, tokens):
        """Inputs of an expert layer with a balanced router, instance by instance."""
        torch = self.torch
        h = self.activation(tokens, hidden)
        weights = torch.rand(tokens, per_token, device="cuda").bfloat16()
        numbers = torch.arange(experts, device="cuda")
        pairs = tokens * per_token
        chosen = [((torch.arange(pairs, device="cuda") + i * pairs) % experts).view(tokens, per_token) for i in range(16)]
        size = 3 * experts * width * hidden
        if size > self.pool.numel():
            raise ValueError("the experts are larger than the memory set aside")
        fit = max(1, self.pool.numel() // size)

        def run(i):
            base = (i % fit) * size
            up = self.pool[base : base + size * 2 // 3].view(experts, 2 * width, hidden)
            down = self.pool[base + size * 2 // 3 : base + size].view(experts, hidden, width)
            return self.mix(h, weights, chosen[i % 16], up, down, numbers)

        return run

    def moe(self, hidden, width, per_token, experts, shards, tokens):
        def make():
            if self.grouped is None:
                raise ValueError("this PyTorch has no grouped_mm")
            if width % shards:
                raise ValueError("the shards do not divide the width")
            return self.experts_of(hidden, width // shards, per_token, experts, tokens), 8

        key = dict(server="pytorch", weights="bf16", hidden=hidden, width=width, per_token=per_token, experts=experts,
                   shards=shards, tokens=tokens)  # fmt: skip
        self.measured("moe", key, make)

    def small_operations(self, m, tokens):
        """Label, bytes that it moves, what runs; of one rank of a model."""
        torch, F = self.torch, self.F
        hidden, d = m["hidden"], m["head_dim"]
        heads, kv = m["heads"] // m["tensor"], max(m["kv_heads"] // m["tensor"], 1)
        width = m["width"] // m["tensor"]
        x, y, weight = self.activation(tokens, hidden), self.activation(tokens, hidden), self.activation(hidden)
        table = self.view(0, 1, min(m["vocabulary"], self.pool.numel() // hidden), hidden)
        numbers = torch.randint(0, table.shape[0], (tokens,), device="cuda")
        qkv = self.activation(tokens, (heads + 2 * kv) * d)
        cos, sin = self.activation(tokens, 1, d), self.activation(tokens, 1, d)
        k, v = self.activation(tokens, kv, d), self.activation(tokens, kv, d)
        keys, values = self.activation(tokens, 16, kv, d), self.activation(tokens, 16, kv, d)

        def rope(_):
            both, last = qkv.split([(heads + kv) * d, kv * d], dim=-1)
            z = both.view(tokens, heads + kv, d)
            first, second = z.chunk(2, dim=-1)
            z = z * cos + torch.cat((-second, first), dim=-1) * sin
            return (*z.split([heads, kv], dim=1), last)

        def kv_write(_):
            keys[:, 15:].copy_(k.unsqueeze(1))
            values[:, 15:].copy_(v.unsqueeze(1))

        yield "norm", 4 * tokens * hidden, lambda _: F.rms_norm(x, (hidden,), weight, 1e-5)
        yield "residual_add", 6 * tokens * hidden, lambda _: x + y
        yield "embedding", 4 * tokens * hidden, lambda _: table[numbers]
        yield "rope", 4 * tokens * (heads + kv) * d, rope
        yield "kv_write", 8 * tokens * kv * d, kv_write
        if m["experts"]:
            router = self.activation(tokens, m["experts"])
            probabilities = torch.softmax(router, dim=-1)

            def topk(_):
                weights, chosen = torch.topk(probabilities, m["per_token"], dim=-1)
                return weights / weights.sum(-1, keepdim=True), chosen

            yield "router_softmax", 4 * tokens * m["experts"], lambda _: torch.softmax(router, dim=-1)
            yield "topk", 2 * tokens * (m["experts"] + 4 * m["per_token"]), topk
        else:
            both = self.activation(tokens, 2 * width)
            gated = self.activation(tokens, width)
            up = both[:, width:]
            yield "silu", 4 * tokens * width, lambda _: F.silu(both.chunk(2, dim=-1)[0])
            yield "mul", 6 * tokens * width, lambda _: gated * up
        yield from self.head_operations(m["vocabulary"], tokens)

    def head_operations(self, vocabulary, tokens):
        torch = self.torch
        if tokens * vocabulary * 6 > 4e9:
            return
        logits = self.activation(tokens, vocabulary)
        wide = logits.float()
        chosen = torch.randint(0, 100, (tokens,), device="cuda")

        def accept(_):
            wanted, drafted = chosen.view(1, tokens)[:, :-1], chosen.view(1, tokens)[:, 1:]
            return (wanted == drafted).int().cumprod(-1).sum(-1)

        count = tokens * vocabulary
        yield "logits_to_fp32", 6 * count, lambda _: logits.float()
        yield "argmax", 4 * count, lambda _: wide.argmax(-1)
        yield "softmax", 6 * count, lambda _: torch.softmax(logits, dim=-1, dtype=torch.float32)
        yield "draft_topk", 4 * count, lambda _: torch.topk(wide, 1, dim=-1)[1].view(-1)
        if tokens > 1:
            yield "accept", 0, accept

    def small(self, m, tokens):
        with self.torch.no_grad():
            for label, size, run in self.small_operations(m, tokens):
                key = dict(server="pytorch", what="small-kernel", op=label, size_bytes=size)
                self.measured("launch", key, lambda run=run: (run, 24))

    # --- the host ---------------------------------------------------------------------------------------------------

    def layer(self, m, batch, rows):
        """The operations of one decoder layer in order, as (label, run); they share buffers, weights rotate."""
        F, tokens = self.F, batch * rows
        n, hidden, d = m["tensor"], m["hidden"], m["head_dim"]
        heads, kv, width = m["heads"] // n, max(m["kv_heads"] // n, 1), m["width"] // n
        small = {label: run for label, _, run in self.small_operations(m, tokens)}
        inputs = {k: self.activation(tokens, k) for k in (hidden, heads * d, width)}
        q = self.activation(batch, rows, heads, d)
        cache = 2 * batch * LAYER_CONTEXT * kv * d
        caches = max(1, self.pool.numel() // cache)

        def linear(n, k):
            x, fit = inputs[k], max(1, self.pool.numel() // (n * k))
            return "gemm", lambda i: F.linear(x, self.view(i, fit, n, k))

        def attention(i):
            both = self.view(i, caches, 2, batch, LAYER_CONTEXT, kv, d)
            return self.attend(q, both[0], both[1])

        named = [(label, small[label]) for label in ("norm", "rope", "kv_write", "residual_add")]
        norm, rope, write, add = named
        first = [norm, linear((heads + 2 * kv) * d, hidden), rope, write, ("attention", attention),
                 linear(hidden, heads * d), add, norm]  # fmt: skip
        if not m["experts"]:
            gated = [("silu", small["silu"]), ("mul", small["mul"])]
            return [*first, linear(2 * width, hidden), *gated, linear(hidden, width), add]
        mixed = self.experts_of(hidden, width, m["per_token"], m["experts"], tokens)
        chosen = [(label, small[label]) for label in ("router_softmax", "topk")]
        return [*first, linear(m["experts"], hidden), *chosen, ("experts", mixed), add]

    def amid(self, m):
        """What a whole layer takes on the device beyond its operations, a share of each."""
        for batch, rows in LAYER_TOKENS:
            size = 2 * batch * rows * m["hidden"]
            key = dict(server="pytorch", what="graph-node", op="amid", size_bytes=size)
            if self.late() or not self.printer.new("launch", key):
                continue
            try:
                with self.torch.no_grad():
                    layer = self.layer(m, batch, rows)

                    def whole(i, layer=layer):
                        for label, run in layer:
                            run(i)

                    samples = self.device_us(whole, 4)
                    alone = 0.0
                    for place, (label, run) in enumerate(layer):
                        # Equal operations of a layer are timed once; projections differ in shape.
                        name = (m["hidden"], batch, rows, label if label != "gemm" else place)
                        if name not in self.alone:
                            self.alone[name] = quantile(self.device_us(run, 24 if label != "experts" else 8), 0.5)
                        alone += self.alone[name]
                    self.printer.row("launch", key, [max((t - alone) / len(layer), 0.002) for t in samples])
            except (RuntimeError, ValueError) as error:
                self.torch.cuda.synchronize()
                self.printer.fail(key, str(error).splitlines()[0][:120])

    def host_operations(self, m):
        """A layer of two rows, and the operations around the layers."""
        torch = self.torch
        one = torch.zeros(1, device="cuda")
        inside = {"norm", "rope", "kv_write", "residual_add", "silu", "mul", "router_softmax", "topk"}
        around = [(label, run) for label, _, run in self.small_operations(m, 2) if label not in inside]
        return self.layer(m, 1, 2), [*around, ("", lambda _: one.add_(1))]

    def prepare(self, models):
        """The layers whose issue is timed; of several ranks those that every rank can run."""
        made = []
        for m in models:
            try:
                with self.torch.no_grad():
                    operations = self.host_operations(m)
                    for _, run in operations[0]:
                        run(0)
                made.append(operations)
            except (RuntimeError, ValueError, TypeError) as error:
                made.append(None)
                self.printer.fail(dict(what="launch", kind="issue", model=m), str(error).splitlines()[0][:120])
        fine = [float(operations is not None) for operations in made]
        if self.ranks > 1:
            fine = self.over_ranks(fine, self.torch.distributed.ReduceOp.MIN)
        self.operations = [operations for operations, good in zip(made, fine) if good]
        self.layer_bytes = [2 * 2 * m["hidden"] for m, good in zip(models, fine) if good]

    def issue_block(self):
        """One block of host times: each operation by itself, then layers without a clock between; all ranks at once."""
        self.announce("block")
        with self.torch.no_grad():
            repeats = [self.issue_repeat(number) for _ in range(ISSUE_PASSES) for number in range(len(self.operations))]
            if self.ranks > 1:
                self.in_situ_of(repeats, self.beside_graphs())
            else:
                for number, layers, _ in repeats:
                    self.whole.setdefault(number, []).extend(layers)
                    self.repeats.setdefault(number, []).append(sum(layers) / len(layers))
            self.torch.cuda.synchronize()

    def issue_repeat(self, number):
        """Host times of a layer, without and with its all-reduces."""
        layer, around = self.operations[number]
        self.meet()
        for turn in range(ISSUE_LAYERS):
            self.clocked(layer, turn >= ISSUE_LAYERS // 4)
        bare = self.layers(layer)
        reduced = self.layers(layer, reduce=True) if self.ranks > 1 else []
        for turn in range(2):
            self.clocked(around, turn)
        return number, bare, reduced

    def clocked(self, operations, keep):
        for label, run in operations:
            start = time.perf_counter_ns()
            run(0)
            end = time.perf_counter_ns()
            if keep:
                self.issued.setdefault(label, []).append((end - start) / 1000)

    def layers(self, layer, reduce=False):
        """Host times of whole layers; a sum over ranks is that of what the operation before left."""
        self.meet()
        samples, out = [], None
        all_reduce = self.torch.distributed.all_reduce if reduce else None
        for turn in range(ISSUE_LAYERS):
            start = time.perf_counter_ns()
            for label, run in layer:
                if reduce and label == "residual_add":
                    all_reduce(out)
                out = run(0)
            if turn >= ISSUE_LAYERS // 4:
                samples.append((time.perf_counter_ns() - start) / 1000)
        return samples

    # NCCL orders what is issued after what a live graph of the same communicator may be doing: such calls cost more.
    def beside_graphs(self):
        x = self.torch.zeros(8, dtype=self.torch.bfloat16, device="cuda")
        graph = self.graph(lambda _: self.torch.distributed.all_reduce(x), 1)
        graph.replay()
        both = []
        for _ in range(ISSUE_PASSES):
            for number, (layer, _) in enumerate(self.operations):
                both.append((number, self.layers(layer), self.layers(layer, reduce=True)))
        self.torch.cuda.synchronize()
        del graph
        return both

    def in_situ_of(self, repeats, beside):
        """Keeps what an all-reduce adds to a layer, of each repeat on the rank that is slower with it."""

        def mean(values):
            return sum(values) / len(values)

        for op, pairs in (("all-reduce", repeats), ("all-reduce-beside-graphs", beside)):
            if not pairs:
                continue
            own = self.torch.tensor([[mean(bare), mean(reduced)] for _, bare, reduced in pairs], device="cuda").double()
            every = self.torch.empty(self.ranks, *own.shape, dtype=own.dtype, device="cuda")
            self.torch.distributed.all_gather_into_tensor(every.view(-1), own.contiguous().view(-1))
            for (number, *_), rows in zip(pairs, every.transpose(0, 1).tolist()):
                bare, reduced = max(rows, key=lambda row: row[1])
                self.in_situ[op].append(max((reduced - bare) / LAYER_ALLREDUCES, 0.01))
                if op == "all-reduce":
                    self.whole.setdefault(number, []).append(bare)
                    self.repeats.setdefault(number, []).append(bare)

    def issue_rows(self):
        """Operations of a layer, those of the first models first, scaled to what the layer takes."""
        factor = {}
        median = {label: quantile(samples, 0.5) for label, samples in self.issued.items()}
        for number, (layer, _) in enumerate(self.operations):
            known = sum(factor[label] * median[label] for label, _ in layer if label in factor)
            rest = sum(median[label] for label, _ in layer if label not in factor)
            if rest:
                scale = (quantile(self.whole[number], 0.5) - known) / rest
                factor.update({label: min(max(scale, 0.2), 3.0) for label, _ in layer if label not in factor})
        usual = factor.get("norm", 1.0)
        for label, samples in self.issued.items():
            key = dict(server="pytorch", what="issue", op=label)
            self.printer.row("launch", key, [factor.get(label, usual) * sample for sample in samples])
        for number, repeats in self.repeats.items():
            key = dict(server="pytorch", what="issue", op="layer", size_bytes=self.layer_bytes[number])
            if self.printer.new("launch", key):
                self.printer.row("launch", key, repeats)
        for op, samples in self.in_situ.items():
            if samples:
                self.printer.row("launch", dict(server="pytorch", what="issue-collective", op=op), samples)

    def launches(self):
        """Graph node, graph launch, synchronise, read-back."""
        torch = self.torch
        x = torch.zeros(1, device="cuda")
        node = self.device_us(lambda _: x.add_(1), 100)
        self.printer.row("launch", dict(server="pytorch", what="graph-node", op=""), node)
        graph = self.graph(lambda _: x.add_(1), 500)
        device = quantile(self.replays(graph, SAMPLES), 0.5)
        launch, whole = [], []
        for _ in range(60):
            torch.cuda.synchronize()
            start = time.perf_counter_ns()
            graph.replay()
            between = time.perf_counter_ns()
            torch.cuda.synchronize()
            whole.append((time.perf_counter_ns() - start) / 1000)
            launch.append((between - start) / 1000)
        self.printer.row("launch", dict(server="pytorch", what="graph-launch", op=""), launch[10:])
        waking = [max(w - device, 0.01) for w in whole[10:]]
        self.printer.row("launch", dict(server="pytorch", what="synchronise", op=""), waking)
        self.read_back(quantile(launch[10:], 0.5))

    def read_back(self, launch):
        """From the end of one pass to the start of the next: tokens to the host, their successors to the GPU."""
        torch = self.torch
        tokens = torch.zeros(8, dtype=torch.int64, device="cuda")
        pinned = torch.empty(8, dtype=torch.int64).pin_memory()
        graph = self.graph(lambda _: tokens.add_(1), 100)
        device = quantile(self.replays(graph, SAMPLES), 0.5)
        samples = []
        for _ in range(110):
            start = time.perf_counter_ns()
            graph.replay()
            chosen = tokens.tolist()
            pinned.copy_(torch.tensor(chosen))
            tokens.copy_(pinned, non_blocking=True)
            samples.append((time.perf_counter_ns() - start) / 1000 - device - launch)
        self.printer.row("launch", dict(server="pytorch", what="read-back", op=""), [max(s, 0.01) for s in samples[10:]])

    # --- several GPUs -----------------------------------------------------------------------------------------------

    def announce(self, word):
        """Rank 0 tells the others what comes next."""
        if self.ranks > 1 and self.rank == 0:
            self.store.set(f"turn-{self.turn}", word)
            self.turn += 1

    def follow(self):
        """What the other ranks do: blocks of host times when rank 0 says so."""
        while self.store.get(f"turn-{self.turn}") == b"block":
            self.turn += 1
            self.issue_block()

    def over_ranks(self, values, op):
        t = self.torch.tensor(values, dtype=self.torch.float64, device="cuda")
        self.torch.distributed.all_reduce(t, op=op)
        return t.tolist()

    def meet(self):
        """All ranks come together, their GPUs idle."""
        if self.ranks > 1:
            self.over_ranks([0.0], self.torch.distributed.ReduceOp.MAX)
        self.torch.cuda.synchronize()

    def warm(self):
        """Matrix products until the clocks are up: an idle GPU, and what it exchanges, is slower than one in a pass."""
        until = time.perf_counter() + WARM_SECONDS
        while time.perf_counter() < until:
            for _ in range(8):
                self.lead()
            self.torch.cuda.synchronize()

    def lead(self):
        """Some 0.2 ms of work: what is enqueued behind it starts on a busy GPU."""
        if not hasattr(self, "square"):
            self.square = self.torch.zeros(2, 4096, 4096, dtype=self.torch.bfloat16, device="cuda")
        self.torch.mm(self.square[0], self.square[0], out=self.square[1])

    def collectives(self, transport):
        torch, dist = self.torch, self.torch.distributed

        def slowest(values):
            return self.over_ranks(values, dist.ReduceOp.MAX)

        # A rank that starts early waits for the others within the collective: the last one's time is the collective's.
        def last_arrived(values):
            return self.over_ranks(values, dist.ReduceOp.MIN)

        issue = []
        for size in self.shapes.get("collective_bytes", COLLECTIVE_BYTES):
            if slowest([float(self.late())])[0]:
                return
            x = torch.zeros(size // 2, dtype=torch.bfloat16, device="cuda")
            gathered = torch.empty(self.ranks * (size // 2), dtype=torch.bfloat16, device="cuda")
            for op, call in (
                ("all-reduce", lambda x=x: dist.all_reduce(x)),
                ("all-gather", lambda x=x, g=gathered: dist.all_gather_into_tensor(g, x)),
            ):
                for _ in range(3):
                    call()
                self.warm()
                dist.barrier()
                key = dict(op=op, ranks=self.ranks, family="nccl", transport=transport, server="pytorch", bytes=size)
                eager = []
                for _ in range(40):
                    torch.cuda.synchronize()
                    start = time.perf_counter_ns()
                    for _ in range(20):
                        call()
                    host = (time.perf_counter_ns() - start) / 20000
                    torch.cuda.synchronize()
                    eager.append((time.perf_counter_ns() - start) / 20000)
                    if op == "all-reduce" and size <= 65536:
                        issue.append(host)
                self.printer.row("collectives", {**key, "mode": "eager"}, slowest(eager))
                dist.barrier()
                short, long = self.graph(lambda _: call(), 10), self.graph(lambda _: call(), 40)
                self.warm()
                start = quantile(last_arrived(self.replays(short, 30, self.lead)), 0.5)
                graph = [(whole - start) / 30 for whole in last_arrived(self.replays(long, 30, self.lead))]
                self.printer.row("collectives", {**key, "mode": "graph"}, [max(s, 0.01) for s in graph])
                del short, long
        self.printer.row("launch", dict(server="pytorch", what="issue-collective", op="all-reduce-loop"), issue)

    # --- the plan ---------------------------------------------------------------------------------------------------

    def model_shapes(self, m):
        n, h, d = m["tensor"], m["hidden"], m["head_dim"]
        heads, kv = m["heads"] // n, max(m["kv_heads"] // n, 1)
        yield (heads + 2 * kv) * d, h
        yield h, heads * d
        if m["experts"]:
            yield m["experts"], h
        else:
            yield 2 * m["width"] // n, h
            yield h, m["width"] // n
        yield m["vocabulary"] // n, h

    def heads_of(self, m):
        n = m["tensor"]
        return m["head_dim"], m["heads"] // n, max(m["kv_heads"] // n, 1)

    def models(self):
        tensor = int(self.shapes.get("tensor", self.ranks))
        return [{**DEFAULT_MODEL, **m, "tensor": tensor} for m in self.shapes.get("models") or DEFAULT_MODELS]

    def run(self, models):
        shapes, tensor = self.shapes, int(self.shapes.get("tensor", self.ranks))
        tokens = shapes.get("tokens", TOKENS)
        self.skipped = False
        self.launches()
        self.issue_block()
        for m in models:
            for count in tokens:
                self.small(m, count)
                for n, k in self.model_shapes(m):
                    self.gemm(n, k, count)
                if m["experts"]:
                    self.moe(m["hidden"], m["width"], m["per_token"], m["experts"], tensor, count)
            self.issue_block()
            self.amid(m)
            self.attentions(*self.heads_of(m), shapes.get("contexts", CONTEXTS))
            self.issue_block()
        for task in shapes.get("tasks", []):
            self.task(task)
        if shapes.get("grid", not shapes.get("models")):
            self.grid(models[0], tokens)
        self.issue_block()
        self.announce("end")
        self.issue_rows()

    def grid(self, m, tokens):
        """A net around the models' own shapes, for models that were not named."""
        for n in GRID:
            for k in GRID:
                for count in tokens:
                    self.gemm(n, k, count)
            self.issue_block()
        d, _, kv = self.heads_of(m)
        contexts = self.shapes.get("contexts", CONTEXTS)
        for group in GRID_GROUPS:
            self.attentions(d, group * kv, kv, [contexts[0], contexts[-1]])
            self.issue_block()

    def attentions(self, head_dim, heads, kv_heads, contexts):
        for context in contexts:
            for batch in self.shapes.get("batches", BATCHES):
                for rows in self.shapes.get("rows", ROWS):
                    if batch * rows <= 1024 and 4 * batch * context * kv_heads * head_dim <= 2 * self.pool.numel():
                        self.attention(head_dim, heads, kv_heads, batch, rows, context)

    def task(self, task):
        """A task as `specplan calibrate` words it."""
        wanted = {
            "gemm": (self.gemm, ("n", "k", "rows")),
            "attention": (self.attention, ("head_dim", "heads", "kv_heads", "batch", "rows", "context")),
            "moe": (self.moe, ("hidden", "width", "per_token", "experts", "shards", "tokens")),
        }
        what = task.get("what")
        if what not in wanted or task.get("weights", task.get("kv", "bf16")) != "bf16":
            return self.printer.fail(task, "plain PyTorch is probed for bf16 gemm, attention and moe")
        measure, names = wanted[what]
        measure(*(int(task[name]) for name in names))


def transport_of(torch, ranks):
    """nvlink, p2p or shm, as NCCL will find it."""
    pairs = [(a, b) for a in range(ranks) for b in range(ranks) if a != b]
    reachable = all(torch.cuda.can_device_access_peer(a, b) for a, b in pairs)
    if os.environ.get("NCCL_P2P_DISABLE") == "1" or not reachable:
        return "shm"
    try:
        topology = subprocess.run(["nvidia-smi", "topo", "-m"], capture_output=True, text=True, timeout=10).stdout
    except (OSError, subprocess.TimeoutExpired):
        topology = ""
    return "nvlink" if re.search(r"\bNV\d+\b", topology) else "p2p"


def worker(rank, ranks, shapes, started, port, store_port):
    if shapes.get("share_gpu"):
        # NCCL takes ranks with other host identities for other hosts, and their GPU for another one: a test of the script.
        os.environ["NCCL_HOSTID"] = f"rank{rank}"
        os.environ.setdefault("NCCL_SOCKET_IFNAME", "lo")
    import torch

    torch.cuda.set_device(0 if shapes.get("share_gpu") else rank)
    if ranks > 1:
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
        device = torch.device("cuda", 0 if shapes.get("share_gpu") else rank)
        torch.distributed.init_process_group("nccl", rank=rank, world_size=ranks, device_id=device)
        torch.distributed.all_reduce(torch.zeros(1, device="cuda"))
    store = torch.distributed.TCPStore("127.0.0.1", store_port, ranks, rank == 0) if ranks > 1 else None
    probe = Probe(torch, rank, ranks, shapes, started, store)
    if ranks > 1:
        transport = shapes.get("transport") or ("shm" if shapes.get("share_gpu") else transport_of(torch, ranks))
        probe.collectives(transport)
    models = probe.models()
    probe.prepare(models)
    if rank > 0:
        probe.follow()
    if rank == 0:
        probe.run(models)
        version = torch.cuda.nccl.version() if ranks > 1 else ()
        versions = dict(
            torch=torch.__version__.split("+")[0],
            cuda=torch.version.cuda,
            nccl=".".join(map(str, version)),
            gpu=torch.cuda.get_device_name().replace("NVIDIA ", ""),
        )
        probe.printer.line(
            {
                "done": True,
                "rows": probe.printer.rows,
                "failed": probe.printer.failed,
                "out_of_time": probe.skipped,
                "seconds": round(time.time() - started, 1),
                "versions": versions,
            }
        )
    if ranks > 1:
        torch.distributed.barrier()
        torch.distributed.destroy_process_group()


def main():
    if len(sys.argv) > 2 or (len(sys.argv) == 2 and sys.argv[1] in ("-h", "--help")):
        print(__doc__)
        raise SystemExit(0 if len(sys.argv) == 2 else 2)
    started = time.time()
    shapes = {}
    if len(sys.argv) == 2:
        with sys.stdin if sys.argv[1] == "-" else open(sys.argv[1]) as file:
            shapes = json.load(file)
    try:
        import torch
    except ImportError:
        raise SystemExit("PyTorch is needed: run this with the python of your server") from None
    if not torch.cuda.is_available():
        raise SystemExit("no GPU is visible to PyTorch")
    ranks = int(shapes.get("gpus", torch.cuda.device_count()))
    if ranks == 1:
        worker(0, 1, shapes, started, 0, 0)
        return
    with socket.socket() as one, socket.socket() as other:
        one.bind(("127.0.0.1", 0))
        other.bind(("127.0.0.1", 0))
        ports = one.getsockname()[1], other.getsockname()[1]
    torch.multiprocessing.spawn(worker, (ranks, shapes, started, *ports), nprocs=ranks)


if __name__ == "__main__":
    main()
