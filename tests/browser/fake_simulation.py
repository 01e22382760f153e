"""A simulation.json of the shape that the service serves: two kernels of a block, or a network that deadlocks."""

import json
import random
from functools import cache
from itertools import pairwise
from typing import Any

Json = dict[str, Any]
BUCKETS = 200
CLOCK_MHZ = 250.0
_STEPS = ("load", "quantise", "qkv", "scores", "softmax_max", "softmax_exp", "softmax", "context", "proj", "store")
_REASONS = (
    "at 512 tokens it deadlocks",
    "at 1024 it takes 1.2 % longer",
    "no memory of its own up to 31 tokens",
    "",
)
STALLING = {"ends": False, "cycles": 1204, "fifo": "h0_row", "deadlock": "a waits", "fidelity": "simulate"}
DEADLOCK: Json = {
    "text": "fork_h0 has no room in long_h0, whose reader join_h0 waits for short_h0, which only fork_h0 can fill",
    "cycle": [
        {"task": "fork_h0", "fifo": "long_h0", "because": "full"},
        {"task": "join_h0", "fifo": "short_h0", "because": "empty"},
    ],
    "fifo": "long_h0",
    "depth": 2,
    "depth_needed": 64,
    "needed": {"long_h0": 64},
}
_LONG: Json = {
    "name": "long_h0",
    "source": "fork_h0",
    "target": "join_h0",
    "depth": 2,
    "peak": 2,
    "pushed": 2,
    "empty": 0,
    "full": 900,
    "reason": "",
}


def task_names(layers: int) -> list[str]:
    """Tasks in topological order, those of the second half of the layers in the second kernel."""
    return [f"h{layer}_{step}" for layer in range(layers) for step in _STEPS]


def streams(layers: int) -> list[Json]:
    """The streams of dataflow.json: every task feeds the next."""
    names = task_names(layers)
    kinds = ("registers", "lutram", "bram")
    return [
        {"name": f"{source}_out", "source": source, "target": target, "width": 32 << i % 4, "kind": kinds[i % 3]}
        for i, (source, target) in enumerate(pairwise(names))
    ]


@cache
def simulation_file(cycles: int, estimate: int, deadlock: bool) -> bytes:
    """The content of simulation.json; all tests have the same designs."""
    return json.dumps(make_simulation(cycles, estimate, deadlock=deadlock)).encode()


def make_simulation(cycles: int, estimate: int, layers: int = 4, deadlock: bool = False) -> Json:
    """`cycles` over all kernels; the busiest task is `h<last>_qkv`, busy 98 % of the second, longer kernel."""
    chance = random.Random(cycles)
    first = cycles * 3 // 10
    kernels = [first, cycles - first]
    tasks, lines = [], []
    for place, name in enumerate(task_names(layers)):
        kernel = int(place >= len(_STEPS) * layers // 2)
        busy = 0.98 if name == f"h{layers - 1}_qkv" else chance.uniform(0.05, 0.7)
        task, line = _task(name, kernel, kernels, busy, place % 10 / 60)
        tasks.append(task)
        lines.append(line)
    return {
        "cycles": cycles,
        "latency_us": cycles / CLOCK_MHZ,
        "clock_mhz": CLOCK_MHZ,
        "estimate_cycles": estimate,
        "deadlock": DEADLOCK if deadlock else None,
        "stalling": None if deadlock else STALLING,
        "kernels": [{"cycles": c} for c in kernels],
        "tasks": tasks,
        "fifos": _fifos(layers, kernels, chance) + ([_LONG] if deadlock else []),
        "hbm": _hbm(layers),
        "timeline": {"bucket_cycles": cycles / BUCKETS, "tasks": lines},
    }


def _task(name: str, kernel: int, kernels: list[int], busy: float, late: float) -> tuple[Json, Json]:
    """One task that starts `late` of its kernel in, and works in bursts where it is not busy all the time."""
    begin, length = sum(kernels[:kernel]), kernels[kernel]
    waits = 1 - busy
    run = {
        "name": name,
        "kernel": kernel,
        "iterations": 4096,
        "start": begin + int(late * length * (busy < 0.9)),
        "end": begin + length,
        "empty": int(length * waits * 0.6),
        "full": int(length * waits * 0.4),
    }
    total = sum(kernels)
    line: Json = {"name": name, "busy": [], "empty": [], "full": []}
    for bucket in range(BUCKETS):
        at = (bucket * total / BUCKETS - begin) / length
        inside = 0 <= at < 1
        full = waits * 0.4 if inside and at > late else 0.0
        active = busy if inside and (at >= late or busy > 0.9) else 0.0
        line["busy"].append(round(active, 3))
        line["full"].append(round(full, 3))
        line["empty"].append(round(1 - active - full, 3) if inside else 0.0)
    return run, line


def _fifos(layers: int, kernels: list[int], chance: random.Random) -> list[Json]:
    fifos = []
    for i, stream in enumerate(streams(layers)):
        depth = 2 ** (i % 7 + 1)
        blocked = int(kernels[1] * chance.random() * 0.4) if i % 4 == 0 else 0
        fifos.append(
            {
                "name": stream["name"],
                "source": stream["source"],
                "target": stream["target"],
                "depth": depth,
                "peak": depth if blocked else max(1, depth - i % 3),
                "pushed": 4096,
                "empty": int(kernels[1] * chance.random() * 0.3),
                "full": blocked,
                "reason": _REASONS[i % 4],
            }
        )
    return fifos


def _hbm(layers: int) -> list[Json]:
    return [
        {
            "task": f"h{layer}_{step}",
            "channels": channels,
            "bytes": 786432,
            "gb_s": round(13.1 * channels * (0.3 + 0.65 * layer / layers), 2),
            "bound_gb_s": 13.1 * channels,
        }
        for layer in range(layers)
        for step, channels in (("load", 4), ("store", 1))
    ]
