"""A stand-in for the service: the REST contract over deterministic data, live events and the built dashboard.

`python tests/browser/fake_api.py --port 8100` serves it for work on the dashboard.
"""

import argparse
import gzip
import io
import json
import math
import mimetypes
import random
import re
import tarfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from email import message_from_bytes
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import parse_qs, urlsplit

import fake_builds
import fake_farm
import fake_sweeps
from fake_builds import NO_NODE, Book, build_row
from fake_fidelities import differences, ladder, metrics_of
from fake_simulation import DEADLOCK, STALLING, simulation_file, streams
from holds import Holds

from compiler.assumed import assumed_of
from dse import archive
from dse.groups import groups
from dse.objectives import DEFAULT, OBJECTIVES
from dse.promote import ErrorDistribution, Rated, error_distribution, picks, relative_error

DIST = Path(__file__).resolve().parents[2] / "web" / "dist"
BUDGETS = {"lut": 1175680, "ff": 2428360, "dsp": 9020, "bram36": 1814, "uram": 920, "hbm_ports": 32}
PLATFORM = {
    "name": "u55c",
    "title": "AMD Alveo U55C",
    "part": "xcu55c-fsvh2892-2L-e",
    "budgets": BUDGETS,
    "hbm": {"channels": 32, "channel_bytes": 536870912, "channel_gb_s": 13.0},
    "clock_mhz": 250.0,
}
MODELS = [
    {"id": "mdl_01", "name": "gpt2", "kind": "builtin"},
    {"id": "mdl_02", "name": "gpt2-medium", "kind": "builtin"},
    {"id": "mdl_03", "name": "vit-block", "kind": "onnx"},
]
WHOLE_NETWORK = {"phase": "prefill", "length": 1, "precision": "f32"}
HEAVIEST = ("h0.mlp.fc.matmul", "h0.mlp.proj.matmul", "h0.attn.qkv.matmul", "h0.attn.proj.matmul")
ACTIVE = ("queued", "lowering", "searching", "simulating", "verifying", "building")
CALIBRATION = 12
# The service's own policy: what the dashboard needs must work under it.
POLICY = "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'"
Json = dict[str, Any]


class NoSuchThingError(Exception):
    """Answered with 404."""


class RefusedError(Exception):
    """Answered with 422."""


def _now() -> str:
    return datetime.now(UTC).isoformat()


def _problem(status: int, title: str, detail: str) -> Json:
    return {"type": f"urn:millrace:problem:{status}", "title": title, "status": status, "detail": detail}


@dataclass
class Design:
    """A design and its only C simulation and only run in the cycle simulator, if any."""

    id: str
    number: int
    knobs: Json
    area: dict[str, int]
    latency_us: float
    energy_uj: float
    on_front: bool = False
    build: Json | None = None
    simulate: Json | None = None
    refuted: str | None = None
    files: dict[str, bytes] = field(default_factory=dict[str, bytes])

    @property
    def violations(self) -> list[Json]:
        return [
            {"resource": name, "demand": float(demand), "bound": float(BUDGETS[name])}
            for name, demand in self.area.items()
            if demand > BUDGETS[name]
        ]

    @property
    def simulated_us(self) -> float:
        """What the simulator says once it ran: some percent off the estimate."""
        return round(self.latency_us * (1.02 + 0.04 * random.Random(self.number).gauss()), 3)

    @property
    def simulation(self) -> str | None:
        if self.simulate is None:
            return None
        if self.simulate["state"] == "running":
            return "running"
        return "refuted" if self.refuted else "done"

    @property
    def is_simulated(self) -> bool:
        return self.simulation == "done"

    @property
    def flags(self) -> list[Json]:
        """One design in 50 claims what no board can do."""
        if self.number % 50 != 7:
            return []
        bound = self.latency_us * 1.3
        text = f"latency {self.latency_us:.1f} us is below the HBM bound of {bound:.1f} us"
        value = {"value": self.latency_us, "bound": bound, "unit": "us"}
        return [{"metric": "latency", "fidelity": "estimate", **value, "text": text}]

    def values(self, objectives: Sequence[str]) -> list[float]:
        area = round(100 * self.area["lut"] / 822_976, 2)
        known = {"latency": self.latency_us, "energy": self.energy_uj, "area": area}
        return [known[name] for name in objectives]

    @property
    def csim(self) -> str | None:
        if self.build is None:
            return None
        if self.build["state"] in ("queued", "running"):
            return "running"
        return "passed" if self.build["verdict"]["passed"] else "failed"


def make_design(exploration_id: str, number: int, chance: random.Random) -> Design:
    """A design whose knobs, area and objectives hang together as in the real space, roughly."""
    unroll = 2 ** chance.randint(5, 14)
    channels, tile, width = chance.choice((1, 2, 4, 8)), 2 ** chance.randint(2, 8), 2 ** chance.randint(7, 11)
    multiplier = chance.choice(("fabric", "dsp", "dsp_packed"))
    waste = 1 + chance.expovariate(3.0)
    compute = 7.1e6 / unroll / 250 * waste
    latency = math.hypot(compute, 190 / channels * (1 + 64 / width)) + 30 + 4 * abs(math.log2(tile) - 5) ** 2
    power = 3.3 + unroll * (0.0011 if multiplier == "fabric" else 0.0014) + channels * 0.25 + chance.random()
    area = {
        "lut": int(96_000 + unroll * (105 if multiplier == "fabric" else 35) * waste),
        "ff": int(140_000 + unroll * 120),
        "dsp": int(240 + (0 if multiplier == "fabric" else unroll * 0.9)),
        "bram36": int(120 + tile * 3.2 + unroll * 0.08),
        "uram": int(32 + width * 0.11),
        "hbm_ports": 6 + channels * 4,
    }
    ops = chance.sample(HEAVIEST, chance.randint(0, 3))
    overrides = [
        {
            "op": op,
            "tile": chance.choice((None, 32, 64)),
            "unroll": chance.choice((64, 128, 256)),
            "order": chance.choice((None, [1, 0, 2])),
        }
        for op in ops
    ]
    knobs = {
        "default_tile_size": tile,
        "overall_unroll": unroll,
        "order": chance.choice(("reduction-inner", "reduction-outer")),
        "overrides": overrides,
        "fusion_budget": 2 ** chance.randint(16, 25),
        "fifo": chance.choice(("conservative", "normal", "whole")),
        "hbm_channels": channels,
        "stream_width": width,
        "multiplier": multiplier,
        "fusion_plan": chance.choice(("greedy", "traffic")),
        "prefetch_kib": chance.choice((0, 256)),
        "max_padding": 12,
        "converters": chance.choice(("exact", "paper")),
        "engines": chance.choice(("own", "shared")),
        "slices": chance.choice((1, 4)),
        "unrolling": chance.choice(("slowest", "worth")),
        "weights": "streamed",
    }
    design_id = f"dsg_{exploration_id[-2:]}{number:05d}"
    return Design(design_id, number, knobs, area, round(latency, 3), round(latency * power, 2))


def front_of(designs: list[Design], objectives: Sequence[str] = DEFAULT) -> list[Design]:
    """Feasible designs that run and that no other beats, sorted by the first objective."""
    usable = {d.id: d for d in designs if not d.violations and d.simulation != "refuted"}
    return [usable[entry.key] for entry in archive.front_of((d.id, d.values(objectives)) for d in usable.values())]


def make_verdict(design: Design, passed: bool) -> Json:
    error = (1 + design.number % 7) * 1.1e-6
    outputs = [
        {"name": "hidden", "max_abs_error": error, "max_rel_error": error * 3, "tolerance": 1e-4, "passed": passed},
        {"name": "key_cache", "max_abs_error": 0.0, "max_rel_error": 0.0, "tolerance": 0.0, "passed": True},
        {"name": "value_cache", "max_abs_error": 0.0, "max_rel_error": 0.0, "tolerance": 0.0, "passed": True},
    ]
    if not passed:
        outputs[0] |= {"max_abs_error": 0.82, "max_rel_error": 3.4}
    message = "" if passed else "hidden[0, 511] is 1.31, PyTorch says 0.49"
    return {
        "passed": passed,
        "outputs": outputs,
        "tasks": 41,
        "tasks_checked": 41,
        "unchecked": [],
        "checks": [
            _task_check("local", "contraction", 6, 0, 0.14),
            _task_check("local", "converter", 20, 0 if passed else 1, 0.0),
            _task_check("global", "contraction", 6, 0, 0.02),
        ],
        "wrong": [],
        "message": message,
        "seconds": 6.4,
        "reference": "PyTorch",
    }


def _task_check(scope: str, kind: str, tasks: int, wrong: int, used: float) -> Json:
    return {
        "scope": scope, "kind": kind, "tasks": tasks, "elements": 9_376 * tasks, "wrong": wrong, "used": used,
        "flipped": 0,
    }  # fmt: skip


def make_dataflow(design: Design) -> Json:
    """Two kernels on three dies, with converters of every kind and an engine of four slices."""
    bound = design.knobs["fusion_budget"]
    reason = {"subject": "a kernel of kernels 0 to 1", "resource": "converter_bytes", "demand": 3 * bound}
    cut = {
        "value": "h0.mlp.fc",
        "source": 0,
        "targets": [1],
        "bytes": 786432,
        "reason": {**reason, "bound": bound, "levers": ["a larger fusion_budget", "a smaller default_tile_size"]},
        "levers": ["a larger fusion_budget", "a smaller default_tile_size"],
    }
    converters = [
        {"realisation": {"kind": kind}, "bytes": size, "paper_bytes": 2 * size, "exact_bytes": size - size // 4}
        for kind, size in (("single", 4096), ("ping-pong", 24576), ("refill", 1024), ("circular", 12288))
    ]
    tasks = [
        {"name": f"task_{i}", "kind": "compute", "kernel": i % 2, "converter": converters[i] if i < 4 else None}
        for i in range(41)
    ]
    engine = {
        "kind": "engine",
        "kernel": 0,
        "converter": None,
        "served": [{"op": "qkv"}, {"op": "proj"}],
        "turns": [{"trips": [4, 512]}, {"trips": [3, 256]}],
    }
    tasks += [{**engine, "name": f"engine0_slice{n}", "slice": {"number": n, "of": 4}} for n in range(4)]
    back = {"name": "proj_in0", "source": "attention", "target": "engine0_route0", "width": 512, "kind": "bram"}
    shares = {"SLR0": 0.5, "SLR1": 0.3, "SLR2": 0.2}
    area = {name: value for name, value in design.area.items() if name != "hbm_ports"}
    return {
        "kernels": 2,
        "tasks": tasks,
        "streams": [*streams(4), {**back, "depth": 192, "feedback": True, "initial": 0}],
        "fusion": {
            "plan": design.knobs["fusion_plan"],
            "kernels": 2,
            "external_bytes": 3_610_000,
            "greedy_bytes": 4_400_000,
            "fused_bytes": 2_823_568,
            "cuts": [cut],
            "summary": "2 kernels, 3.6 MB through HBM",
        },
        "placement": {
            "slr": {task["name"]: f"SLR{i % 3}" for i, task in enumerate(tasks)},
            "crossings": [{"name": "x", "source": "SLR0", "target": "SLR1", "wires": 530}],
            "boundaries": [
                {"lower": "SLR0", "upper": "SLR1", "wires": 530, "available": 17690},
                {"lower": "SLR1", "upper": "SLR2", "wires": 0, "available": 17940},
            ],
            "use": {die: {name: value * share for name, value in area.items()} for die, share in shares.items()},
            "method": "milp",
            "gap": 0.012,
            "shortfalls": [],
        },
    }


def make_files(design: Design) -> dict[str, bytes]:
    kernel = "\n".join(f"// task {i}\n#pragma HLS dataflow" for i in range(400))
    return {
        "README.md": f"# Design {design.number}\n".encode(),
        "design.json": json.dumps(design.knobs, indent=2).encode(),
        "dataflow.json": json.dumps(make_dataflow(design)).encode(),
        "ir/01-linalg.mlir": b"module {}\n" * 900,
        "ir/02-itensor.mlir": b"module {}\n" * 700,
        "hls/block.cpp": kernel.encode(),
        "hls/block.h": b"#pragma once\n",
        "hls/hls.cfg": b"part=xcu55c-fsvh2892-2L-e\n",
        "host/run.py": b"import pyxrt\n",
        "params/manifest.json": b"{}\n",
        "params/weights.bin": bytes(1 << 16),
        "tb/expected.npz": bytes(4096),
    }


class Exploration:
    """One search and the log of what happened to it; every method may be called from any thread."""

    def __init__(
        self, id_: str, model: Json, workload: Json, budget: int, created: datetime, options: Json, holds: Holds
    ) -> None:
        self.changed = threading.Condition()
        self.holds = holds
        self.searches = 0
        self.id = id_
        self.names: list[str] = options["objectives"]
        self.designs: dict[str, Design] = {}
        self.events: list[tuple[str, Json]] = []
        self.row: Json = {
            "id": id_,
            "name": options["name"],
            "tags": options["tags"],
            "notes": options["notes"],
            "archived": False,
            "pinned": False,
            "warnings": options["warnings"],
            "distinct": None,
            "model": model,
            "workload": workload,
            "platform": "u55c",
            "state": "queued",
            "error": None,
            "budget": budget,
            "objectives": [
                {"name": name, "unit": OBJECTIVES[name].unit, "best": OBJECTIVES[name].best} for name in self.names
            ],
            "seed": options["seed"],
            "sampler": options["sampler"],
            "islands": options.get("islands", 1),
            "at_most": options["at_most"],
            "verify": options["verify"],
            "simulate": options["simulate"],
            "calibration": options["calibration"],
            "priority": options["priority"],
            "owner": None,
            "sweep_run_id": None,
            "builds": options["builds"],
            "vitis": options["vitis"],
            "board": options["board"],
            "area_model": None,
            "waiting": None,
            "created_at": created.isoformat(),
            "started_at": None,
            "finished_at": None,
        }

    @property
    def state(self) -> str:
        return self.row["state"]

    def reply(self) -> Json:
        with self.changed:
            designs = list(self.designs.values())
            counts = {
                "evaluated": len(designs),
                "feasible": sum(not d.violations for d in designs),
                "front_size": sum(d.on_front for d in designs),
                "promoted": sum(d.simulate is not None for d in designs),
                "simulated": sum(d.simulation in ("done", "refuted") for d in designs),
                "estimate_errors": estimate_errors(designs),
                "picks": picks_of(designs, self.names),
            }
            return {**self.row, **counts}

    def emit(self, kind: str, data: Json) -> None:
        with self.changed:
            self.events.append((kind, data))
            self.changed.notify_all()

    def move(self, state: str, error: str | None = None) -> None:
        with self.changed:
            self.row |= {"state": state, "error": error}
            if state in ACTIVE:
                self.row |= {"started_at": self.row["started_at"] or _now(), "finished_at": None}
            else:
                self.row["finished_at"] = _now()
            self.emit("state", {"state": state, "error": error})

    def add(self, designs: list[Design]) -> None:
        with self.changed:
            self.designs |= {d.id: d for d in designs}
            self.emit(
                "designs",
                {
                    **columns(designs, self.names),
                    **dict.fromkeys(("simulated_us", "simulation"), [None] * len(designs)),
                },
            )
            self._renew_front()

    def _renew_front(self) -> None:
        front = {d.id for d in front_of(list(self.designs.values()), self.names)}
        for design in self.designs.values():
            design.on_front = design.id in front
        self.emit("front", {"ids": sorted(front)})

    def promote(self, calibration: int) -> list[Design]:
        """The front, and feasible designs beside it, of which the last one will deadlock."""
        designs = list(self.designs.values())
        beside = [d for d in designs if not d.on_front and not d.violations][:calibration]
        if len(beside) > 1:
            beside[-1].refuted = DEADLOCK["text"]
        front = [d for d in designs if d.on_front]
        self.emit(
            "promoted", {"stage": "simulate", "ids": [d.id for d in front], "calibration": [d.id for d in beside]}
        )
        return front + beside

    def run_simulator(self, design: Design, seconds: float) -> Json:
        """Run `design` in the cycle simulator, at once where it takes no time."""
        build = _new_build(self.id, design, "simulate")
        design.simulate = build
        self._emit_build(build)
        if seconds:
            threading.Thread(target=self._end_simulator, args=(design, build, seconds), daemon=True).start()
        else:
            self._end_simulator(design, build, 0)
        return build

    def _end_simulator(self, design: Design, build: Json, seconds: float) -> None:
        time.sleep(seconds)
        if seconds:
            self.holds.go_past("simulate")
        with self.changed:
            estimate = round(design.latency_us * 250)
            error = design.refuted
            if error is None:
                design.files |= make_files(design)
            cycles = round(design.simulated_us * 250)
            design.files["simulation.json"] = simulation_file(cycles, estimate, error is not None)
            build |= {"state": "failed" if error else "done", "error": error, "finished_at": _now(), "live": False}
            build["failure"] = "infeasible" if error else None
            self._emit_build(build)
            self.emit("simulated", {"id": design.id, "state": design.simulation, **simulation_of(design)})
            if error:
                self._renew_front()

    def build(self, design: Design, seconds: float, passed: bool = True) -> Json:
        """C-simulate `design` in a thread that takes `seconds`; of the past, without any, it has ended."""
        build = _new_build(self.id, design, "csim")
        design.build = build
        self._emit_build(build)
        if seconds:
            threading.Thread(target=self._finish, args=(design, build, seconds, passed), daemon=True).start()
        else:
            self._finish(design, build, seconds, passed)
        return build

    def _finish(self, design: Design, build: Json, seconds: float, passed: bool) -> None:
        time.sleep(seconds)
        if seconds:
            self.holds.go_past("csim")
        with self.changed:
            design.files |= make_files(design)
            verdict = make_verdict(design, passed)
            build |= {
                "state": "done" if passed else "failed",
                "verdict": verdict,
                "finished_at": _now(),
                "live": False,
                "log_url": f"/v1/builds/{build['id']}/log",
            }
            self._emit_build(build)

    def _emit_build(self, build: Json) -> None:
        self.emit("build", {name: build[name] for name in ("id", "design_id", "stage", "state", "verdict", "error")})

    def search(self, pace: float, batch: int = 8) -> None:
        """Run to the end in the background, `pace` seconds a batch; goes on from the stored designs."""
        self.searches += 1
        threading.Thread(target=self._search, args=(pace, batch, self.searches), daemon=True).start()

    def _search(self, pace: float, batch: int, number: int) -> None:
        self.move("lowering")
        time.sleep(2 * pace)
        self.move("searching")
        # Every design has its own seed, so that a resumed search finds what an uninterrupted one finds.
        while len(self.designs) < self.row["budget"]:
            first = len(self.designs)
            last = min(self.row["budget"], first + batch)
            self.add([make_design(self.id, n, random.Random(n)) for n in range(first, last)])
            time.sleep(pace)
            self.holds.go_past("batch")
            if self.state == "cancelled" or number != self.searches:
                return
        self.move("simulating")
        self.holds.go_past("simulating")
        for design in self.promote(CALIBRATION):
            self.run_simulator(design, pace)
        time.sleep(4 * pace)
        self.move("verifying")
        front = front_of(list(self.designs.values()), self.names)
        for place, design in enumerate((front[0], front[len(front) // 2], front[-1])):
            self.build(design, 2 * pace, passed=place != 1 or self.row["seed"] != 13)
        time.sleep(4 * pace)
        self.move("done")


def _new_build(exploration_id: str, design: Design, stage: str) -> Json:
    now = {"created_at": _now(), "started_at": _now(), "log_url": None}
    return build_row(f"bld_{stage[0]}{design.id[4:]}", stage, "running", design.id, exploration_id, **now)


def simulation_of(design: Design) -> Json:
    """What the simulator said, in short."""
    ended = design.simulation in ("done", "refuted") and design.refuted != DEADLOCK["text"]
    latency = design.simulated_us if ended else None
    return {
        "latency_us": latency,
        "estimate_error": latency and design.latency_us / latency - 1,
        "refuted": design.refuted if design.simulation == "refuted" else None,
        "stalling": STALLING if design.is_simulated else None,
    }


def errors_of(designs: list[Design]) -> ErrorDistribution | None:
    """Of estimated latencies against simulated ones; None where none was simulated."""
    return error_distribution([(d.id, relative_error(d.latency_us, d.simulated_us)) for d in designs if d.is_simulated])


def estimate_errors(designs: list[Design]) -> Json | None:
    errors = errors_of(designs)
    if errors is None:
        return None
    values = asdict(errors)
    return {"metric": "latency", "fidelity": "simulate", "worst_design": values.pop("worst_key"), **values}


def groups_of(designs: list[Design], objectives: Sequence[str]) -> Json:
    front = {d.id: d for d in front_of(designs, objectives) if d.on_front}
    errors = errors_of(designs)
    error = errors.spread if errors else 0.0
    entries = [archive.Entry(d.id, tuple(d.values(objectives))) for d in front.values()]
    simulated = {d.id for d in front.values() if d.is_simulated}
    return {
        "error": error,
        "groups": [
            {
                "design_id": group.representative,
                "number": front[group.representative].number,
                "rank": group.rank,
                "objectives": front[group.representative].values(objectives),
                "fidelity": "simulate" if group.representative in simulated else "estimate",
                "latency_range": errors and [*errors.truth(front[group.representative].latency_us)],
                "members": list(group.members),
            }
            for group in groups(entries, error, simulated)
        ],
    }


def picks_of(designs: list[Design], objectives: Sequence[str]) -> list[Json]:
    """By simulation where a design of the front is simulated."""
    front = {d.id: d for d in designs if d.on_front}
    simulated = {d.id: d.simulated_us if d.is_simulated else None for d in front.values()}
    rated = [Rated.of(d.id, objectives, d.values(objectives), simulated[d.id]) for d in front.values()]
    return [
        {
            "kind": pick.kind,
            "design_id": pick.design.key,
            "number": front[pick.design.key].number,
            "objectives": list(pick.objectives),
            "fidelity": pick.fidelity,
            "estimates": list(pick.design.estimated),
        }
        for pick in picks(rated, objectives)
    ]


def columns(designs: list[Design], objectives: Sequence[str]) -> Json:
    return {
        "objectives": [list(values) for values in zip(*(d.values(objectives) for d in designs), strict=True)]
        or [[] for _ in objectives],
        "id": [d.id for d in designs],
        "number": [d.number for d in designs],
        "latency_us": [d.latency_us for d in designs],
        "feasible": [not d.violations for d in designs],
        "on_front": [d.on_front for d in designs],
        "csim": [d.csim for d in designs],
        "simulated_us": [d.simulated_us if d.is_simulated else None for d in designs],
        "simulation": [d.simulation for d in designs],
    }


def summary(design: Design) -> Json:
    build = design.build
    verdict = build and build["verdict"]
    return {
        "id": design.id,
        "number": design.number,
        "on_front": design.on_front,
        "feasible": not design.violations,
        "latency_us": design.latency_us,
        "energy_uj": design.energy_uj,
        "reason": None,
        "knobs": design.knobs,
        "flags": design.flags,
        "archived": False,
        "pinned": False,
        "simulation": design.simulate and {"state": design.simulate["state"], **simulation_of(design)},
        "csim": build
        and {
            "state": build["state"],
            "passed": verdict and verdict["passed"],
            "max_rel_error": verdict and max(o["max_rel_error"] for o in verdict["outputs"]),
        },
    }


def describe(exploration: Exploration, design: Design, further: list[Json]) -> Json:
    """`further`: its builds above the simulator, newest first."""
    cycles = design.latency_us * 250
    numbers: dict[str, tuple[float, str]] = {
        "latency": (design.latency_us, "us"),
        "cycles": (round(cycles), "cycles"),
        "slowest_ii": (4, "cycles"),
        "energy": (design.energy_uj, "uJ"),
        "energy_with_idle": (design.energy_uj + 18 * design.latency_us, "uJ"),
        "power": (design.energy_uj / design.latency_us + 18, "W"),
        **{name: (float(value), name.upper()) for name, value in design.area.items()},
        "hbm_traffic": (3.61e6, "bytes"),
        "hbm_bandwidth": (3.61e6 / design.latency_us / 1e3, "GB/s"),
        "on_chip_memory": (1.9e6, "bytes"),
        "kernels": (2, "kernels"),
        "tasks": (97, "tasks"),
        "converters": (14, "converters"),
    }
    metrics = [_metric(name, value, unit, "estimate") for name, (value, unit) in numbers.items()]
    if design.number % 5 == 0:  # the higher fidelities, so that their looks are worked on as well
        metrics.append(_metric("lut", design.area["lut"] * 0.93, "LUT", "csynth", "vitis_hls", "2023.2"))
        metrics.append(_metric("latency", design.latency_us * 1.052, "us", "cosim", "vitis_hls", "2023.2"))
        metrics.append(_metric("clock", 243.6, "MHz", "link", "v++", "2023.2"))
        metrics.append(_metric("worst_slack", -0.104, "ns", "link", "vivado", "2023.2"))
        metrics.append(_metric("failing_endpoints", 37, "endpoints", "link", "vivado", "2023.2"))
        metrics.append(_metric("sll_share", 31.5, "%", "link", "vivado", "2023.2"))
        metrics.append(_metric("power", 31.8, "W", "board", "xrt", "2.16"))
        metrics.append(_metric("tokens_per_second", 748.2, "1/s", "simulate"))
        metrics.append(_metric("first_token_time", 110.4, "ms", "simulate"))
    if design.is_simulated:
        metrics.append(_metric("latency", design.simulated_us, "us", "simulate"))
        metrics.append(_metric("cycles", round(design.simulated_us * 250), "cycles", "simulate"))
    metrics += metrics_of(design.latency_us, design.area, further)
    builds = [*further, *(b for b in (design.simulate, design.build) if b)]
    return {
        **summary(design),
        "exploration_id": exploration.id,
        "metrics": metrics,
        "differences": differences(metrics),
        "assumed": assumed_of(m["name"] for m in metrics),
        "ladder": ladder(builds),
        "violations": design.violations,
        "builds": builds,
        "dataflow_available": "dataflow.json" in design.files,
        "archive_available": "hls/block.cpp" in design.files,
        "simulation_available": "simulation.json" in design.files,
    }


def _metric(name: str, value: float, unit: str, fidelity: str, tool: str = "millrace", version: str = "0.1.0") -> Json:
    where = {"fidelity": fidelity, "tool": tool, "tool_version": version, "build_id": None}
    return {"name": name, "value": value, "unit": unit, **where}


class World:
    """Everything the stand-in knows."""

    def __init__(self, pace: float = 0.4) -> None:
        self.pace = pace
        self.explorations: dict[str, Exploration] = {}
        self.keys: dict[str, str] = {}
        self.models = list(MODELS)
        self.holds = Holds()
        self.book = Book(pace, self.holds)
        self.nodes: list[Json] = []
        self.sweeps: fake_sweeps.Sweeps | None = None
        self.access: dict[str, Json] = {}
        """Who a key is; nobody is asked for one while there is none."""

    def store(self, name: str, filename: str, samples: str = "") -> Json:
        """A model from an uploaded file, with its samples; refused as the service refuses what is none."""
        suffix = Path(filename).suffix.removeprefix(".")
        if suffix not in ("json", "onnx", "mlir"):
            raise RefusedError(f"{filename!r} is no model; upload a config.json, or one of .onnx, .mlir, not packed")
        kind = "config" if suffix == "json" else suffix
        model: Json = {"id": f"mdl_{len(self.models) + 1:02d}", "name": name, "kind": kind}
        if samples:
            model["config"] = {"samples": samples}
        self.models = [model, *self.models]
        return model

    def start(self, body: Json, key: str | None) -> Exploration:
        """A new exploration that searches live; the one of before for a key that was seen before."""
        if key is not None and key in self.keys:
            return self.explorations[self.keys[key]]
        found = [m for m in self.models if body["model"] in (m["id"], m["name"])]
        if not found:
            raise NoSuchThingError(f"there is no model {body['model']!r}; add it with ./millrace model add")
        if found[0]["kind"] == "onnx":
            body = {**body, "workload": {**WHOLE_NETWORK, **body["workload"]}}
        exploration = self.add(found[0], body)
        exploration.search(self.pace)
        if key is not None:
            self.keys[key] = exploration.id
        return exploration

    def add_past(self, model: Json, body: Json, age: timedelta, state: str = "done", share: float = 1.0) -> Exploration:
        """An exploration that has run before."""
        exploration = self.add(model, body, datetime.now(UTC) - age)
        count = int(body["budget"] * share)
        exploration.add([make_design(exploration.id, n, random.Random(n + 7 * body["seed"])) for n in range(count)])
        failed = (
            "the node was lost three times while it searched; start it again with Resume" if state == "failed" else None
        )
        exploration.row |= {
            "state": state,
            "error": failed,
            "started_at": exploration.row["created_at"],
            "finished_at": (datetime.now(UTC) - age + timedelta(seconds=4 + count / 30)).isoformat(),
        }
        for design in exploration.promote(CALIBRATION):
            exploration.run_simulator(design, 0)
        front = front_of(list(exploration.designs.values()))
        for place, design in enumerate((front[0], front[len(front) // 3], front[-1])):
            exploration.build(design, 0, passed=place != 2 or body["seed"] != 13)
        return exploration

    def add(self, model: Json, body: Json, created: datetime | None = None) -> Exploration:
        id_ = f"exp_{len(self.explorations) + 1:02d}"
        workload = {"batch": 1, "layers": 1, **body["workload"]}
        options = {
            "seed": body.get("seed", 0),
            "sampler": body.get("sampler", "front"),
            "islands": body.get("islands", 1),
            "objectives": body.get("objectives", [*DEFAULT]),
            "at_most": body.get("at_most", {}),
            "verify": body.get("verify", 3),
            "simulate": body.get("simulate", 32),
            "calibration": body.get("calibration", 4),
            "priority": body.get("priority", "normal"),
            "builds": body.get("builds", {}),
            "vitis": body.get("vitis"),
            "board": body.get("board"),
            "name": body.get("name") or f"{model['name']}-{len(self.explorations) + 1}",
            "tags": body.get("tags", []),
            "notes": body.get("notes", ""),
            "warnings": [NO_NODE] if body.get("builds", {}).get("link") else [],
        }
        created = created or datetime.now(UTC)
        exploration = Exploration(id_, model, workload, body.get("budget", 200), created, options, self.holds)
        self.explorations[id_] = exploration
        return exploration

    def exploration(self, id_: str) -> Exploration:
        if id_ not in self.explorations:
            raise NoSuchThingError(f"there is no exploration {id_}; GET /v1/explorations lists them")
        return self.explorations[id_]

    def design(self, id_: str) -> tuple[Exploration, Design]:
        for exploration in self.explorations.values():
            if id_ in exploration.designs:
                return exploration, exploration.designs[id_]
        raise NoSuchThingError(f"there is no design {id_}; open one from its exploration")


def sample_world(pace: float = 0.4) -> World:
    """Past explorations of every kind, and one that is searching now."""
    world = World(pace)
    decode = {"phase": "decode", "length": 64, "precision": "w4a8"}
    prefill = {"phase": "prefill", "length": 128, "precision": "f32"}
    past: list[tuple[Json, Json, timedelta, str, float]] = [
        (MODELS[1], {"workload": prefill, "budget": 6000, "seed": 3, "sampler": "tpe"}, timedelta(days=3), "done", 1.0),
        (MODELS[0], {"workload": prefill, "budget": 400, "seed": 5}, timedelta(hours=20), "failed", 0.4),
        (MODELS[0], {"workload": decode, "budget": 300, "seed": 13}, timedelta(hours=2), "done", 1.0),
        (MODELS[1], {"workload": decode, "budget": 200, "seed": 2}, timedelta(minutes=26), "cancelled", 0.55),
    ]
    for model, body, age, state, share in past:
        world.add_past(model, body, age, state, share)
    searching = world.add(MODELS[0], {"workload": decode, "budget": 240})
    add_farm(world, decode)
    searching.search(pace)  # last: a test that holds it is not to come too late
    return world


def add_farm(world: World, decode: Json) -> None:
    """Nodes, an exploration whose designs go up the ladder, and sweeps over two that ended."""
    counts = {"csynth": 14, "cosim": 4, "link": 3, "measure": 2}
    body = {"workload": decode, "budget": 260, "seed": 8, "builds": counts, "vitis": "2023.2", "priority": "high"}
    building = world.add_past(MODELS[0], body, timedelta(hours=6), "building")
    building.row |= {"finished_at": None, "waiting": f"csynth {fake_builds.LICENCE_WAIT}"}
    front = front_of(list(building.designs.values()))
    others = [d for d in building.designs.values() if not d.violations and d not in front]
    world.book.climb(building.id, [d.id for d in (front + others)[:12]])
    world.nodes = fake_farm.sample_nodes()
    before = world.explorations["exp_03"]
    after = world.add_past(MODELS[0], {"workload": decode, "budget": 300, "seed": 13}, timedelta(hours=9))
    for design in after.designs.values():
        slower, hungrier = ((1.0, 1.0), (1.04, 1.0), (1.0, 1.25))[design.number % 3]
        design.latency_us, design.energy_uj = (
            round(design.latency_us * slower, 3),
            round(design.energy_uj * hungrier, 2),
        )
    on_front = front_of(list(before.designs.values()))
    outside = next(d for d in before.designs.values() if not d.violations and d not in on_front)
    lost, fresh = (after.designs[f"dsg_{after.id[-2:]}{d.number:05d}"] for d in (on_front[1], outside))
    lost.latency_us, lost.energy_uj = lost.latency_us * 1.6, lost.energy_uj * 1.6
    fresh.latency_us, fresh.energy_uj = on_front[-1].latency_us * 1.3, round(on_front[-1].energy_uj * 0.9, 2)
    after.add([])
    world.sweeps = fake_sweeps.Sweeps(MODELS[0], before, after)


class Handler(BaseHTTPRequestHandler):
    """One request; `world` is set by `serve`."""

    world: World
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """Tests need no access log."""

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        query = {name: values[-1] for name, values in parse_qs(url.query).items()}
        self._route(GET_ROUTES, url.path, query)

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        content = self.rfile.read(length)
        kind = self.headers.get("Content-Type", "")
        read = _form if kind.startswith("multipart/form-data") else lambda _, text: json.loads(text or "{}")
        body: Json = read(kind, content)
        self._route(POST_ROUTES, urlsplit(self.path).path, body)

    def do_PATCH(self) -> None:
        content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self._route(PATCH_ROUTES, urlsplit(self.path).path, json.loads(content))

    def do_DELETE(self) -> None:
        self._route(DELETE_ROUTES, urlsplit(self.path).path, {})

    def _route(self, routes: dict[str, "Route"], path: str, argument: Json) -> None:
        matches = ((route, found) for pattern, route in routes.items() if (found := re.fullmatch(pattern, path)))
        route, found = next(matches, (no_such_address, None))
        try:
            refused = fake_farm.refusal(self, path)
            if refused is not None:
                self.problem(refused[0], "Not allowed", refused[1])
                return
            route(self, argument, *(found.groups() if found else (path,)))
        except NoSuchThingError as error:
            self.problem(404, "Not found", str(error))
        except RefusedError as error:
            self.problem(422, "Not supported", str(error))
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def json(self, body: Any, status: int = 200, media_type: str = "application/json") -> None:
        self.raw(json.dumps(body).encode(), media_type, status)

    def problem(self, status: int, title: str, detail: str) -> None:
        self.json(_problem(status, title, detail), status, "application/problem+json")

    def nothing(self, detail: str) -> NoReturn:
        raise NoSuchThingError(detail)

    def page(self, items: list[Json]) -> None:
        self.json({"items": items, "next_cursor": None})

    def raw(self, content: bytes, media_type: str, status: int = 200, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Content-Security-Policy", POLICY)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def stream(self, messages: Iterator[str]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        for message in messages:
            self.wfile.write(message.encode())
            self.wfile.flush()


def _form(kind: str, content: bytes) -> Json:
    """Fields of a form by name; a file is its name."""
    message = message_from_bytes(b"Content-Type: " + kind.encode() + b"\r\n\r\n" + content)
    parts = [part for part in message.walk() if not part.is_multipart()]
    names = [str(part.get_param("name", header="content-disposition")) for part in parts]
    values = [part.get_filename() or str(part.get_payload()) for part in parts]
    return dict(zip(names, values, strict=True))


Route = Callable[..., None]


def no_such_address(_h: Handler, _argument: Json, path: str) -> None:
    raise NoSuchThingError(f"{path} is not an address of this service; /docs lists them")


def get_explorations(h: Handler, query: Json) -> None:
    newest_first = sorted(h.world.explorations.values(), key=lambda e: e.row["created_at"], reverse=True)
    h.page([e.reply() for e in newest_first if query.get("archived") == "true" or not e.row["archived"]])


def get_designs(h: Handler, query: Json, id_: str) -> None:
    designs = h.world.exploration(id_).designs.values()
    h.page([summary(d) for d in designs if d.on_front or query.get("front") != "true"])


def get_scatter(h: Handler, _query: Json, id_: str) -> None:
    exploration = h.world.exploration(id_)
    h.json(columns(list(exploration.designs.values()), exploration.names))


def get_groups(h: Handler, _query: Json, id_: str) -> None:
    exploration = h.world.exploration(id_)
    h.json(groups_of(list(exploration.designs.values()), exploration.names))


def get_events(h: Handler, _query: Json, id_: str) -> None:
    exploration = h.world.exploration(id_)
    h.stream(_messages(exploration, int(h.headers.get("Last-Event-ID") or 0)))


def _messages(exploration: Exploration, last_id: int) -> Iterator[str]:
    while True:
        with exploration.changed:
            if last_id >= len(exploration.events) and not exploration.changed.wait(5):
                yield ": still here\n\n"
            news = exploration.events[last_id:]
        for kind, data in news:
            last_id += 1
            yield f"id: {last_id}\nevent: {kind}\ndata: {json.dumps(data)}\n\n"


def get_design(h: Handler, _query: Json, id_: str) -> None:
    h.json(describe(*h.world.design(id_), h.world.book.of_design(id_)))


def get_artifacts(h: Handler, _query: Json, id_: str) -> None:
    _, design = h.world.design(id_)
    h.page(
        [
            {
                "path": path,
                "size": len(content),
                "digest": sha256(content).hexdigest(),
                "media_type": mimetypes.guess_type(path)[0] or "application/octet-stream",
                "url": f"/v1/designs/{id_}/artifacts/{path}",
            }
            for path, content in design.files.items()
        ]
    )


def get_artifact(h: Handler, _query: Json, id_: str, path: str) -> None:
    _, design = h.world.design(id_)
    if path not in design.files:
        raise NoSuchThingError(f"design {id_} has no file {path}")
    h.raw(design.files[path], mimetypes.guess_type(path)[0] or "application/octet-stream")


def get_archive(h: Handler, _query: Json, id_: str) -> None:
    _, design = h.world.design(id_)
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w") as archive:
        for path, content in design.files.items():
            entry = tarfile.TarInfo(f"{id_}/{path}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    name = f'attachment; filename="{id_}.tar.gz"'
    h.raw(gzip.compress(tar.getvalue()), "application/gzip", headers={"Content-Disposition": name})


def get_dashboard(h: Handler, _query: Json, path: str) -> None:
    """A file of the bundle, or its index for the addresses that the browser routes itself."""
    file = DIST / path.lstrip("/")
    if not file.is_file() or DIST not in file.resolve().parents:
        file = DIST / "index.html"
    h.raw(file.read_bytes(), mimetypes.guess_type(file.name)[0] or "application/octet-stream")


def post_exploration(h: Handler, body: Json) -> None:
    h.json(h.world.start(body, h.headers.get("Idempotency-Key")).reply(), 202)


def post_model(h: Handler, body: Json) -> None:
    h.json(h.world.store(body["name"], body["file"], body.get("samples", "")), 202)


def patch_exploration(h: Handler, body: Json, id_: str) -> None:
    exploration = h.world.exploration(id_)
    exploration.row |= body
    h.json(exploration.reply())


def get_deletion(h: Handler, _query: Json, id_: str) -> None:
    exploration = h.world.exploration(id_)
    needed = ["it is pinned; take the pin off first"] if exploration.row["pinned"] else []
    counts = {"designs": len(exploration.designs), "builds": 2, "events": 3, "files": 4, "bytes": 5_000_000}
    h.json({"id": id_, "name": exploration.row["name"], "needed": needed, **counts})


def delete_exploration(h: Handler, _body: Json, id_: str) -> None:
    del h.world.explorations[h.world.exploration(id_).id]
    h.raw(b"", "text/plain", 204)


def post_cancel(h: Handler, _body: Json, id_: str) -> None:
    exploration = h.world.exploration(id_)
    exploration.move("cancelled")
    h.json(exploration.reply(), 202)


def post_resume(h: Handler, _body: Json, id_: str) -> None:
    exploration = h.world.exploration(id_)
    exploration.search(h.world.pace)
    h.json(exploration.reply(), 202)


def post_build(h: Handler, body: Json, id_: str) -> None:
    exploration, design = h.world.design(id_)
    if body["stage"] not in ("simulate", "csim"):
        wait = {"waiting": fake_builds.LICENCE_WAIT, "created_at": _now()}
        h.json(h.world.book.add(body["stage"], "queued", id_, exploration.id, **wait), 202)
        return
    start = exploration.run_simulator if body["stage"] == "simulate" else exploration.build
    h.json(start(design, 8 * h.world.pace), 202)


GET_ROUTES: dict[str, Route] = {
    r"/v1/platforms": lambda h, _query: h.page([PLATFORM]),
    r"/v1/models": lambda h, _query: h.page(h.world.models),
    r"/v1/explorations": get_explorations,
    r"/v1/explorations/([^/]+)": lambda h, _query, id_: h.json(h.world.exploration(id_).reply()),
    r"/v1/explorations/([^/]+)/deletion": get_deletion,
    r"/v1/explorations/([^/]+)/designs": get_designs,
    r"/v1/explorations/([^/]+)/scatter": get_scatter,
    r"/v1/explorations/([^/]+)/groups": get_groups,
    r"/v1/explorations/([^/]+)/events": get_events,
    r"/v1/designs/([^/]+)": get_design,
    r"/v1/designs/([^/]+)/artifacts": get_artifacts,
    r"/v1/designs/([^/]+)/artifacts/(.+)": get_artifact,
    r"/v1/designs/([^/]+)/archive": get_archive,
    **fake_builds.GET_ROUTES,
    **fake_farm.GET_ROUTES,
    **fake_sweeps.GET_ROUTES,
    r"(?!/v1/)(/.*)": get_dashboard,
}
PATCH_ROUTES: dict[str, Route] = {r"/v1/explorations/([^/]+)": patch_exploration}
POST_ROUTES: dict[str, Route] = {
    **fake_builds.POST_ROUTES,
    **fake_farm.POST_ROUTES,
    **fake_sweeps.POST_ROUTES,
    r"/v1/models": post_model,
    r"/v1/explorations": post_exploration,
    r"/v1/explorations/([^/]+)/cancel": post_cancel,
    r"/v1/explorations/([^/]+)/resume": post_resume,
    r"/v1/designs/([^/]+)/builds": post_build,
}
DELETE_ROUTES: dict[str, Route] = {
    **fake_farm.DELETE_ROUTES,
    r"/v1/explorations/([^/]+)": delete_exploration,
}


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128  # a page opens many connections at once; beyond 5 of them the kernel would reset some


def serve(world: World, port: int = 0) -> ThreadingHTTPServer:
    """Serve `world` on the loopback until `shutdown()`; port 0 takes a free one."""
    handler = type("WorldHandler", (Handler,), {"world": world})
    server = _Server(("127.0.0.1", port), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8100)
    parser.add_argument("--pace", type=float, default=0.4, help="seconds a batch of designs takes")
    parser.add_argument("--empty", action="store_true", help="start without explorations")
    arguments = parser.parse_args()
    world = World(arguments.pace) if arguments.empty else sample_world(arguments.pace)
    server = serve(world, arguments.port)
    print(f"http://127.0.0.1:{server.server_port}")
    threading.Event().wait()


if __name__ == "__main__":
    main()
