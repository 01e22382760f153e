"""Everything that is decided once, for the design that is compiled: memories, dies, HBM channels. Not in the search."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from compiler.analysis.estimate import DIE_BOUNDS, Estimate
from compiler.analysis.fusion_report import FusionReport, report_fusion
from compiler.analysis.memory_kinds import bind_fifos, fit_board
from compiler.analysis.placement.channels import assign_channels
from compiler.analysis.placement.die_memories import BLOCKS, fit_memories_of_dies
from compiler.analysis.placement.netlist import task_areas
from compiler.analysis.placement.place import describe, place
from compiler.analysis.placement.placement import Placement
from compiler.analysis.resources import total
from compiler.errors import Violation
from compiler.graph.design import Design
from compiler.graph.task_graph import TaskGraph
from compiler.options import Knobs
from compiler.platforms.platform import Platform


@dataclass(frozen=True)
class BoardPlan:
    """The design with its memories bound, where its tasks lie, why it is cut into kernels where it is, and the HBM
    channels of each load and store.
    """

    tasks: TaskGraph
    placement: Placement
    fusion: FusionReport
    channels: Mapping[str, tuple[int, ...]]

    def judged(self, estimated: Estimate) -> Estimate:
        """The estimate with what the placement says of dies and wires instead of its own quick test."""
        board = (v for v in estimated.violations if v.resource not in DIE_BOUNDS)
        found = (Violation(f"{s.resource} of {s.subject}", s.demand, s.bound) for s in self.placement.shortfalls)
        return replace(estimated, violations=(*board, *found), placed=not self.placement.shortfalls)

    def to_json(self) -> dict[str, Any]:
        """Beside the tasks and streams in `dataflow.json`."""
        return {
            "fusion": self.fusion.to_json(),
            "placement": self.placement.to_json(),
            "hbm_channels": {task: list(channels) for task, channels in self.channels.items()},
        }


def plan_board(tasks: TaskGraph, design: Design, knobs: Knobs) -> BoardPlan:
    """Everything about the board for a design and its `tasks`, as they are sized."""
    platform = design.platform
    bound, placement = placed(tasks, platform)
    channels = assign_channels(bound.transfers, platform)
    return BoardPlan(bind_fifos(bound, platform.memories), placement, report_fusion(design, knobs), channels)


def placed(tasks: TaskGraph, platform: Platform) -> tuple[TaskGraph, Placement]:
    """Bind memories within the board, place the tasks, then move memories on dies where their kind runs out there."""
    tasks = fit_board(tasks, total(task_areas(tasks, platform).values()), platform)
    placement = place(tasks, platform)
    if not any(shortfall.resource in BLOCKS for shortfall in placement.shortfalls):
        return tasks, placement
    tasks = fit_memories_of_dies(tasks, placement.slr, platform)
    fitted = describe(tasks, platform, placement.slr)
    return tasks, replace(fitted, bound=min(placement.bound, fitted.cost), method=placement.method)
