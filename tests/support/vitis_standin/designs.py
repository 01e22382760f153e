"""A design directory with several kernels, small enough for any test."""

import json
from pathlib import Path

from networks import NETWORKS

from compiler.graph.task_graph import TaskGraph
from compiler.options import Knobs
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import load_platform
from compiler.targets.emit import NetworkData, emit_design

KERNELS = ("layer_norm_k0", "layer_norm_k1", "layer_norm_k2")


def write_layer_norm(folder: Path) -> TaskGraph:
    """hls/, params/, tb/, host/ and the tasks in dataflow.json."""
    network, platform = NETWORKS["layer_norm"](), load_platform("u55c")
    graph = network.graph()
    tasks = planned_tasks(graph, Knobs(fusion_budget=0, default_tile_size=8), platform)
    emit_design(tasks, graph, platform, NetworkData(network.tensors, network.expected, 1e-5), folder)
    (folder / "dataflow.json").write_text(json.dumps(tasks.to_json()))
    return tasks
