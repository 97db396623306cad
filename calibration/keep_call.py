#!/usr/bin/env python3
"""Puts what one call on two H200s measured into its places, and its figures into docs/validation/README.md.

    python3 calibration/keep_call.py CALL [--specplan PROGRAM]

CALL holds the folders `p2p` and `shm` (NCCL_P2P_DISABLE=1); NAME is h200-x2-p2p or h200-x2-shm:

    NAME.yaml           by `specplan calibrate`          -> calibration/h200-x2-p2p.yaml, h200-x2-shm-calibrated.yaml
    reference-p2p/ ...  by `reference_torch.py --out`    -> docs/validation/reference/NAME/
    NAME-again.yaml     collectives calibrated again (optional): how far they repeat

The table between the marks in docs/validation/README.md is written anew from `specplan validate`. The reasons under it, and
the list of missed goals in tests/it/reference.rs, are yours to check: the test fails where they no longer hold.
"""

import argparse
import json
import pathlib
import re
import shutil
import statistics
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
CALLS = {"p2p": ("h200-x2-p2p", "h200-x2-p2p"), "shm": ("h200-x2-shm", "h200-x2-shm-calibrated")}
BEGIN, END = "<!-- two H200s: written by calibration/keep_call.py -->", "<!-- end -->"
MODELS = {"dense": "dense", "moe": "experts", "unseen": "unseen model"}


def keep_calibration(source, target):
    text = source.read_text()
    text = re.sub(r'source: "measured on this box by', 'source: "measured for specplan on two H200 SXM by', text, count=1)
    text = text.replace('licence: "that of whoever measured"', 'licence: "that of specplan"', 1)
    text = re.sub(r'calibrate --gpus all', "calibrate", text, count=1)
    head = "# Written by `specplan calibrate`, kept by calibration/keep_call.py.\n"
    target.write_text(text if text.startswith("#") else head + text)


def keep_reference(source, target):
    target.mkdir(parents=True, exist_ok=True)
    for file in sorted(source.iterdir()):
        if file.suffix in (".csv", ".json"):
            shutil.copyfile(file, target / file.name)
            (target / file.name).chmod(0o644)


def collectives(path):
    """Medians of default rows by their key."""
    rows, head = {}, None
    for line in path.read_text().split("  collectives: |\n", 1)[1].splitlines():
        if not line.startswith("    "):
            break
        cells = line.strip().split(",")
        if head is None:
            head = cells
            continue
        row = dict(zip(head, cells))
        if not (row["algorithm"] or row["protocol"]):
            key = tuple(row[name] for name in ("op", "family", "mode", "transport", "server", "bytes"))
            rows[key] = float(row["median_us"])
    return rows


def repeats(first, again):
    """Differences of the rows that do not hold the host, in percent."""
    a, b = collectives(first), collectives(again)
    return [100 * abs(b[key] / a[key] - 1) for key in a if key in b and key[2] != "eager"]


def percent(value):
    return f"{100 * value:.1f} %"


def figures(program, table, calibration):
    out = subprocess.run(
        [program, "validate", table, "--calibration", calibration, "-q", "-f", "json"], capture_output=True, check=True
    ).stdout
    return {group["group"]: group for group in json.loads(out)["summaries"]}


def words(group):
    for kind, text in (("pass graph", "graph passes"), ("loop graph", "loops in graphs"), ("tok/s graph", "their tokens/s"),
                       ("decode loop graph", "decode with read-back"), ("pass eager", "eager passes"),
                       ("loop eager", "loops, verify eager"), ("tok/s eager", "their tokens/s, eager")):  # fmt: skip
        for model, name in MODELS.items():
            if group == f"{model} {kind}":
                return f"{text}, {name}"
    return "all-reduce in graphs" if group == "all-reduce graph" else group


def table(by_call):
    lines = ["| | n | P2P: median | worst | bias | repeat | host memory: median | worst | bias | repeat |", "|---" * 10 + "|"]
    names = list(dict.fromkeys(name for groups in by_call.values() for name in groups))
    for name in names:
        cells = []
        for groups in by_call.values():
            group = groups.get(name)
            if group is None:
                cells += [""] * 4
                continue
            repeat = group.get("repeat")
            cells += [percent(group["median"]), percent(group["worst"]), f"{100 * group['median_signed']:+.1f} %".replace("-", "−"),
                      "" if repeat is None else percent(repeat)]  # fmt: skip
        n = next(groups[name]["n"] for groups in by_call.values() if name in groups)
        lines.append(f"| {words(name)} | {n} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("call", type=pathlib.Path)
    parser.add_argument("--specplan", default="specplan", help="the program [the one on the path]")
    args = parser.parse_args()
    by_call, repeated = {}, []
    for call, (name, preset) in CALLS.items():
        source = args.call / call
        calibration = ROOT / "calibration" / f"{preset}.yaml"
        folder = ROOT / "docs/validation/reference" / name
        keep_calibration(source / f"{name}.yaml", calibration)
        keep_reference(source / f"reference-{call}", folder)
        by_call[call] = figures(args.specplan, folder / "reference.csv", calibration)
        again = source / f"{name}-again.yaml"
        if again.exists():
            differences = repeats(source / f"{name}.yaml", again)
            words_of = "P2P" if call == "p2p" else "host memory"
            repeated.append(f"{statistics.median(differences):.1f} % ({len(differences)} rows, {words_of})")
    text = table(by_call)
    if repeated:
        text += "\n\nCollectives calibrated again at the end of the same call differ by " + " and ".join(repeated)
        text += " in the median, eager rows apart."
    page = ROOT / "docs/validation/README.md"
    before, rest = page.read_text().split(BEGIN)
    page.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.split(END, 1)[1]}")
    print(text)


if __name__ == "__main__":
    main()
