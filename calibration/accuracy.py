"""The page that says how well the kernel tables are reproduced."""

import math

SCALES = {
    "linear": lambda a, b, x: a[1] + (x - a[0]) / (b[0] - a[0]) * (b[1] - a[1]),
    "log-log": lambda a, b, x: math.exp(
        math.log(a[1]) + math.log(x / a[0]) / math.log(b[0] / a[0]) * math.log(b[1] / a[1])),
    "by size": lambda a, b, x: (a[1] * x / a[0] if x * x < a[0] * b[0] else b[1] * x / b[0]),
}


def quantile(errors, share):
    return errors[min(len(errors) - 1, max(0, math.ceil(share * len(errors)) - 1))]


def percent(value):
    return f"{100 * value:.1f} %"


def left_out(points, axis):
    """Absolute errors of rows predicted from their neighbours along one axis, per scale."""
    lines = {}
    for key, at, time in points:
        lines.setdefault((key, at[:axis] + at[axis + 1:]), {})[at[axis]] = float(time)
    errors = {scale: [] for scale in SCALES}
    for line in lines.values():
        xs = sorted(line)
        for a, x, b in zip(xs, xs[1:], xs[2:]):
            for scale, predict in SCALES.items():
                errors[scale].append(abs(predict((a, line[a]), (b, line[b]), x) / line[x] - 1))
    return {scale: sorted(e) for scale, e in errors.items()}


def pruning(made, tolerance):
    yield "| GPU | table | rows measured | rows kept | dropped rows: median error | worst | file |\n"
    yield "|---|---|---|---|---|---|---|\n"
    for gpu, table, _, _, points, kept, errors, size in made:
        e = sorted(map(abs, errors))
        assert all(x <= tolerance for x in e)
        yield (f"| {gpu} | {table} | {len(points):,} | {len(kept):,} | {percent(quantile(e, .5))} "
               f"| {percent(e[-1])} | {size / 1000:.0f} kB |\n")


def leave_one_out(made):
    yield "| GPU | table | axis | n | linear: median, p90 | log-log: median, p90 | by size: median, p90 |\n"
    yield "|---|---|---|---|---|---|---|\n"
    for gpu, table, _, axes, points, *_ in made:
        for at, axis in enumerate(axes):
            errors = left_out(points, at)
            cells = [f"{percent(quantile(e, .5))}, {percent(quantile(e, .9))}" for e in errors.values()]
            yield f"| {gpu} | {table} | {axis} | {len(errors['linear']):,} | {' | '.join(cells)} |\n"


def coverage(made):
    yield "| GPU | table | for | points |\n|---|---|---|---|\n"
    for gpu, table, keys, axes, points, *_ in made:
        names = keys[:4] if table == "mla" else keys[:2]
        groups = {}
        for key, at, _ in points:
            groups.setdefault(key[:len(names)], []).append(at)
        for key, ats in sorted(groups.items()):
            ranges = []
            for i, axis in enumerate(axes):
                values = sorted({a[i] for a in ats})
                ranges.append(f"{axis} {values[0]}-{values[-1]} ({len(values)})")
            shapes = len({k for k, *_ in points if k[:len(names)] == key})
            more = f", {shapes} shapes" if shapes > 1 else ""
            yield f"| {gpu} | {table} | {' '.join(k for k in key if k)}{more} | {', '.join(ranges)} |\n"


def equivalence(made):
    """Attention shapes of one group predicted from each other: b requests with v KV heads as b·v/v' with v'."""
    yield "| GPU | n | median | p90 |\n|---|---|---|---|\n"
    for gpu, table, _, _, points, *_ in made:
        if table != "attention":
            continue
        times = {(key, at): float(t) for key, at, t in points}
        errors = []
        for (key, (batch, context)), time in times.items():
            server, kv, dim, heads, kv_heads = key
            if kv_heads % 2 == 0 and heads % 2 == 0:
                other = times.get(((server, kv, dim, heads // 2, kv_heads // 2), (batch * 2, context)))
                if other:
                    errors.append(abs(other / time - 1))
        errors.sort()
        yield (f"| {gpu} | {len(errors):,} | {percent(quantile(errors, .5))} "
               f"| {percent(quantile(errors, .9))} |\n")


def accuracy_page(made, tolerance):
    parts = [
        "<!-- Made by calibration/from_aiconfigurator.py; do not edit. -->\n# Accuracy of the kernel tables\n\n",
        "## Rows dropped\n\n",
        "Rows along the last axis of a table that straight lines between their kept neighbours reproduce within "
        f"{percent(tolerance)} are dropped. Times are kept with four figures.\n\n", *pruning(made, tolerance),
        "\n## Leave one out\n\n",
        "Every measured row that has a neighbour on both sides of an axis, predicted from these two: twice the "
        "distance that a look-up has to bridge, so an upper bound of its error. `by size` scales the nearest "
        "neighbour by bytes. The tables are read linearly, shards of an expert log-log. Large errors at p90 are "
        "steps: kernel changes, and the point where weights or KV cache no longer fit in L2.\n\n",
        *leave_one_out(made),
        "\n## Attention shapes not measured\n\n",
        "b requests with h query and v KV heads, predicted by the row of 2b requests with h/2 and v/2: the rule by "
        "which a shape that is missing is looked up.\n\n", *equivalence(made),
        "\n## Grids\n\n", "In brackets the number of positions; not every combination was measured.\n\n",
        *coverage(made),
    ]
    return "".join(parts)
