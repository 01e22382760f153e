"""Engines whose lanes are dealt out to any number of equal tasks: a chain of products by hand, as planned lanes are
powers of two.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
from small_graphs import chain

from compiler.analysis.build import task_graph
from compiler.graph.design import Design
from compiler.graph.linalg_graph import LinalgGraph, LinalgOp
from compiler.graph.nest import Nest, NestLoop
from compiler.graph.task_graph import TaskGraph
from compiler.options import Knobs
from compiler.passes.design_passes import DESIGN_PASSES
from compiler.platforms.platform import load_platform
from compiler.targets.emit import NetworkData, emit_design

U55C = load_platform("u55c")


def sliced(slices: int) -> tuple[LinalgGraph, TaskGraph]:
    """Three products that take turns, a column to each slice."""
    graph = chain(2, slices, 2 * slices, slices)
    knobs = Knobs(engines="shared", slices=slices, fifo="whole")
    design = Design(graph.in_order, U55C)
    for pass_ in DESIGN_PASSES:
        design = pass_(knobs).run(design)
        if pass_.name == "tile-tasks":
            design = replace(design, nests={op.name: _columns(op, slices) for op in graph.ops})
    tasks = task_graph(design)
    tasks.verify()
    return graph, tasks


def _columns(op: LinalgOp, lanes: int) -> Nest:
    rows, columns, summed = op.loops
    loops = (NestLoop(0, rows, 1), NestLoop(1, columns // lanes, lanes), NestLoop(2, summed, 1))
    return Nest(tuple(loop for loop in loops if loop.trip > 1), (1, lanes, 1))


def emit_sliced(slices: int, folder: Path) -> TaskGraph:
    """Its design directory, for zeros."""
    graph, tasks = sliced(slices)
    tensors = {v.source: np.zeros(v.shape, np.float32) for v in graph.values if v.role != "intermediate"}
    expected = {o.name: np.zeros(o.shape, np.float32) for o in graph.outputs}
    emit_design(tasks, graph, U55C, NetworkData(tensors, expected, 1e-5), folder)
    return tasks
