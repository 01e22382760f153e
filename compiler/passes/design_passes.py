"""The passes of one design, in order: what the search runs, and what `compile` runs and writes down."""

from functools import lru_cache

from compiler.analysis.tiling import check_overrides
from compiler.graph.design import Design
from compiler.graph.linalg_graph import LinalgGraph
from compiler.graph.same import Same
from compiler.graph.task_graph import TaskGraph
from compiler.options import Knobs
from compiler.passes.base import Pass
from compiler.passes.bind_multipliers import BindMultipliers
from compiler.passes.fuse_kernels import FuseKernels
from compiler.passes.insert_forks import InsertForks
from compiler.passes.join_loads import JoinLoads
from compiler.passes.linalg_to_dataflow import LinalgToDataflow
from compiler.passes.materialize_dmas import MaterializeDmas
from compiler.passes.pad_dimensions import PadDimensions
from compiler.passes.plan_loads import PlanLoads
from compiler.passes.share_converters import ShareConverters
from compiler.passes.share_engines import ShareEngines
from compiler.passes.size_fifos import SizeFifos
from compiler.passes.tile_tasks import TileTasks
from compiler.platforms.platform import Platform

DESIGN_PASSES: tuple[type[Pass], ...] = (
    PadDimensions,  # before anything that plans on the extents of loops
    TileTasks,
    LinalgToDataflow,
    FuseKernels,
    PlanLoads,  # before forks: it leaves several readers on one load
    ShareConverters,  # between the last pass that makes converters and the one that copies
    InsertForks,
    BindMultipliers,
    ShareEngines,  # after bind-multipliers: products of an engine are made of the same
    JoinLoads,  # before materialize-dmas: the channels of a port go to all that share it
    MaterializeDmas,  # after fusion: what stays on chip needs no DMA
    SizeFifos,
)


def passes_of(graph: LinalgGraph, knobs: Knobs) -> list[Pass]:
    """`DESIGN_PASSES`, each with what it reads of the knobs. Raises InvalidInputError where an override names no
    operation that computes, whatever it says.
    """
    check_overrides(graph, knobs)
    return [pass_.reading(knobs) for pass_ in DESIGN_PASSES]


def planned(graph: LinalgGraph, knobs: Knobs, platform: Platform) -> Design:
    """The accelerator of `graph` with `knobs` on `platform`. O(operations x log(unroll) + streams).

    Raises InvalidInputError where an override does not fit its operation.
    """
    design = Design(graph.in_order, platform)
    for pass_ in passes_of(graph, knobs):
        design = pass_.run(design)
    return design


def planned_tasks(graph: LinalgGraph, knobs: Knobs, platform: Platform) -> TaskGraph:
    """The same, as the estimator reads it, without what a pass makes only for a reader of its text."""
    return SizeFifos(knobs).sized(unsized(graph, knobs, platform))


def unsized(graph: LinalgGraph, knobs: Knobs, platform: Platform) -> Design:
    """The design of `planned_tasks` before its FIFOs have depths. A pass that has seen a design, with what it reads of
    the knobs, is not run again: a move of a search changes few of them.
    """
    design = _begun(Same(graph), Same(platform))
    for pass_ in passes_of(graph, knobs)[:-1]:
        design = _handed_on(Same(pass_), Same(design))
    return design


@lru_cache(maxsize=64)
def _begun(graph: Same[LinalgGraph], platform: Same[Platform]) -> Design:
    return Design(graph.value.in_order, platform.value)


@lru_cache(maxsize=2048)
def _handed_on(pass_: Same[Pass], design: Same[Design]) -> Design:
    return pass_.value.handed_on(design.value)
