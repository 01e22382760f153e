"""Everything that is decided once, for the design that is compiled: memories, dies, HBM channels. Not in the search."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from compiler.analysis.design_area import DesignArea
from compiler.analysis.estimate import Estimate, estimate_placed
from compiler.analysis.fusion_report import FusionReport, report_fusion
from compiler.analysis.memory_kinds import bind_fifos, fit_board
from compiler.analysis.placement.assign import ANY, CHEAP, Effort
from compiler.analysis.placement.channels import assign_channels
from compiler.analysis.placement.die_memories import BLOCKS, fit_memories_of_dies
from compiler.analysis.placement.fit_dies import DieFit
from compiler.analysis.placement.netlist import RESOURCES
from compiler.analysis.placement.place import describe, place
from compiler.analysis.placement.placement import Placement
from compiler.analysis.relays import Spread, relayed
from compiler.errors import Violation
from compiler.graph.design import Design
from compiler.graph.linalg_graph import LinalgGraph
from compiler.graph.task_graph import TaskGraph
from compiler.options import Knobs
from compiler.platforms.platform import Platform


@dataclass(frozen=True)
class BoardPlan:
    """The design of `network` with its memories bound, where its tasks lie, why it is cut into kernels where it is, and
    the HBM channels of each load and store.
    """

    network: LinalgGraph
    tasks: TaskGraph
    placement: Placement
    fusion: FusionReport
    channels: Mapping[str, tuple[int, ...]]

    def estimated(self, platform: Platform) -> Estimate:
        """The estimate of the design as it is placed."""
        short, use = self.placement.shortfalls, self.placement.use
        shares = [[use[slr.name][r] / max(1.0, getattr(slr, r)) for r in RESOURCES] for slr in platform.dies.slrs]
        violations = tuple(Violation(f"{s.resource} of {s.subject}", s.demand, s.bound) for s in short)
        crossed = bool(self.placement.crossings)
        fit = DieFit(self.tasks, not short, np.array(shares), crossed, violations)
        return estimate_placed(fit, platform, self.network)

    def to_json(self) -> dict[str, Any]:
        """Beside the tasks and streams in `dataflow.json`."""
        return {
            "fusion": self.fusion.to_json(),
            "placement": self.placement.to_json(),
            "hbm_channels": {task: list(channels) for task, channels in self.channels.items()},
        }


def plan_board(tasks: TaskGraph, placement: Placement, design: Design, knobs: Knobs) -> BoardPlan:
    """Everything about the board for a design and its `tasks`, as they are sized, with their relays."""
    platform = design.platform
    tasks, placement = _settled(_within_board(tasks, platform), placement, platform)
    channels = assign_channels(tasks.transfers, platform)
    bound = bind_fifos(tasks, platform.memories)
    return BoardPlan(design.graph, bound, placement, report_fusion(design, knobs), channels)


def placed(
    tasks: TaskGraph, platform: Platform, efforts: Sequence[Effort] = (CHEAP, ANY)
) -> tuple[TaskGraph, Placement]:
    """Bind memories within the board, place the tasks, add relays where streams cross, then move memories on dies where
    their kind runs out there.
    """
    tasks = _within_board(tasks, platform)
    placement = place(tasks, platform, efforts)
    spread = _spread(tasks, placement, platform)
    if spread.tasks is tasks and not _lacks_blocks(placement):
        return tasks, placement
    return _with_relays(spread, placement, platform)


def _spread(tasks: TaskGraph, placement: Placement, platform: Platform) -> Spread:
    number = {slr.name: n for n, slr in enumerate(platform.dies.slrs)}
    return relayed(tasks, {task: number[slr] for task, slr in placement.slr.items()})


def _with_relays(spread: Spread, placement: Placement, platform: Platform) -> tuple[TaskGraph, Placement]:
    slr = {task: platform.dies.slrs[die].name for task, die in spread.die.items()}
    return _settled(spread.tasks, replace(placement, slr=slr), platform)


def _within_board(tasks: TaskGraph, platform: Platform) -> TaskGraph:
    return fit_board(tasks, DesignArea.of(tasks, platform).whole, platform)


def _settled(tasks: TaskGraph, placement: Placement, platform: Platform) -> tuple[TaskGraph, Placement]:
    """What tasks on their dies amount to, once memories have moved there."""
    found = describe(tasks, platform, placement.slr)
    if _lacks_blocks(found):
        tasks = fit_memories_of_dies(tasks, placement.slr, platform)
        found = describe(tasks, platform, placement.slr)
    return tasks, replace(found, bound=min(placement.bound, found.cost), method=placement.method)


def _lacks_blocks(placement: Placement) -> bool:
    return any(shortfall.resource in BLOCKS for shortfall in placement.shortfalls)
