#!/usr/bin/env python3
"""Makes the calibration files of this folder out of public measurements.

    python3 calibration/from_aiconfigurator.py TABLES

TABLES is a folder with the public tables as comma-separated files:
  collectives_rtx_pro_6000_server.csv, collectives_l40s.csv
      system,gpus,link,backend,mode,version,dtype,bytes,time_us
  kernels/{gemm,attention_decode,mla_decode,moe}_{rtx_pro_6000,l40s,h200}.csv   (columns: see the readers below)
  nccl-tests/*.txt             tables as all_reduce_perf prints them
  h200x2_thin_shm.json         all-reduce on two H200 staged through host memory
The first two kinds are exports of the tables of PyPI aiconfigurator-core 0.12.0 (Apache-2.0, see NOTICE).
Figures that are public only as text stand in figures.py with their source.

Writes *.yaml, kernels/*/*.csv.gz and ACCURACY.md beside this script. Same input, same bytes.
Python 3.9 or newer, standard library only.
"""

import csv
import gzip
import io
import json
import pathlib
import sys

from accuracy import accuracy_page
from figures import BOXES, KERNEL_SETS, NCCL_TESTS
from prune import prune

HERE = pathlib.Path(__file__).resolve().parent
TOLERANCE = 0.02
WEIGHTS = {"bfloat16": "bf16", "fp8": "fp8", "fp8_block": "fp8-block", "int4_wo": "int4",
           "w4a16_mxfp4": "mxfp4", "nvfp4": "nvfp4", "": ""}
SERVERS = {"sglang": "sglang", "vllm": "vllm"}


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def four_figures(text):
    return f"{float(text):.4g}"


# --- kernel tables: each row becomes (key columns, axis columns, time) -------------------------------------------

def gemm(rows):
    for r in rows:
        if r["gemm_dtype"] == "fp8_block":  # measured for three tiny shapes only
            continue
        yield ((SERVERS[r["framework"].split("/")[0]], WEIGHTS[r["gemm_dtype"]]),
               (int(r["n"]), int(r["k"]), int(r["m"])), r["time_us"])


def attention(rows):
    for r in rows:
        yield ((SERVERS[r["framework"].split("/")[0]], WEIGHTS[r["kv_cache_dtype"]], int(r["head_dim"]),
                int(r["num_heads"]), int(r["num_key_value_heads"])),
               (int(r["batch_size"]), int(r["context"])), r["time_us"])


def mla(rows):
    shapes = {}
    for r in rows:
        server, what = r["what"].split()
        if server not in SERVERS:
            continue
        weights = WEIGHTS[r["gemm_type"]] if what == "module" else ""
        key = (what, SERVERS[server], weights, WEIGHTS[r["kv_cache_dtype"]])
        shapes.setdefault(key, []).append(
            ((int(r["num_heads"]), int(r["batch_size"]), int(r["context"])), r["time_us"]))
    for key, points in shapes.items():
        # Measured for one head only: of use where the same projections tell what a narrower cache saves.
        if len({at[0] for at, _ in points}) < 2 and key[2] != "bf16":
            continue
        for at, time in points:
            yield key, at, time


def moe(rows):
    for r in rows:
        if r["distribution"] != "balanced":
            continue
        yield ((SERVERS[r["framework"].split("/")[0]], WEIGHTS[r["moe_dtype"]], int(r["hidden_size"]),
                int(r["inter_size"]), int(r["topk"]), int(r["num_experts"])),
               (int(r["moe_tp_size"]), int(r["num_tokens"])), r["time_us"])


KERNELS = {
    "gemm": (gemm, "gemm", ["server", "weights"], ["n", "k", "rows"]),
    "attention": (attention, "attention_decode", ["server", "kv", "head_dim", "heads", "kv_heads"],
                  ["batch", "context"]),
    "mla": (mla, "mla_decode", ["what", "server", "weights", "kv"], ["heads", "batch", "context"]),
    "moe": (moe, "moe", ["server", "weights", "hidden", "width", "per_token", "experts"], ["shards", "tokens"]),
}


def reading_order(item):
    """The order in which the reader keeps rows, so that it need not sort: attention by heads per KV head."""
    (key, at), _ = item
    if len(key) == 5:
        *first, heads, kv_heads = key
        return (*first, heads // kv_heads if heads % kv_heads == 0 else 0, kv_heads, heads), at
    return key, at


def kernel_lines(points):
    """Lines along the last axis, pruned; and the errors of the rows dropped."""
    lines = {}
    for key, at, time in points:
        line = lines.setdefault((key, at[:-1]), {})
        assert at[-1] not in line, f"measured twice: {key} {at}"
        line[at[-1]] = float(four_figures(time))
    kept, errors = [], []
    for (key, at), line in sorted(lines.items(), key=reading_order):
        knots, dropped = prune(sorted(line.items()), TOLERANCE)
        kept += [(key, at + (x,), t) for x, t in knots]
        errors += dropped
    return kept, errors


def write_gz(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    packed = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=packed, compresslevel=9, mtime=0) as file:
        file.write(text.encode())
    path.write_bytes(packed.getvalue())


def write_kernels(tables):
    made = []
    for gpu, source in KERNEL_SETS.items():
        for table, (reader, stem, keys, axes) in KERNELS.items():
            points = list(reader(rows_of(tables / "kernels" / f"{stem}_{source}.csv")))
            kept, errors = kernel_lines(points)
            text = ",".join(keys + axes + ["median_us"]) + "\n"
            text += "".join(",".join(map(str, key + at)) + f",{t:.4g}\n" for key, at, t in kept)
            path = HERE / "kernels" / gpu / f"{table}.csv.gz"
            write_gz(path, text)
            made.append((gpu, table, keys, axes, points, kept, errors, path.stat().st_size))
    return made


# --- collectives ---------------------------------------------------------------------------------------------------

def series_of(rows):
    """{(gpus, backend, mode, version, dtype): {bytes: time as text}}"""
    series = {}
    for r in rows:
        key = (int(r["gpus"]), r["backend"], r["mode"], r["version"], r["dtype"])
        series.setdefault(key, {})[int(r["bytes"])] = r["time_us"]
    return series


def spikes(line, siblings):
    """Sizes at which a line lies 25 % above the straight line between its neighbours and above every sibling."""
    found = set()
    sizes = sorted(line)
    time = {size: float(line[size]) for size in sizes}
    for i, size in enumerate(sizes):
        a, b = sizes[max(i - 1, 0)], sizes[min(i + 1, len(sizes) - 1)]
        if a == size:
            between = time[b]
        elif b == size:
            continue
        else:
            between = time[a] + (size - a) / (b - a) * (time[b] - time[a])
        others = [float(s[size]) for s in siblings if size in s]
        if time[size] > 1.25 * between and others and time[size] > 1.25 * max(others):
            found.add(size)
    return found


def public_collectives(tables, file, curves, most_ranks):
    """Rows of the public tables as figures.py selects them."""
    series = series_of(rows_of(tables / file))
    out = []
    for c in curves:
        if c["ranks"] > most_ranks:
            continue
        line = series[c["ranks"], c["backend"], c["mode"], c["version"], c["dtype"]]
        siblings = [s for k, s in series.items()
                    if k[0] == c["ranks"] and k[2] == c["mode"] and k[3:] != (c["version"], c["dtype"])
                    and k[3] in c["siblings"]]
        flagged = spikes(line, siblings)
        for size in sorted(line):
            if size <= c["largest"]:
                flag = "spike" if size in flagged else ""
                out.append(("all-reduce", c["ranks"], c["family"], c["mode"], "p2p", c["server"], size,
                            line[size], "", flag))
    return out


def nccl_tests(tables, name):
    """(bytes, out-of-place time) of a table as all_reduce_perf prints it, from 512 B on."""
    stem, ranks, transport = NCCL_TESTS[name]
    out = []
    for line in (tables / "nccl-tests" / f"{stem}.txt").read_text().splitlines():
        cells = line.split()
        if len(cells) >= 9 and cells[0].isdigit() and cells[2] in ("float", "half"):
            size = int(cells[0])
            time = cells[5] if cells[4] in ("-1", "0") else cells[4]
            if size >= 512:
                out.append(("all-reduce", ranks, "nccl", "stream", transport, "", size, time, "", ""))
    assert out, name
    return out


def thin_shm(tables):
    """Means of the two runs on two H200, all-reduce staged through host memory."""
    runs = json.loads((tables / "h200x2_thin_shm.json").read_text()).values()
    out = []
    for mode in ("graph", "eager"):
        times = {}
        for run in runs:
            for row in run["allreduce"]:
                times.setdefault(row["bytes"], []).append(row[f"{mode}_us"])
        for size, both in sorted(times.items()):
            time = f"{sum(both) / len(both):.3f}".rstrip("0").rstrip(".")
            out.append(("all-reduce", 2, "nccl", mode, "shm", "pytorch", size, time, "", ""))
    return out


def collectives_block(rows):
    header = ["op", "ranks", "family", "mode", "transport", "server", "bytes", "median_us", "source", "flag"]
    used = [c for c in range(len(header)) if any(str(r[c]) for r in rows)]
    lines = [",".join(header[c] for c in used)] + [",".join(str(r[c]) for c in used) for r in rows]
    return "".join(f"    {line}\n" for line in lines)


# --- YAML ----------------------------------------------------------------------------------------------------------

def quoted(value):
    return json.dumps(value, ensure_ascii=False)


def box_yaml(box, rows):
    text = ["# Made by calibration/from_aiconfigurator.py; do not edit. What it holds: calibration/README.md.\n",
            "format: specplan-calibration/1\n", "box:\n"]
    for key, value in box["box"].items():
        text.append(f"  {key}: {quoted(value)}\n")
    text.append("provenance:\n")
    for key, value in box["provenance"].items():
        text.append(f"  {key}: {quoted(value)}\n")
    if box.get("notes"):
        text.append("notes:\n")
        text += [f"  - {quoted(note)}\n" for note in box["notes"]]
    if rows:
        text.append("tables:\n  collectives: |\n" + collectives_block(rows))
    if box.get("kernels"):
        text.append("table_files:\n")
        text += [f"  {table}: kernels/{box['kernels']}/{table}.csv.gz\n" for table in KERNELS]
    if box.get("fits"):
        text.append("fits:\n")
        for fit in box["fits"]:
            text.append("  - " + json.dumps(fit, ensure_ascii=False) + "\n")
    return "".join(text)


def rows_for(tables, box):
    rows = []
    for part in box.get("public", []):
        rows += public_collectives(tables, *part)
    for name in box.get("nccl_tests", []):
        rows += nccl_tests(tables, name)
    if box.get("thin_shm"):
        rows += thin_shm(tables)
    return rows + box.get("rows", [])


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    tables = pathlib.Path(sys.argv[1])
    made = write_kernels(tables)
    for name, box in BOXES.items():
        (HERE / f"{name}.yaml").write_text(box_yaml(box, rows_for(tables, box)))
    (HERE / "ACCURACY.md").write_text(accuracy_page(made, TOLERANCE))
    for gpu, table, _, _, points, kept, _, size in made:
        print(f"{gpu:14} {table:10} {len(points):6} rows, {len(kept):6} kept, {size:7} B")


if __name__ == "__main__":
    main()
