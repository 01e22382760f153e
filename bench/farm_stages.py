"""Stages that do nothing: what `bench.farm` measures is the farm itself. Chosen with MILLRACE_STAGES."""

from dataclasses import dataclass
from pathlib import Path
from typing import cast

from compiler.errors import Violation
from compiler.frontend.inputs.source import FileSource
from compiler.graph.linalg_graph import LinalgGraph
from compiler.metrics import Fidelity, Metric
from compiler.options import Knobs, Workload
from compiler.platforms.platform import Platform
from worker.stages.functions import Progress, Simulated, Stages

_METRICS = (Metric("latency", 1.0, "us", Fidelity.SIMULATE), Metric("cycles", 250.0, "cycles", Fidelity.SIMULATE))


@dataclass(frozen=True)
class _NoBundle:
    directory: Path
    graph: LinalgGraph


class FarmStages(Stages):
    def lower(self, _model: str | Path | FileSource, _workload: Workload, cache: Path, _say: Progress) -> _NoBundle:
        return _NoBundle(cache, cast(LinalgGraph, None))

    def compile(self, _bundle: _NoBundle, _knobs: Knobs, _platform: Platform, out: Path, _say: Progress) -> None:
        out.mkdir()

    def time(
        self, _bundle: _NoBundle, _knobs: Knobs, _platform: Platform, out: Path, _say: Progress
    ) -> tuple[Violation, ...]:
        out.mkdir()
        return ()

    def simulate(self, _design: Path) -> Simulated:
        return Simulated(250, 1.0, None, _METRICS, {"cycles": 250})


STAGES = FarmStages()
