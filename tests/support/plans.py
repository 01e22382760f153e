"""A design after each of its passes."""

from compiler.graph.design import Design
from compiler.graph.linalg_graph import LinalgGraph
from compiler.options import Knobs
from compiler.passes.design_passes import DESIGN_PASSES
from compiler.pipeline import IMPORTED
from compiler.platforms.platform import load_platform

U55C = load_platform("u55c")


def plans(graph: LinalgGraph, knobs: Knobs) -> dict[str, Design]:
    """By the name of the pass, in order; the network as it was imported comes first."""
    design = Design(graph.in_order, U55C)
    found = {IMPORTED: design}
    for pass_ in DESIGN_PASSES:
        design = found[pass_.name] = pass_(knobs).run(design)
    return found
