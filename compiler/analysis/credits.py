"""Credits between a store and the loads of the same value in one kernel: memory that a launch writes and reads again.

A credit is one bit: that it comes says all. The store waits for memory's answer at the end of a run before it sends one
and begins the next run, so the answer is part of its depth.
"""

from dataclasses import replace
from math import prod

from compiler.errors import VerificationError
from compiler.graph.itensor import ITensor, Loop
from compiler.graph.program import Access, Gate
from compiler.graph.task_graph import DmaTask, LoadTask, StoreTask, Stream, Task, TaskGraph
from compiler.platforms.platform import Platform

CREDIT_DEPTH = 2


def with_credits(tasks: TaskGraph, value: str, platform: Platform, outer: int = 0) -> TaskGraph:
    """`tasks` with a stream of credits from the store of `value` to each load of it in the same kernel: one for each
    iteration of the `outer` loops, which are no part of their pipelines then. The store comes before the loads.

    Raises VerificationError where `value` has not one store there, or a load walks other outer loops.
    """
    uses = [task for task in tasks.transfers if task.dma.value == value]
    stores = [task for task in uses if isinstance(task, StoreTask)]
    if len(stores) != 1:
        raise VerificationError(f"{value} has {len(stores)} stores; credits come from one")
    (store,) = stores
    loads = [task for task in uses if isinstance(task, LoadTask) and task.kernel == store.kernel]
    trips = store.timing.trips[:outer]
    if other := [load.name for load in loads if load.timing.trips[:outer] != trips]:
        raise VerificationError(f"{other[0]} walks other outer loops than {store.name}, so their credits do not match")
    itensor = ITensor((1,), "i1", (Loop(prod(trips), 1, 0),))
    streams = [Stream(f"{load.name}_credit", store.name, load.name, itensor, CREDIT_DEPTH) for load in loads]
    sending = tuple(Access(s.name, _gates(store, outer, last=True)) for s in streams)
    depth = store.timing.depth + platform.hbm.write_response_cycles
    changed: dict[str, Task] = {
        store.name: replace(store, timing=replace(store.timing, restarts=outer, depth=depth), writes=sending)
    }
    for load, stream in zip(loads, streams, strict=True):
        taking = (Access(stream.name, _gates(load, outer, last=False)),)
        changed[load.name] = replace(load, timing=replace(load.timing, restarts=outer), reads=taking)
    return replace(tasks, tasks=tuple(changed.get(t.name, t) for t in tasks.tasks), streams=(*tasks.streams, *streams))


def _gates(task: DmaTask, outer: int, *, last: bool) -> tuple[Gate, ...]:
    """The last, or first, iteration of each run."""
    trips = task.timing.trips
    return tuple(
        Gate(k, trips[k] - 1, trips[k]) if last else Gate(k, 0, 1) for k in range(outer, len(trips)) if trips[k] > 1
    )
