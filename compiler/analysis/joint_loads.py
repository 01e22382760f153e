"""Weights of an engine that come through the same ports: one image, in the order in which its turns use them.

One operation works at a time, so that a weight with ports of its own leaves them idle in the turns of others. Through a
joint load each weight has all the ports, in its own turn; nothing routes, and no weight waits for another that is not
used before it.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from compiler.analysis.names import joint_load_name, operand_stream
from compiler.analysis.tasks import load_task
from compiler.graph.design import Design, Engine, Transfer
from compiler.graph.itensor import ITensor
from compiler.graph.layers import is_long
from compiler.graph.task_graph import Joint, LoadTask, Part

Found = TypeVar("Found")


def hindrance(design: Design, engine: Engine, index: int) -> str | None:
    """Why the loads of an engine's input can not be one; None where they can: each brings a parameter straight to its
    operation, of every layer its own, and once.
    """
    for op in engine.turns:
        edge = design.edges.get(operand_stream(op, index))
        load = None if edge is None else design.loads.get(edge.source)
        if edge is None or load is None:
            return f"@{op} does not get input {index} straight from a load"
        value = design.graph.value[load.value]
        if value.role != "param" or value.row is not None:
            return f"{value.name} is not a whole parameter"
        if load.itensor.rereads > 1 or (design.graph.layers is not None and not is_long(design.graph, value)):
            return f"{value.name} is read more than once in a launch"
        if len(design.leaving[edge.port]) > 1:
            return f"{value.name} has other readers beside @{op}"
    return None


def joint_streams(design: Design) -> dict[str, str]:
    """Streams of operands that joint loads bring, by name: the stream in which the tokens of all of them come."""
    return {
        operand_stream(op, index): operand_stream(name, index)
        for name, engine in design.engines.items()
        for index in engine.joint
        for op in engine.turns
    }


def of_all_streams(design: Design, found: Mapping[str, Found]) -> dict[str, Found]:
    """What was found of the streams of a task graph, by name, with the streams that joint ones stand for."""
    return {**found, **{stream: found[whole] for stream, whole in joint_streams(design).items()}}


def joint_load(launch: Design, name: str, index: int, tokens: ITensor, rounds: int) -> LoadTask:
    """The load of an engine's input in a launch, of `tokens`; in each of `rounds`, which are the layers, it reads what
    its operations use in one.
    """
    engine = launch.engines[name]
    loads = [launch.loads[launch.edges[operand_stream(op, index)].source] for op in engine.turns]
    stream = operand_stream(name, index)
    whole = Transfer(stream, engine.kernel, tokens, loads[0].packing)
    task = load_task(joint_load_name(name, index), whole, stream, launch.platform)
    parts = tuple(Part(load.value, load.itensor.without_rereads()) for load in loads)
    return replace(task, dma=replace(task.dma, joint=Joint(rounds, parts)))
