"""Design directories of the hand-built networks."""

import json
from pathlib import Path

from networks import Network

from compiler.frontend.graph_json import graph_to_json
from compiler.options import Knobs
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import load_platform
from compiler.targets.emit import NetworkData, emit_design

TOLERANCE = 1e-5


def small_design(network: Network, out: Path, knobs: Knobs | None = None) -> Path:
    """Code, packed data, tasks and graph of `network` in `out`."""
    platform, graph = load_platform("u55c"), network.graph()
    tasks = planned_tasks(graph, knobs or Knobs(), platform)
    emit_design(tasks, graph, platform, NetworkData(network.tensors, network.expected, TOLERANCE), out)
    (out / "dataflow.json").write_text(json.dumps(tasks.to_json()))
    (out / "tb" / "graph.json").write_text(json.dumps(graph_to_json(graph)))
    return out
