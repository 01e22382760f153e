"""The real stages on a hand-built network, so that no importer is needed; Vitis is whatever the node has.

Calls of the stages that need no Vitis are counted in the file that CALLS names.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from networks import NETWORKS
from service_tools import log

from compiler.frontend.bundle import Bundle
from compiler.frontend.graph_json import graph_to_json
from compiler.frontend.inputs.source import FileSource
from compiler.graph.linalg_graph import LinalgGraph
from compiler.measurement.measurement import Measurement
from compiler.measurement.request import MeasureRequest
from compiler.options import Workload
from compiler.platforms.platform import Platform
from compiler.proof.verdict import Verdict
from dse.explore import EvaluatedDesign, SearchOptions, SearchResult, Sink
from dse.turns import Turn
from worker.stages.functions import Progress, Simulated, Stages


def bundle_of(name: str, folder: Path) -> Bundle:
    """A hand-built network as if it had been imported."""
    network = NETWORKS[name]()
    graph = network.graph()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "linalg.mlir").write_text("builtin.module {}\n")
    (folder / "graph.json").write_text(json.dumps(graph_to_json(graph)))
    np.savez(folder / "tensors.npz", **dict[str, Any](network.tensors))
    np.savez(folder / "expected.npz", **dict[str, Any](network.expected))
    return Bundle(folder, graph, Workload(name, "prefill", 8, "f32"), {})


class LadderStages(Stages):
    def lower(self, model: str | Path | FileSource, workload: Workload, cache: Path, on_progress: Progress) -> Bundle:
        folder = cache / "softmax"
        if not folder.is_dir():
            log("CALLS", "lower")
        return bundle_of("softmax", folder)

    def search(
        self,
        graph: LinalgGraph,
        platform: Platform,
        options: SearchOptions,
        sink: Sink,
        history: Sequence[EvaluatedDesign],
        turn: Turn,
        recorded: Sequence[EvaluatedDesign],
    ) -> SearchResult:
        log("CALLS", "search")
        return super().search(graph, platform, replace(options, jobs=1), sink, history, turn, recorded)

    def simulate(self, design: Path) -> Simulated:
        log("CALLS", "simulate")
        return super().simulate(design)

    def csim(self, design: Path, say: Progress, whole: bool) -> Verdict:
        log("CALLS", "csim whole" if whole else "csim")
        return super().csim(design, say, whole)

    def measure(self, design: Path, xclbin: Path | None, request: MeasureRequest, say: Progress) -> Measurement:
        """Shorter than a measurement that people may rely on."""
        log("CALLS", "measure")
        short = replace(request, repeats=1, warm_up=0, min_seconds=0.4, idle_seconds=0.2, sample_s=0.03)
        return super().measure(design, xclbin, short if request.simulated else replace(short, timeout_s=0.5), say)


STAGES = LadderStages()
