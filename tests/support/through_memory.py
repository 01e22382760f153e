"""A small network of which one value goes through memory, written and read again in one launch behind credits."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
from networks import BINARY_ADD, body
from networks import Network as Workload
from plain_names import plainly_named

from compiler.analysis.credits import with_credits
from compiler.analysis.names import input_stream
from compiler.analysis.tasks import load_task, plan_packing, store_task
from compiler.graph.design import Transfer
from compiler.graph.task_graph import Stream, Task, TaskGraph
from compiler.options import Knobs
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import Platform, load_platform
from compiler.simulator.timing.network import Network
from compiler.simulator.timing.translate import networks_of

U55C = load_platform("u55c")
KEPT = "op_y_in1"  # holds what waits for the value that goes through memory


def network(rows: int = 4, columns: int = 32) -> Workload:
    """y = exp(x) + x."""
    n, rng = Workload("kept"), np.random.default_rng(16)
    x = n.tensor("x", rng.standard_normal((rows, columns)).astype(np.float32), role="input")
    n.generic("k", (rows, columns), [("x", "ab")], "ab", body(["f32"], ("math.exp", (0,))))
    n.generic("y", (rows, columns), [("k", "ab"), ("x", "ab")], "ab", BINARY_ADD)
    n.result("y", np.exp(x) + x)
    return n


@cache
def through_memory(rows: int = 4, columns: int = 32) -> TaskGraph:
    """The design of `network` whose `k` is stored, and loaded for the sum, without a credit.

    What the fork writes first and the sum reads last is what is kept: so C, where tokens of one iteration move one
    after the other, holds as many as hardware, where they move at once.
    """
    planned = planned_tasks(network(rows, columns).graph(), Knobs(), U55C)
    fork = planned.task["fork_x"]
    kept_first = replace(fork, writes=tuple(sorted(fork.writes, key=lambda access: access.stream != KEPT)))
    tasks = tuple(kept_first if task is fork else task for task in planned.tasks)
    return cut(replace(planned, tasks=tasks), "op_y_in0", "k", U55C)


def credited(outer: int = 1, rows: int = 4, columns: int = 32) -> TaskGraph:
    """With a credit for each iteration of so many outer loops: blocks of 16 columns, then rows."""
    return with_credits(through_memory(rows, columns), "k", U55C, outer)


def with_depth(tasks: TaskGraph, stream: str, depth: int) -> TaskGraph:
    streams = (s._replace(depth=depth) if s.name == stream else s for s in tasks.streams)
    return replace(tasks, streams=tuple(streams))


def as_network(kept: int, outer: int = 1) -> Network:
    """What is simulated of `credited` where `KEPT` holds so many tokens, by names that SystemVerilog takes."""
    (found,) = networks_of(with_depth(credited(outer), KEPT, kept), U55C)
    return plainly_named(found)


TOKENS = (8, 4, 1)  # that `KEPT` must hold at least, by the outer loops that have credits: what one stands for

# The network with a given depth of `KEPT`, and the least depth with which it runs to its end.
NETWORKS: dict[str, tuple[Callable[[int], Network], int]] = {
    "a credit a block": (as_network, TOKENS[1]),
    "a credit for all": (lambda kept: as_network(kept, 0), TOKENS[0]),
}


def cut(tasks: TaskGraph, stream: str, value: str, platform: Platform) -> TaskGraph:
    """`tasks` where the tokens of the stream, which are those of `value`, are stored and loaded again."""
    edge = tasks.stream[stream]
    kernel, packing = tasks.task[edge.target].kernel, plan_packing(edge.itensor, 1, platform.hbm.port_bits)
    store, load = f"store_{value}", f"load_{value}"
    transfer = Transfer(value, kernel, edge.itensor, packing)
    between: tuple[Task, ...] = (
        store_task(store, transfer, input_stream(store), platform),
        load_task(load, transfer, stream, platform),
    )
    writer = _renamed(tasks.task[edge.source], stream, input_stream(store))
    ordered: list[Task] = []
    for task in tasks.tasks:
        ordered.append(writer if task.name == edge.source else task)
        ordered += between if task.name == edge.source else ()
    before = Stream(input_stream(store), edge.source, store, edge.itensor, edge.depth)
    streams = (s._replace(source=load) if s.name == stream else s for s in tasks.streams)
    return replace(tasks, tasks=tuple(ordered), streams=(*streams, before))


def _renamed(task: Task, old: str, new: str) -> Task:
    return replace(task, writes=tuple(a._replace(stream=new) if a.stream == old else a for a in task.writes))
