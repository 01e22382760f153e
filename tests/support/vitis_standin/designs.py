"""A design directory with several kernels, small enough for any test."""

import json
from pathlib import Path

from networks import NETWORKS

from compiler.analysis.build import build_task_graph
from compiler.graph.task_graph import TaskGraph
from compiler.options import Knobs
from compiler.platforms.platform import load_platform
from compiler.targets.emit import NetworkData, emit_design

KERNELS = ("layer_norm_k0", "layer_norm_k1", "layer_norm_k2")


def write_layer_norm(folder: Path) -> TaskGraph:
    """hls/, params/, tb/, host/ and the tasks in dataflow.json."""
    network, platform = NETWORKS["layer_norm"](), load_platform("u55c")
    graph = network.graph()
    tasks = build_task_graph(graph, Knobs(fusion_budget=0, default_tile_size=8), platform)
    emit_design(tasks, graph, platform, NetworkData(network.tensors, network.expected, 1e-5), folder)
    (folder / "dataflow.json").write_text(json.dumps(tasks.to_json()))
    return tasks
