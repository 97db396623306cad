#!/usr/bin/env python3
"""An independent reference for `specplan validate`: whole passes and whole draft/verify loops in plain PyTorch.

    python3 calibration/reference_torch.py --out reference [--quick] [--limit 170] [--gpus N]
    specplan validate reference/reference.csv --calibration mybox.yaml

Tensor-parallel decode and verify passes of a small dense and a small MoE model, and of a dense model of another width
and depth (`unseen`), eager and from CUDA graphs, and loops in which a one-layer draft model drafts and the target
verifies with scripted acceptance. One process a GPU, NCCL through torch.distributed, bf16, no compilation, no fusion:
what `runtime: pytorch` stands for. Writes into the folder --out:

    reference.csv    measurements as `specplan validate` reads them
    reference.json   every sample, versions, settings
    NAME.json        the models as Hugging Face config.json, and their one-layer drafts

Times are GPU events; a figure is the median of the repeats, for several ranks that of the slowest. Eager passes are
timed in two blocks, one at the start and one at the end of a model's turn: their difference is the repeat-to-repeat
difference. All-reduces in graphs have two blocks too, before and after the first model's passes, each with the clocks
brought up by matrix products. Everything is synthetic: random weights and tokens, experts by a script in which a row
keeps each expert of the row before it with probability 0.38, specplan's own assumption about production mixtures, and
draws the others afresh, also from those that it dropped: with 8 of 64 experts, neighbours share 43.4 %. Rows of a verify
pass see the whole window: a mask of a few columns costs no time. No name of the host or its user is written.
"""

import argparse
import csv
import json
import math
import os
import random
import socket
import sys
import time

HIT = 0.38  # probability that a row keeps an expert of the row before it; specplan assumes the same figure
CONTEXT = 2048

MODELS = {
    "dense": dict(hidden=4096, layers=32, heads=32, kv=8, width=8192, experts=0, top=0),
    "moe": dict(hidden=2048, layers=24, heads=32, kv=8, width=768, experts=64, top=8),
    "unseen": dict(hidden=5120, layers=20, heads=40, kv=8, width=10240, experts=0, top=0),
    # As deep and wide as Kimi K2.5 and as many all-reduces, thin in between: for eight GPUs.
    "thin61": dict(hidden=7168, layers=61, heads=64, kv=8, width=2048, experts=0, top=0),
}
USUAL = "dense,moe,unseen"
VOCABULARY, HEAD_DIM = 32768, 128

# batch, rows; a quick run takes the first ones of each
PASSES = {
    "dense": [(1, 1), (1, 4), (16, 1), (1, 2), (1, 3), (1, 8), (1, 16), (4, 1), (4, 4), (16, 4), (64, 1), (64, 4)],
    "moe": [(1, 1), (1, 4), (16, 1), (1, 2), (1, 3), (1, 8), (1, 16), (4, 1), (4, 4), (16, 4), (64, 1), (64, 4)],
    "unseen": [(1, 1), (1, 4), (16, 1), (1, 2), (1, 8), (4, 4), (16, 4), (64, 1)],
    "thin61": [(1, 1), (1, 4), (1, 2), (1, 3)],
}
QUICK_PASSES = 3
# batch, drafted tokens, acceptance of one drafted token
LOOPS = [(1, 2, 0.5), (1, 4, 0.8), (16, 3, 0.7)]
ALLREDUCE_BYTES = [4096, 16384, 65536, 262144, 1048576]
WARM_SECONDS = 0.15


def config_json(spec, layers):
    """The model as a Hugging Face config.json."""
    common = {
        "dtype": "bfloat16",
        "hidden_size": spec["hidden"],
        "intermediate_size": spec["width"],
        "num_hidden_layers": layers,
        "num_attention_heads": spec["heads"],
        "num_key_value_heads": spec["kv"],
        "head_dim": HEAD_DIM,
        "vocab_size": VOCABULARY,
        "max_position_embeddings": 8192,
        "tie_word_embeddings": False,
    }
    if spec["experts"]:
        common.update(
            architectures=["MixtralForCausalLM"],
            model_type="mixtral",
            num_local_experts=spec["experts"],
            num_experts_per_tok=spec["top"],
            sliding_window=None,
        )
    else:
        common.update(architectures=["LlamaForCausalLM"], model_type="llama")
    return common


def quantile(values, q):
    values = sorted(values)
    at = q * (len(values) - 1)
    low = math.floor(at)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (at - low)


def median(values):
    return quantile(values, 0.5)


def scripted_experts(generator, batch, rows, experts, top):
    """Expert numbers of batch x rows tokens: within a request a row keeps each expert of the row before it with
    probability HIT and draws the others afresh; requests are independent."""
    chosen = []
    for _ in range(batch):
        last = generator.sample(range(experts), top)
        chosen.append(last)
        for _ in range(rows - 1):
            kept = [expert for expert in last if generator.random() < HIT]
            rest = [expert for expert in range(experts) if expert not in kept]
            last = kept + generator.sample(rest, top - len(kept))
            chosen.append(last)
    return chosen


class Group:
    """The tensor-parallel group of this process."""

    def __init__(self, torch, rank, ranks):
        self.torch, self.rank, self.ranks = torch, rank, ranks
        self.dist = torch.distributed if ranks > 1 else None

    def all_reduce(self, x):
        if self.dist:
            self.dist.all_reduce(x)
        return x

    def gather_columns(self, x):
        """Logits of every rank side by side."""
        if not self.dist:
            return x
        parts = self.torch.empty((self.ranks * x.shape[0], x.shape[1]), dtype=x.dtype, device=x.device)
        self.dist.all_gather_into_tensor(parts, x)
        return parts.view(self.ranks, *x.shape).transpose(0, 1).reshape(x.shape[0], -1)

    def barrier(self):
        if self.dist:
            self.torch.cuda.synchronize()
            self.dist.barrier()
        self.torch.cuda.synchronize()

    def slowest(self, values):
        """For each position the largest value over the ranks."""
        if not self.dist:
            return values
        t = self.torch.tensor(values, dtype=self.torch.float64, device="cuda")
        self.dist.all_reduce(t, op=self.dist.ReduceOp.MAX)
        return t.tolist()

    def last_arrived(self, values):
        """For each position the smallest value over the ranks: the time of the rank that waited for no other."""
        if not self.dist:
            return values
        t = self.torch.tensor(values, dtype=self.torch.float64, device="cuda")
        self.dist.all_reduce(t, op=self.dist.ReduceOp.MIN)
        return t.tolist()

    def largest(self, value):
        return self.slowest([float(value)])[0]


class Layer:
    def __init__(self, torch, spec, group, made):
        n, h = group.ranks, spec["hidden"]
        self.heads, self.kv = spec["heads"] // n, max(spec["kv"] // n, 1)
        self.norm1, self.norm2 = made(h).fill_(1.0), made(h).fill_(1.0)
        self.qkv = made((self.heads + 2 * self.kv) * HEAD_DIM, h)
        self.o = made(h, self.heads * HEAD_DIM)
        width = spec["width"] // n
        if spec["experts"]:
            self.router = made(spec["experts"], h)
            self.up = made(spec["experts"], 2 * width, h)
            self.down = made(spec["experts"], h, width)
        else:
            self.up = made(2 * width, h)
            self.down = made(h, width)


class Model:
    """A decoder of which each pass is written out in plain PyTorch operations."""

    def __init__(self, torch, spec, layers, group, seed, most_tokens):
        self.torch, self.spec, self.group = torch, spec, group
        self.functional = torch.nn.functional
        generator = torch.Generator(device="cuda").manual_seed(seed + group.rank)

        def made(*shape):
            t = torch.empty(shape, dtype=torch.bfloat16, device="cuda")
            return t.normal_(0.0, 0.02, generator=generator)

        self.embedding = made(VOCABULARY, spec["hidden"])
        self.layers = [Layer(torch, spec, group, made) for _ in range(layers)]
        self.norm = made(spec["hidden"]).fill_(1.0)
        self.head = made(VOCABULARY // group.ranks, spec["hidden"])
        self.made = made
        self.caches = []
        self.batch_of_caches = 0
        angles = torch.rand(most_tokens, 1, HEAD_DIM, device="cuda")
        self.cos, self.sin = angles.cos().bfloat16(), angles.sin().bfloat16()
        self.grouped = getattr(torch.nn.functional, "grouped_mm", None) or getattr(torch, "_grouped_mm", None)

    def cache_bytes(self, batch):
        return len(self.layers) * 2 * batch * CONTEXT * self.layers[0].kv * HEAD_DIM * 2

    def caches_for(self, batch):
        """Whether there is a KV cache for so many requests."""
        if batch > self.batch_of_caches:
            self.caches = []
            free, _ = self.torch.cuda.mem_get_info()
            if self.group.largest(self.cache_bytes(batch) > 0.85 * free):
                return False
            shape = (batch, CONTEXT, self.layers[0].kv, HEAD_DIM)
            self.caches = [(self.made(*shape), self.made(*shape)) for _ in self.layers]
            self.batch_of_caches = batch
        return True

    def attention(self, layer, cache, h, batch, rows):
        torch, tokens = self.torch, batch * rows
        qkv = self.functional.linear(h, layer.qkv)
        both, v = qkv.split([(layer.heads + layer.kv) * HEAD_DIM, layer.kv * HEAD_DIM], dim=-1)
        x = both.view(tokens, layer.heads + layer.kv, HEAD_DIM)
        first, second = x.chunk(2, dim=-1)
        x = x * self.cos[:tokens] + torch.cat((-second, first), dim=-1) * self.sin[:tokens]
        q, k = x.split([layer.heads, layer.kv], dim=1)
        keys, values = cache[0][:batch], cache[1][:batch]
        keys[:, CONTEXT - rows :].copy_(k.view(batch, rows, layer.kv, HEAD_DIM))
        values[:, CONTEXT - rows :].copy_(v.view(batch, rows, layer.kv, HEAD_DIM))
        out = self.functional.scaled_dot_product_attention(
            q.view(batch, rows, layer.heads, HEAD_DIM).transpose(1, 2),
            keys.transpose(1, 2),
            values.transpose(1, 2),
            enable_gqa=layer.heads != layer.kv,
        )
        return self.functional.linear(out.transpose(1, 2).reshape(tokens, -1), layer.o)

    def mlp(self, layer, h, experts):
        if self.spec["experts"]:
            return self.mixture(layer, h, experts)
        gate, up = self.functional.linear(h, layer.up).chunk(2, dim=-1)
        return self.functional.linear(self.functional.silu(gate) * up, layer.down)

    def mixture(self, layer, h, scripted):
        """Router and choice are computed as ever; the script's experts then take the place of the choice."""
        torch, top = self.torch, self.spec["top"]
        probabilities = torch.softmax(self.functional.linear(h, layer.router), dim=-1)
        weights, _ = torch.topk(probabilities, top, dim=-1)
        weights = weights / weights.sum(-1, keepdim=True)
        flat, order = torch.sort(scripted.view(-1))
        token = order // top
        ends = torch.searchsorted(flat, self.numbers, right=True, out_int32=True)
        gate, up = self.grouped(h[token], layer.up.transpose(1, 2), offs=ends).chunk(2, dim=-1)
        out = self.grouped(self.functional.silu(gate) * up, layer.down.transpose(1, 2), offs=ends)
        out = out * weights.view(-1)[order].unsqueeze(-1)
        return torch.zeros_like(h).index_add_(0, token, out)

    def body(self, tokens, batch, rows, experts):
        x = self.embedding[tokens]
        size = (self.spec["hidden"],)
        for number, (layer, cache) in enumerate(zip(self.layers, self.caches)):
            h = self.functional.rms_norm(x, size, layer.norm1, 1e-5)
            x = x + self.group.all_reduce(self.attention(layer, cache, h, batch, rows))
            h = self.functional.rms_norm(x, size, layer.norm2, 1e-5)
            x = x + self.group.all_reduce(self.mlp(layer, h, experts[number] if experts else None))
        return self.functional.rms_norm(x, size, self.norm, 1e-5)

    def logits(self, x):
        return self.group.gather_columns(self.functional.linear(x, self.head))

    def target_pass(self, tokens, batch, rows, experts):
        """Decode (one row) or verify: chosen token of every row, and how many drafted ones were right."""
        logits = self.logits(self.body(tokens, batch, rows, experts))
        chosen = logits.float().argmax(-1)
        if rows == 1:
            return chosen, None, logits
        wanted, drafted = chosen.view(batch, rows)[:, :-1], tokens.view(batch, rows)[:, 1:]
        return chosen, (wanted == drafted).int().cumprod(-1).sum(-1), logits

    def draft_pass(self, tokens, batch, rows, experts):
        """One step of a drafter; of several rows a request the last one is drafted from."""
        x = self.body(tokens, batch, rows, experts)
        x = x.view(batch, rows, -1)[:, -1]
        probabilities = self.torch.softmax(self.logits(x), dim=-1, dtype=self.torch.float32)
        return self.torch.topk(probabilities, 1, dim=-1)[1].view(-1)

    def experts_for(self, batch, rows, seed):
        """Scripted experts of every layer on the GPU, with the mean number of distinct ones."""
        if not self.spec["experts"]:
            return None, None
        generator = random.Random(seed)
        tables, distinct = [], []
        for _ in self.layers:
            chosen = scripted_experts(generator, batch, rows, self.spec["experts"], self.spec["top"])
            distinct.append(len({expert for row in chosen for expert in row}))
            tables.append(self.torch.tensor(chosen, device="cuda"))
        self.numbers = self.torch.arange(self.spec["experts"], device="cuda")
        return tables, sum(distinct) / len(distinct)


class Captured:
    """A pass in a CUDA graph, with the buffer of its tokens."""

    def __init__(self, torch, group, run, tokens):
        self.tokens = tokens
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(2):
                run(tokens)
        torch.cuda.current_stream().wait_stream(side)
        group.barrier()
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph, capture_error_mode="thread_local"):
            self.out = run(tokens)
        group.barrier()
        self.graph.replay()
        group.barrier()

    def replay(self):
        self.graph.replay()


def timed(torch, group, run, repeats, of=None, lead=None):
    """GPU time of each repeat in ms, of the slowest rank, or as `of` picks among the ranks; `lead` goes before each."""
    samples = []
    for _ in range(repeats):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        group.barrier()
        if lead:
            lead()
        start.record()
        run()
        end.record()
        torch.cuda.synchronize()
        samples.append(start.elapsed_time(end))
    return (of or group.slowest)(samples)


class Reference:
    def __init__(self, torch, group, args, started):
        self.torch, self.group, self.args, self.started = torch, group, args, started
        self.rows, self.samples, self.skipped = [], [], []
        self.reduced = {}

    def late(self, need):
        """Whether less than `need` seconds are left; the ranks agree."""
        return self.group.largest(time.time() - self.started + need > self.args.limit) > 0

    def tokens(self, count):
        return self.torch.randint(0, VOCABULARY, (count,), device="cuda")

    def note(self, **sample):
        self.samples.append(sample)

    def row(self, **cells):
        self.rows.append(cells)

    def add_pass(self, name, batch, rows, execution, samples, other=None, distinct=None):
        measured = median(samples + (other or []))
        difference = abs(median(samples) / median(other) - 1.0) if other else 0.0
        self.note(model=name, batch=batch, rows=rows, execution=execution, ms=samples, again_ms=other, distinct=distinct)
        spread = samples + (other or [])
        self.row(
            id=f"REF-{name}-tp{self.group.ranks}-{batch}x{rows}-{execution}",
            group=f"{name} pass {execution}",
            level="V1",
            model=f"{name}.json",
            batch=batch,
            draft_tokens=rows,
            execution=execution,
            quantity="pass_ms",
            measured=measured,
            n=len(spread),
            repeat_percent=100 * difference if execution == "eager" else "",
            note=f"p10 {quantile(spread, 0.1):.4g}, p90 {quantile(spread, 0.9):.4g} ms",
        )

    def passes(self, name, model, cases):
        repeats = self.args.repeats
        eager, runs = {}, {}
        for batch, rows in cases:
            if self.late(4) or not model.caches_for(batch):
                self.skipped.append(f"{name} {batch}x{rows}")
                continue
            experts, distinct = model.experts_for(batch, rows, 7)
            tokens = self.tokens(batch * rows)

            def run(tokens=tokens, batch=batch, rows=rows, experts=experts):
                return model.target_pass(tokens, batch, rows, experts)

            with self.torch.no_grad():
                for _ in range(2):
                    run()
                eager[batch, rows] = timed(self.torch, self.group, run, repeats)
                captured = Captured(self.torch, self.group, lambda _, run=run: run(), tokens)
                graph = timed(self.torch, self.group, captured.replay, repeats + 4)[2:]
                self.same(captured.out[2], run()[2], name)
                del captured
            runs[batch, rows] = (run, distinct)
            self.add_pass(name, batch, rows, "graph", graph, distinct=distinct)
        for (batch, rows), (run, distinct) in runs.items():
            if self.late(3):
                self.skipped.append(f"{name} {batch}x{rows} eager, second block")
                continue
            with self.torch.no_grad():
                run()
                again = timed(self.torch, self.group, run, repeats)
            self.add_pass(name, batch, rows, "eager", eager[batch, rows], again, distinct)

    def same(self, graph, eager, name):
        """A graph that computes something else than the eager pass would time something else."""
        graph, eager = graph.float(), eager.float()
        differing = ((graph - eager).norm() / eager.norm()).item()
        if not self.group.largest(differing) < 0.2:
            raise SystemExit(f"{name}: the graph's logits differ from those of the eager pass by {differing:.2g}")

    def loop(self, name, target, draft, batch, drafted, rate, execution):
        """Draft, verify, read back, accept as the script says; the baseline decodes and reads back."""
        torch, rows = self.torch, drafted + 1
        step_experts, _ = draft.experts_for(batch, 1, 3)
        extend_experts, _ = draft.experts_for(batch, rows, 4)
        verify_experts, _ = target.experts_for(batch, rows, 5)
        decode_experts, _ = target.experts_for(batch, 1, 6)
        with torch.no_grad():
            step = Captured(
                torch, self.group, lambda t: draft.draft_pass(t, batch, 1, step_experts), self.tokens(batch)
            )
            extend = Captured(
                torch, self.group, lambda t: draft.draft_pass(t, batch, rows, extend_experts), self.tokens(batch * rows)
            )
            verify_tokens, decode_tokens = self.tokens(batch * rows), self.tokens(batch)

            def verify_pass(tokens):
                return target.target_pass(tokens, batch, rows, verify_experts)

            def decode_pass(tokens):
                return target.target_pass(tokens, batch, 1, decode_experts)

            verify = Captured(torch, self.group, verify_pass, verify_tokens)
            decode = Captured(torch, self.group, decode_pass, decode_tokens)
            generator = random.Random(11)
            host = torch.empty(batch * rows, dtype=torch.int64).pin_memory()
            first = torch.empty(batch, dtype=torch.int64).pin_memory()

            def cycle():
                # S - 1 steps and one extend over the rows that the last verify produced.
                extend.replay()
                for _ in range(drafted - 1):
                    step.replay()
                if execution == "graph":
                    verify.replay()
                    chosen = verify.out[0].tolist()
                else:
                    chosen = verify_pass(verify_tokens)[0].tolist()
                gained, last = 0, []
                for request in range(batch):
                    accepted = 0
                    while accepted < drafted and generator.random() < rate:
                        accepted += 1
                    gained += accepted + 1
                    last.append(chosen[request * rows + accepted])
                host.copy_(torch.tensor(chosen))
                first.copy_(torch.tensor(last))
                verify_tokens.copy_(host, non_blocking=True)
                extend.tokens.copy_(host, non_blocking=True)
                step.tokens.copy_(first, non_blocking=True)
                return gained

            def baseline():
                decode.replay()
                chosen = decode.out[0].tolist()
                first.copy_(torch.tensor(chosen))
                decode_tokens.copy_(first, non_blocking=True)

            cycle_ms, gained = self.cycles(cycle)
            step_ms, _ = self.cycles(baseline)
        length = gained / batch
        self.note(
            model=name, batch=batch, drafted=drafted, rate=rate, execution=execution, cycle_ms=cycle_ms,
            accept_length=length, step_ms=step_ms,
        )  # fmt: skip
        label = f"REF-{name}-tp{self.group.ranks}-loop-{batch}-k{drafted}-a{rate}-{execution}"
        shared = dict(
            group=f"{name} loop {execution}",
            model=f"{name}.json",
            batch=batch,
            method="draft-model",
            draft=f"{name}-draft.json",
            steps=drafted,
            topk=1,
            draft_tokens=rows,
            accept_length=round(length, 4),
            execution=execution,
        )
        measured, n = median(cycle_ms), len(cycle_ms)
        halves = (median(cycle_ms[: n // 2]), median(cycle_ms[n // 2 :]))
        repeat = 100 * abs(halves[0] / halves[1] - 1) if execution == "eager" else ""
        self.row(id=label, level="V2", quantity="cycle_ms", measured=measured, n=n, repeat_percent=repeat, **shared)
        mean = sum(cycle_ms) / n
        speed = 1000 * batch * length / mean
        self.row(
            **{**shared, "group": f"{name} tok/s {execution}"}, id=label + "-tok", level="V3", quantity="throughput_tok_s",
            measured=speed, n=n, repeat_percent=repeat,
            note="from the mean cycle and the accept length that the script drew",
        )  # fmt: skip
        if execution == "graph":
            self.row(
                id=f"REF-{name}-tp{self.group.ranks}-decode-{batch}-beside-k{drafted}",
                group=f"{name} decode loop graph",
                level="V2",
                model=f"{name}.json",
                batch=batch,
                execution="graph",
                quantity="step_ms",
                measured=median(step_ms),
                n=len(step_ms),
                note="with the read-back of its tokens",
            )

    def cycles(self, run):
        """Host times of cycles in ms, of the slowest rank, and the mean tokens gained."""
        for _ in range(5):
            run()
        self.group.barrier()
        samples, gained = [], 0
        for _ in range(self.args.cycles):
            start = time.perf_counter()
            gained += run() or 0
            samples.append(1000 * (time.perf_counter() - start))
        return self.group.slowest(samples), gained / self.args.cycles

    def warmed(self):
        """Brings the clocks up with matrix products; returns some 0.2 ms of them to go before what is timed."""
        torch = self.torch
        square = torch.zeros(2, 4096, 4096, dtype=torch.bfloat16, device="cuda")

        def product():
            torch.mm(square[0], square[0], out=square[1])

        until = time.perf_counter() + WARM_SECONDS
        while time.perf_counter() < until:
            for _ in range(8):
                product()
            torch.cuda.synchronize()
        return product

    def allreduces(self):
        """A block of V0: one all-reduce in a graph, from a chain of 100, on the rank that starts last: the other one waits."""
        torch, chain = self.torch, 100
        for size in ALLREDUCE_BYTES:
            x = torch.zeros(size // 2, dtype=torch.bfloat16, device="cuda")

            def run(_, x=x):
                for _ in range(chain):
                    self.group.all_reduce(x)

            captured = Captured(torch, self.group, run, x)
            times = timed(torch, self.group, captured.replay, 25, self.group.last_arrived, self.warmed())
            samples = [1000 * ms / chain for ms in times[5:]]
            self.note(allreduce_bytes=size, us=samples)
            self.reduced.setdefault(size, []).append(samples)

    def allreduce_rows(self):
        """Their rows, before all others; what two blocks differ by is the repeat."""
        rows, self.rows = self.rows, []
        for size, blocks in self.reduced.items():
            samples = [us for block in blocks for us in block]
            repeat = 100 * abs(median(blocks[0]) / median(blocks[1]) - 1) if len(blocks) > 1 else ""
            self.row(
                id=f"REF-allreduce-tp{self.group.ranks}-{size}-graph",
                group="all-reduce graph",
                level="V0",
                model=f"{next(iter(self.args.models))}.json",
                batch=1,
                execution="graph",
                quantity="allreduce_us",
                bytes=size,
                measured=median(samples),
                n=len(samples),
                repeat_percent=repeat,
            )
        self.rows += rows

    def run(self):
        if self.group.ranks > 1:
            self.allreduces()
        for name, spec in self.args.models.items():
            if spec["heads"] % self.group.ranks or self.late(15):
                self.skipped.append(name)
                continue
            cases = PASSES[name][:QUICK_PASSES] if self.args.quick else PASSES[name]
            model = Model(self.torch, spec, spec["layers"], self.group, 1, 64 * 17)
            if spec["experts"] and model.grouped is None:
                self.skipped.append(f"{name}: this PyTorch has no grouped_mm")
                continue
            self.passes(name, model, cases)
            if self.group.ranks > 1 and len(next(iter(self.reduced.values()))) == 1:
                self.allreduces()
            if name != "unseen":
                self.loops(name, spec, model)
            del model
            self.torch.cuda.empty_cache()
        self.allreduce_rows()

    def loops(self, name, spec, model):
        draft = Model(self.torch, spec, 1, self.group, 2, 64 * 17)
        for batch, drafted, rate in LOOPS[:1] if self.args.quick else LOOPS:
            for execution in ("graph", "eager"):
                if self.late(6) or not (model.caches_for(batch) and draft.caches_for(batch)):
                    self.skipped.append(f"{name} loop {batch} k{drafted} {execution}")
                    continue
                self.loop(name, model, draft, batch, drafted, rate, execution)


COLUMNS = (
    "id group level hardware calibration model weights kv runtime tensor decode_context batch context method draft "
    "steps topk draft_tokens accept_length execution allreduce quantity bytes measured n repeat_percent use source note"
).split()


def write(args, reference, versions, ranks):
    os.makedirs(args.out, exist_ok=True)
    source = f"reference_torch.py, PyTorch {versions['torch']}, NCCL {versions['nccl']}, {ranks}x {versions['gpu']}"
    environment = {key: value for key, value in os.environ.items() if key.startswith("NCCL_") and "HOSTID" not in key}
    if environment:
        source += ", " + " ".join(f"{key}={value}" for key, value in sorted(environment.items()))
    defaults = dict(
        hardware=args.hardware or "", runtime="pytorch", tensor=ranks, decode_context=1, context=CONTEXT, source=source,
        use="held out",
    )  # fmt: skip
    with open(os.path.join(args.out, "reference.csv"), "w", newline="") as file:
        table = csv.DictWriter(file, COLUMNS, restval="", lineterminator="\n")
        table.writeheader()
        for row in reference.rows:
            row = {**defaults, **row}
            row["measured"] = f"{row['measured']:.5g}"
            if row.get("repeat_percent", "") != "":
                row["repeat_percent"] = f"{row['repeat_percent']:.1f}"
            table.writerow(row)
    raw = dict(
        format="specplan-reference/1", versions=versions, ranks=ranks, context=CONTEXT, environment=environment,
        quick=args.quick, expert_overlap=HIT, skipped=reference.skipped, samples=reference.samples,
    )  # fmt: skip
    with open(os.path.join(args.out, "reference.json"), "w") as file:
        json.dump(raw, file, indent=None, separators=(",", ":"))
        file.write("\n")
    for name, spec in args.models.items():
        for file_name, layers in ((f"{name}.json", spec["layers"]), (f"{name}-draft.json", 1)):
            with open(os.path.join(args.out, file_name), "w") as file:
                json.dump(config_json(spec, layers), file, indent=2)
                file.write("\n")


def worker(rank, ranks, args, port):
    started = args.started
    if args.share_gpu:
        # NCCL takes ranks with other host identities for other hosts, and their GPU for another one.
        os.environ["NCCL_HOSTID"] = f"rank{rank}"
        os.environ.setdefault("NCCL_SOCKET_IFNAME", "lo")
    import torch

    torch.cuda.set_device(0 if args.share_gpu else rank)
    if ranks > 1:
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
        device = torch.device("cuda", 0 if args.share_gpu else rank)
        torch.distributed.init_process_group("nccl", rank=rank, world_size=ranks, device_id=device)
        torch.distributed.all_reduce(torch.zeros(1, device="cuda"))
    group = Group(torch, rank, ranks)
    reference = Reference(torch, group, args, started)
    reference.run()
    if rank == 0:
        version = torch.cuda.nccl.version() if torch.distributed.is_available() else ""
        versions = dict(
            torch=torch.__version__.split("+")[0],
            cuda=torch.version.cuda,
            nccl=".".join(map(str, version)) if isinstance(version, tuple) else str(version),
            gpu=torch.cuda.get_device_name().replace("NVIDIA ", ""),
        )
        write(args, reference, versions, ranks)
        print(f"{len(reference.rows)} rows in {time.time() - started:.0f} s -> {args.out}/reference.csv")
        for skipped in reference.skipped:
            print(f"left out: {skipped}", file=sys.stderr)
    if ranks > 1:
        torch.distributed.destroy_process_group()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default="reference", help="folder to write")
    parser.add_argument("--gpus", type=int, help="GPUs, and tensor-parallel size [all]")
    parser.add_argument("--hardware", help="hardware preset named in the table, e.g. h200-x2")
    parser.add_argument("--limit", type=float, default=170, help="seconds after which no case is begun [170]")
    parser.add_argument("--repeats", type=int, default=7, help="repeats of a block, at least 5 [7]")
    parser.add_argument("--cycles", type=int, default=60, help="cycles of a loop [60]")
    parser.add_argument("--quick", action="store_true", help="few cases")
    parser.add_argument("--models", default=USUAL, help=f"which, comma-separated: {', '.join(MODELS)} [{USUAL}]")
    parser.add_argument("--share-gpu", action="store_true", help="test: all ranks on the first GPU")
    args = parser.parse_args()
    args.started = time.time()
    names = args.models.split(",")
    if unknown := [name for name in names if name not in MODELS]:
        parser.error(f"--models takes {', '.join(MODELS)}, not {unknown[0]!r}")
    args.models = {name: MODELS[name] for name in names}
    args.repeats = max(args.repeats, 5)
    try:
        import torch
    except ImportError:
        raise SystemExit("PyTorch is needed: run this with the python of your server") from None
    if not torch.cuda.is_available():
        raise SystemExit("no GPU is visible to PyTorch")
    ranks = args.gpus or torch.cuda.device_count()
    if ranks > torch.cuda.device_count() and not args.share_gpu:
        raise SystemExit(f"{ranks} GPUs are wanted, {torch.cuda.device_count()} are visible")
    if ranks == 1:
        worker(0, 1, args, 0)
        return
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    torch.multiprocessing.spawn(worker, (ranks, args, port), nprocs=ranks)


if __name__ == "__main__":
    main()
