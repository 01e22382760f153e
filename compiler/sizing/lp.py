"""FIFO depths by a linear program: the start of each task for which the FIFOs together cost least (design 3.5).

One variable a node of the affine schedule, its start; one row a stream, its lag. These |E| difference constraints are
the paper's constraints over all paths: the delays along a path add up to the difference of two starts. The objective
weighs the tokens in flight, linear in the starts, with what memory costs: those up to `free_depth` nothing (the LUTs of
the shallowest FIFO hold them), every other one its bits. Streams that need no depth, or are short enough to be free,
have next to no say. Where tasks take turns a stream has several edges, and costs what the fullest of them does.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from compiler.analysis.affine_schedule import MIN_DEPTH, Edge
from compiler.analysis.fifo import (
    KernelPart,
    Schedule,
    by_kernel,
    plan_schedule,
    schedule_depths,
    swept_starts,
    undemanding,
)
from compiler.analysis.memory_steps import free_depth, price
from compiler.graph.task_graph import TaskGraph
from compiler.options import Equalisation
from compiler.platforms.memories import Memories
from compiler.solver.milp import Milp, Row, solve

FREE_TOKEN = 1e-3  # weight of a token that needs no memory of its own: of two equal schedules the shorter FIFO
SOLVER_SECONDS = 10.0

Starts = Mapping[str, float]  # cycles, of each node of a schedule


def lp_depths(tasks: TaskGraph, equalisation: Equalisation, memories: Memories) -> dict[str, int]:
    """The depth of each stream by name. No order of execution deadlocks with it (`compiler.analysis.affine_schedule`).

    Cycles that the model leaves out (registered ends of FIFOs, HBM) may still cost time: certify the result.
    """
    depths: dict[str, int] = {}
    for part in by_kernel(tasks.steady.tasks, tasks.steady.streams):
        plan = Plan(part, plan_schedule(part, equalisation), equalisation, memories)
        depths |= dict(zip((s.name for s in part.streams), plan.depths(best_starts(plan)), strict=True))
    return depths


@dataclass(frozen=True)
class Plan:
    """What the starts of one kernel's schedule are chosen by."""

    part: KernelPart
    schedule: Schedule
    equalisation: Equalisation
    memories: Memories

    def depths(self, start: Starts) -> list[int]:
        return schedule_depths(self.part, self.schedule, start, self.equalisation)

    def price(self, start: Starts) -> float:
        """Of all FIFOs, as shares of the part."""
        depths = zip(self.part.streams, self.depths(start), strict=True)
        return sum(price(stream.width, depth, self.memories) for stream, depth in depths)

    def weighted(self) -> list[list[Edge]]:
        """Edges of each stream whose FIFO may take more memory or less, as the starts are."""
        free = undemanding(self.part, self.equalisation)
        chosen = {s.name for s in self.part.streams if s.name not in free and s.tokens > self.free_depth(s.width)}
        found: dict[str, list[Edge]] = {}
        for edge in self.schedule.edges:
            if edge.stream in chosen:
                found.setdefault(edge.stream, []).append(edge)
        return list(found.values())

    def free_depth(self, width: int) -> int:
        """Of a FIFO of tokens of `width` bits without memory of its own."""
        return free_depth(width, MIN_DEPTH, self.memories)


def best_starts(plan: Plan) -> Starts:
    """A start of each node in cycles: the program's, or the sweeps' of the search where those are no dearer. (Few
    tokens in a memory of large steps, or a FIFO that holds all its tokens, may cost less than the program takes for.)
    """
    swept, found = swept_starts(plan.schedule), _solved(plan)
    return swept if found is None else min(swept, found, key=plan.price)


def _solved(plan: Plan) -> Starts | None:
    """The starts for which the tokens in flight on weighted edges cost least."""
    schedule = plan.schedule
    unit = max((edge.tokens / edge.rate for edge in schedule.edges), default=1.0)
    found = solve(_program(plan, unit), gap=0.0, nodes=1, seconds=SOLVER_SECONDS)
    if found.values is None:
        return None
    wanted = {node: value * unit for node, value in zip(schedule.nodes, found.values, strict=False)}
    return schedule.earliest(wanted)  # the solver keeps the lags up to a tolerance, this all of them


def _program(plan: Plan, unit: float) -> Milp:
    """Variables: the start of each node, then for each weighted stream how much later than free its target starts, all
    in `unit` cycles so that every coefficient is 1, but for streams of several edges.
    """
    schedule = plan.schedule
    number = {node: k for k, node in enumerate(schedule.nodes)}
    cost = [0.0] * len(number)
    rows = [_later(number, edge, edge.lag / unit) for edge in (*schedule.edges, *schedule.phases)]
    for edge in schedule.edges:
        cost[number[edge.target]] += FREE_TOKEN * edge.cost
        cost[number[edge.source]] -= FREE_TOKEN * edge.cost
    for edges in plan.weighted():
        fastest = max(edges, key=lambda edge: edge.rate)
        for edge in edges:
            free = (plan.free_depth(edge.width) - 2 - edge.base) / edge.rate
            rows.append(_not_later(number, edge, free / unit, len(cost), fastest.rate / edge.rate))
        cost.append(fastest.cost)
    heaviest = max(map(abs, cost), default=0.0) or 1.0
    return Milp([c / heaviest for c in cost], 0, rows)


def _later(number: Mapping[str, int], edge: Edge, lag: float) -> Row:
    """The target starts at least `lag` after the source."""
    return Row(((number[edge.source], 1.0), (number[edge.target], -1.0)), -lag)


def _not_later(number: Mapping[str, int], edge: Edge, limit: float, excess: int, share: float) -> Row:
    """Variable `excess` is at least so large a share of what the target starts later than `limit` after the source."""
    return Row(((number[edge.target], 1.0), (number[edge.source], -1.0), (excess, -share)), limit)
