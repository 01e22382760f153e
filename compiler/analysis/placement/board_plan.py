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
from compiler.analysis.shortfall import Shortfall
from compiler.errors import Violation
from compiler.graph.design import Design
from compiler.graph.linalg_graph import LinalgGraph
from compiler.graph.task_graph import TaskGraph
from compiler.options import Knobs
from compiler.platforms.platform import Platform

TIPPED = 1.02  # of what a die or a boundary may hold: relays bring no more than this over it


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
    their kind runs out there. Where relays make a die too full, tasks may be placed once more (`with_less_room`).
    """
    tasks = _within_board(tasks, platform)
    found = _spread_out(tasks, platform, platform, efforts)
    within = None if found[1].method == "infeasible" else with_less_room(platform, found[1].shortfalls)
    if within is None:
        return found
    again = _spread_out(tasks, within, platform, efforts)
    return found if again[1].shortfalls else again


def with_less_room(platform: Platform, shortfalls: Sequence[Shortfall]) -> Platform | None:
    """The board on which tasks are placed again that were placed too closely: with as much less room as a die is too
    full, and once more that; None where that is nothing, or more than `TIPPED`.
    """
    over = max((short.demand / short.bound for short in shortfalls), default=0.0)
    if not 1 < over < TIPPED:
        return None
    return replace(platform, dies=replace(platform.dies, fill=platform.dies.fill / over**2))


def _spread_out(
    tasks: TaskGraph, within: Platform, platform: Platform, efforts: Sequence[Effort]
) -> tuple[TaskGraph, Placement]:
    """Tasks placed with the room of `within`, and what that is on the board."""
    placement = place(tasks, within, efforts)
    spread = _spread(tasks, placement, platform)
    if spread.tasks is tasks and not _lacks_blocks(placement) and within is platform:
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
