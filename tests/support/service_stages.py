"""Stages for service tests: the real search over a small network; import, compilation and simulation are stand-ins.

Chosen with MILLRACE_STAGES=service_stages:STAGES. What a test tells them, as it tells `service_tools`, makes them slow
or has them fail: SLOW_SECONDS a design, JOBS processes, TOOL_SECONDS of a subprocess tree in csim, CSIM=fail|crash,
LOWER=fail, SIMULATE=crash, DEADLOCK=the unroll of the designs that deadlock, EXCEEDS=that of the designs that exceed a
budget with certified FIFOs, SLOWER=a factor of simulated latencies.
FAIL='{"csim": "wrong"}' is CSIM=fail.
Every evaluation appends a line to EVALUATIONS, every call of a stage one to CALLS.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Container, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from service_tools import ToolStages, call, log, told

from compiler.errors import ToolError, Violation
from compiler.frontend.inputs.source import FileSource
from compiler.graph.linalg_graph import LinalgGraph
from compiler.metrics import Fidelity, Metric
from compiler.options import Knobs, Workload
from compiler.platforms.platform import Platform
from worker.stages.functions import Certified, Progress, Simulated

if TYPE_CHECKING:
    from dse.evaluate import Evaluation
    from dse.explore import EvaluatedDesign, SearchOptions, SearchResult, Sink
    from dse.turns import Turn

STALLING = {"ends": True, "cycles": 9, "fifo": None, "deadlock": None, "fidelity": "simulate"}


@dataclass(frozen=True)
class SmallBundle:
    directory: Path
    graph: LinalgGraph


@dataclass(frozen=True)
class FakeVerdict:
    passed: bool
    outputs: tuple[dict[str, Any], ...]
    message: str = ""

    def to_json(self) -> Mapping[str, Any]:
        return asdict(self)


def evaluate(graph: LinalgGraph, knobs: Knobs, platform: Platform, known: Container[str] = ()) -> "Evaluation":
    from evaluations import evaluated

    time.sleep(float(told("SLOW_SECONDS") or 0))
    log("EVALUATIONS", json.dumps(knobs.to_json(), sort_keys=True))
    lanes = knobs.overall_unroll * (1.5 if knobs.multiplier == "dsp" else 1.0)
    latency = 1e6 / lanes + knobs.default_tile_size
    energy = lanes * 2.0 + knobs.stream_width / 64 + latency / 100
    dsp = Metric("dsp", lanes, "DSP", Fidelity.ESTIMATE)
    return evaluated(knobs, latency, energy, area=lanes / 9024, metrics=(dsp,), seconds=0.001)


class ServiceStages(ToolStages):
    def lower(
        self, model: str | Path | FileSource, workload: Workload, cache: Path, on_progress: Progress
    ) -> SmallBundle:
        from small_graphs import mlp

        assert not isinstance(model, FileSource)
        directory = cache / f"{Path(model).name}-{workload.phase}-{workload.length}"
        if not directory.is_dir():
            log("CALLS", f"lower {model}")
            on_progress("importing")
            if told("LOWER") == "fail":
                raise ToolError("the importer did not like it; change something")
            directory.mkdir(parents=True)
        return SmallBundle(directory, mlp())

    def search(
        self,
        graph: LinalgGraph,
        platform: Platform,
        options: "SearchOptions",
        sink: "Sink",
        history: Sequence["EvaluatedDesign"],
        turn: "Turn",
        recorded: Sequence["EvaluatedDesign"],
    ) -> "SearchResult":
        from dse.explore import search

        call("search")
        jobs = int(told("JOBS") or 1)
        options = replace(options, jobs=jobs)
        return search(graph, platform, options, sink, history, evaluate, turn=turn, recorded=recorded)

    def compile(self, bundle: SmallBundle, knobs: Knobs, platform: Platform, out: Path, on_stage: Progress) -> None:
        on_stage("emit")
        (out / "hls").mkdir(parents=True)
        (out / "design.json").write_text(json.dumps(knobs.to_json()))
        (out / "dataflow.json").write_text("{}")
        (out / "hls" / "top.cpp").write_text("// " + str(knobs))

    def time(self, bundle: SmallBundle, knobs: Knobs, platform: Platform, out: Path, on_stage: Progress) -> Certified:
        self.compile(bundle, knobs, platform, out, on_stage)
        exceeds = told("EXCEEDS") == str(knobs.overall_unroll)
        over = (Violation("lut of SLR0", 290_000.0, 284_130.0),) if exceeds else ()
        known = {"dsp": 10.0 * knobs.overall_unroll, "latency": 1.0}
        return Certified(tuple(Metric(name, value, "", Fidelity.ESTIMATE) for name, value in known.items()), over)

    def simulate(self, design: Path) -> Simulated:
        """Every design takes a quarter longer than was estimated."""
        if call("simulate") is not None:
            raise ToolError("the simulation failed; try again")
        if told("SIMULATE") == "crash":
            os._exit(42)
        knobs = Knobs.from_json(json.loads((design / "design.json").read_text()))
        lanes = knobs.overall_unroll * (1.5 if knobs.multiplier == "dsp" else 1.0)
        latency = 1.25 * float(told("SLOWER") or 1) * (1e6 / lanes + knobs.default_tile_size)
        deadlock = "task a waits for b for ever" if told("DEADLOCK") == str(knobs.overall_unroll) else None
        metrics = (
            Metric("latency", latency, "us", Fidelity.SIMULATE),
            Metric("cycles", 1.0, "cycles", Fidelity.SIMULATE),
        )
        document = {"cycles": int(latency * 250), "stalling": None if deadlock else STALLING}
        return Simulated(int(latency * 250), latency, deadlock, metrics, document)

    def csim(self, design: Path, say: Progress, whole: bool) -> FakeVerdict:
        wrong = call("csim") is not None
        say("g++ for the whole proof" if whole else "g++")
        if told("CSIM") == "crash":
            os._exit(42)
        seconds = told("TOOL_SECONDS")
        if seconds:  # a tool that opens its own session and has children, like a vendor's
            script = f"import subprocess,sys; subprocess.run(['sleep', '{seconds}'])"
            subprocess.run([sys.executable, "-c", script], start_new_session=True, check=False)
        passed = told("CSIM") != "fail" and not wrong
        check = {"name": "y", "max_abs_error": 1e-6, "max_rel_error": 2e-6, "tolerance": 1e-3, "passed": passed}
        return FakeVerdict(passed, (check,), "all outputs agree" if passed else "output y differs")


STAGES = ServiceStages()
