"""Bundles of networks that are built by hand."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from networks import NETWORKS

from compiler.frontend.bundle import Bundle
from compiler.frontend.graph_json import graph_to_json
from compiler.options import Workload


def bundle_of(name: str, folder: Path) -> Bundle:
    """A hand-built network as if it had been imported."""
    network = NETWORKS[name]()
    graph = network.graph()
    folder.mkdir()
    (folder / "linalg.mlir").write_text("builtin.module {}\n")
    (folder / "graph.json").write_text(json.dumps(graph_to_json(graph)))
    np.savez(folder / "tensors.npz", **dict[str, Any](network.tensors))
    np.savez(folder / "expected.npz", **dict[str, Any](network.expected))
    return Bundle(folder, graph, Workload(name, "prefill", 8, "f32"), {})
