#!/usr/bin/env bash
# Three calls that measure a whole box of NVIDIA GPUs, each under nine minutes on eight of them:
#
#     calibration/eight_gpus.sh full        every part, with NCCL's own choice of transport
#     calibration/eight_gpus.sh worlds      launch costs and collectives again, at 2, 4, 8, ... GPUs, with and without P2P
#     calibration/eight_gpus.sh reference   whole passes and loops in plain PyTorch, with and without P2P, and `validate`
#
# Any number of GPUs from two on: worlds are the powers of two, and all of them. Variables:
#
#     OUT        folder for the results [eight_gpus]
#     GPUS       how many [as many as nvidia-smi lists]
#     SPECPLAN   the program [specplan]
#     PYTHON     the python with PyTorch [python3]; empty: no probe of it, and no reference
#     HARDWARE   hardware preset of the reference's rows [h200-xN]
#     FLAGS      more flags of every `specplan calibrate`, such as --synthetic gpus=8
#     PLAN       not empty: print the plans as JSON and the commands of the reference, measure nothing
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
specplan=${SPECPLAN:-specplan}
python=${PYTHON-python3}
out=${OUT:-eight_gpus}
plan=${PLAN:-}
read -r -a flags <<< "${FLAGS:-}"

count() {
    nvidia-smi --list-gpus | grep -c '^GPU '
}

gpus=${GPUS:-$(count)}
if ! [[ $gpus =~ ^[0-9]+$ ]] || ((gpus < 2)); then
    echo "error: two GPUs or more are needed, found: ${gpus:-none}" >&2
    exit 2
fi
hardware=${HARDWARE:-h200-x$gpus}

# calibrate FILE FLAGS...: into $out/FILE, or its plan.
calibrate() {
    local file=$1
    shift
    if [[ -n $plan ]]; then
        "$specplan" calibrate "$@" "${flags[@]}" --dry-run --quiet --format json
        return
    fi
    echo "== $file" >&2
    mkdir -p "$out"
    "$specplan" calibrate "$@" "${flags[@]}" --fresh --output "$out/$file"
}

probe=(--no-torch)
if [[ -n $python ]]; then
    probe=(--python "$python")
fi

# Two, four, eight ... and all.
worlds() {
    local size
    for ((size = 2; size < gpus; size *= 2)); do
        echo "$size"
    done
    echo "$gpus"
}

full() {
    calibrate full.yaml --gpus "$gpus" "${probe[@]}"
}

launch_and_collectives() {
    local size how
    for size in $(worlds | sort -rn); do
        # The run on all GPUs holds every world, and PyTorch as its passes run; the others repeat worlds with fewer GPUs visible.
        how=(--quick --no-torch)
        if ((size == gpus)); then
            how=("${probe[@]}")
        fi
        calibrate "worlds-$size.yaml" --gpus "$size" --only collectives,launch "${how[@]}"
        NCCL_P2P_DISABLE=1 calibrate "worlds-$size-shm.yaml" --gpus "$size" --only collectives,launch "${how[@]}"
    done
}

# reference FOLDER CALIBRATION SECONDS FLAGS...: passes and loops, and how well the calibration predicts them.
reference() {
    local folder=$out/$1 calibration=$out/$2 seconds=$3
    shift 3
    local measure=("$python" "$here/reference_torch.py" --out "$folder" --gpus "$gpus" --hardware "$hardware"
        --limit "$seconds" "$@")
    local compare=("$specplan" validate "$folder/reference.csv" --calibration "$calibration")
    if [[ -n $plan ]]; then
        echo "${measure[*]}"
        echo "${compare[*]}"
        return
    fi
    echo "== $folder" >&2
    "${measure[@]}"
    "${compare[@]}" --format markdown --output "$folder/validation.md"
    "${compare[@]}"
}

# 61 thin layers of hidden 7168 first: what is late is left out.
both_references() {
    if [[ -z $python ]]; then
        echo "error: the reference needs a PYTHON with PyTorch" >&2
        exit 2
    fi
    reference reference full.yaml 270 --models thin61,dense,moe,unseen
    NCCL_P2P_DISABLE=1 reference reference-shm "worlds-$gpus-shm.yaml" 150 --models thin61,moe
}

case "${1:-}" in
    full) full ;;
    worlds) launch_and_collectives ;;
    reference) both_references ;;
    *)
        echo "usage: $0 full|worlds|reference" >&2
        exit 2
        ;;
esac
