"""Memories on dies: where block RAM or URAM of a die runs out, memories there move to kinds of which it has more."""

from collections.abc import Mapping

from compiler.analysis.design_area import DesignArea
from compiler.analysis.memory_kinds import POOLS, fit_memories, free_for, memories_of
from compiler.analysis.resources import total
from compiler.graph.task_graph import TaskGraph
from compiler.platforms.platform import Platform, Slr

BLOCKS = ("bram36", "uram")


def fit_memories_of_dies(tasks: TaskGraph, slr: Mapping[str, str], platform: Platform) -> TaskGraph:
    """`tasks` with memories moved between kinds on every die that is over its limit; `slr` is the die of each task."""
    for die in platform.dies.slrs:
        tasks = _fit_die(tasks, slr, die, platform)
    return tasks


def _fit_die(tasks: TaskGraph, slr: Mapping[str, str], die: Slr, platform: Platform) -> TaskGraph:
    """Memories on one die, each with the task that it is a part of, or that reads it."""
    bound = {pool: platform.dies.fill * getattr(die, pool) for pool in POOLS}
    area = total(area for name, area in DesignArea.of(tasks, platform).with_fifos().items() if slr[name] == die.name)
    if all(getattr(area, block) <= bound[block] for block in BLOCKS):
        return tasks
    memories = [memory for memory in memories_of(tasks, platform.memories) if slr[memory.task] == die.name]
    return fit_memories(tasks, memories, free_for(memories, area, bound))
