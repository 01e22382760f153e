"""FIFO depths for chunks of a prompt, whose rows follow each other within each layer.

Rows behind each other never deadlock where one does not, as each FIFO passes all of one before the next; but the layers
close a circle, whose stream holds a chunk (`compiler.analysis.prompt_rows.chunk_depths`): that is run with tasks that
hold one iteration. For the pace, FIFOs beside others that take long have to hold several rows. Which do is not known
before: all that are full get deeper, those first that do so for little memory.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from compiler.errors import VerificationError
from compiler.graph.abreast import copy_name
from compiler.graph.program import Values
from compiler.graph.task_graph import CHOOSE, TaskGraph
from compiler.platforms.platform import Platform
from compiler.simulator.timing.core import Plan
from compiler.simulator.timing.network import FifoRun, Outcome
from compiler.simulator.timing.prompt_rows import ROWS
from compiler.simulator.timing.translate import networks_of
from compiler.sizing.trial import Depths, Trial, one_at_a_time, peaks

HELD = "holds rows of a chunk of a prompt"
SLACK = 0.05  # of the cycles of a chunk with unbounded FIFOs, which would hold nearly all of its rows
BLOCKS = (1, 2, 4, 8)
"""Block RAMs that a FIFO may become as large as, tried one after the other; beyond that rows wait."""


def for_chunks(tasks: TaskGraph, platform: Platform, trial: Trial, depths: Depths) -> Depths:
    """`depths` of the one kernel, deeper where that makes chunks quicker.

    Raises VerificationError where one deadlocks.
    """
    found = depths
    for values in _chunks(tasks):
        (network,) = networks_of(tasks, platform, launches=(values,))
        chunk = _Chunk(tasks, Plan(network))
        found = _deeper(chunk, trial, found)
        if Plan(one_at_a_time(network)).far(chunk.of_copies(found)).deadlocked:
            raise VerificationError(f"a chunk of a prompt deadlocks for {dict(values)}")
    return found


class _Chunk(NamedTuple):
    """A chunk of a prompt, whose FIFOs have copies where rows are side by side, all as deep."""

    tasks: TaskGraph
    plan: Plan

    def of_copies(self, depths: Mapping[str, int | None]) -> dict[str, int | None]:
        of, count = self.tasks.abreast, self.tasks.copies
        return {
            copy_name(name, copy): None if depth is None else of.depth(name, depth, copy)
            for name, depth in depths.items()
            for copy in range(count(name))
        }

    def run(self, depths: Mapping[str, int | None]) -> Outcome:
        """With what any of the copies held, and whether any was full."""
        outcome = self.plan.run(self.of_copies(depths))
        found = {fifo.name: fifo for fifo in outcome.fifos}

        def joined(fifo: FifoRun) -> FifoRun:
            names = (copy_name(fifo.name, copy) for copy in range(1, self.tasks.copies(fifo.name)))
            others = [fifo, *(found[name] for name in names if name in found)]
            return replace(fifo, peak=max(f.peak for f in others), full=max(f.full for f in others))

        return replace(outcome, fifos=tuple(joined(fifo) for fifo in outcome.fifos))


def _chunks(tasks: TaskGraph) -> list[Values]:
    """The launch of as many rows as are taken at once, at the largest positions; none, where rows are taken alone."""
    control = tasks.control
    if control is None or control.rows == 1:
        return []
    most = {argument.name: argument.most for argument in tasks.arguments}
    told = {ROWS: control.rows, **({CHOOSE: 0} if CHOOSE in most else {})}
    last = {control.position: max(0, most[control.position] - control.rows + 1)} if control.position in most else {}
    return [told | last]


def _deeper(plan: _Chunk, trial: Trial, depths: Depths) -> Depths:
    base = plan.run({name: None for name in trial.streams if name not in trial.loads})
    limit, outcome = int(base.cycles * (1 + SLACK)), plan.run(depths)
    for blocks in BLOCKS:
        budget = blocks * trial.memories.luts_per_bram36
        while outcome.cycles > limit and (grown := _grown(trial, depths, outcome, base, budget)) != depths:
            depths, outcome = grown, plan.run(grown)
    return depths


def _grown(trial: Trial, depths: Depths, outcome: Outcome, base: Outcome, budget: float) -> Depths:
    """What is full twice as deep, up to what it holds when it is unbounded, where that takes no more than `budget`."""
    most = peaks(base)
    full = [f.name for f in outcome.fifos if f.full and f.name in depths and f.name not in trial.loads]
    wanted = trial.filled({name: min(2 * depths[name], most[name]) for name in full if depths[name] < most[name]})
    return depths | {name: depth for name, depth in wanted.items() if trial.price_of(name, depth) <= budget}
