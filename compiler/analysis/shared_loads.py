"""Loads of small parameters that come through the same port: each of them would take one, and few words pass it.

One task reads what they read from one image, in the order in which operations use it: a part of every parameter of a
layer in each round, then what lies behind the layers. Each goes on in a stream of its own, as before. Parameters of one
type in tokens of as many bits can share, since they are cut from words alike.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import gcd

from compiler.analysis.joint_loads import ops_before
from compiler.analysis.loads import load_channels
from compiler.analysis.prompt_rows import by_phase, phases, prompt_rows
from compiler.analysis.tasks import load_task
from compiler.graph.design import Design, Transfer
from compiler.graph.itensor import DTYPE_BITS, ITensor, Loop
from compiler.graph.layers import is_long
from compiler.graph.linalg_graph import LinalgOp, Value
from compiler.graph.program import LoopNest, Program, Repeat
from compiler.graph.task_graph import Joint, LoadTask, Part, TimingSpec

Group = tuple[int, str, int]
"""Of loads that may share: their kernel, and the type and bits of their tokens."""


def hindrance_to_share(design: Design, name: str) -> str | None:
    """Why a load can not share ports with others of its group; None where it can: it brings a whole parameter, small
    as all that no product multiplies by, to one reader, once in a launch, and not before the layers.
    """
    load, graph = design.loads[name], design.graph
    value = graph.value[load.value]
    if value.role != "param" or value.row is not None or load_channels(graph, load.value, 2) > 1:
        return f"{value.name} is no small whole parameter"
    if load.itensor.rereads > 1 or len(design.leaving[name, load.value]) > 1:
        return f"{value.name} is read more than once in a launch"
    if graph.layers is None:
        return None
    op = _reader(design, load)
    if op.name not in graph.outside:
        return None if is_long(graph, value) else f"{value.name} is read more than once in a launch"
    inside = {other.name for other in graph.ops} - set(graph.outside)
    return f"@{op.name} comes before the layers" if op.name in ops_before(graph, inside) else None


def sharing(design: Design, names: Iterable[str]) -> dict[Group, list[str]]:
    """Of the loads with these names, those that can share, in the order in which their parameters are used: one of each
    operation, which takes tokens of all that it reads side by side.
    """
    found: dict[Group, dict[str, str]] = {}
    for name in names:
        if hindrance_to_share(design, name) is None:
            load = design.loads[name]
            group = found.setdefault((load.kernel, load.itensor.dtype, load.itensor.width), {})
            group.setdefault(_reader(design, load).name, name)
    return {key: in_order(design, group.values()) for key, group in found.items() if len(group) > 1}


def in_order(design: Design, names: Iterable[str]) -> list[str]:
    """Loads in the order in which what they bring is used: of layers, phase by phase, then behind them."""
    place, phase = {op.name: number for number, op in enumerate(design.graph.ops)}, phases(design)

    def use(name: str) -> tuple[bool, int, int]:
        op = _reader(design, design.loads[name]).name
        return op in design.graph.outside, phase.get(op, 0), place[op]

    return sorted(names, key=use)


def shared_name(first: str) -> str:
    """The task of loads of which this is the first."""
    return f"{first}_and_others"


def shared_loads(design: Design) -> dict[str, list[str]]:
    """Loads that come through one task, by the name of that, in the order in which it reads them."""
    found: dict[str, list[str]] = {}
    for name, load in design.loads.items():
        if load.through:
            found.setdefault(load.through, []).append(name)
    return {task: in_order(design, names) for task, names in found.items()}


def tokens_of_words(design: Design, names: Iterable[str]) -> int:
    """Tokens that whole words hold where loads share, so that each part begins with one: a divisor of those of every
    part.
    """
    return gcd(*(design.loads[name].itensor.tokens for name in names))


def shared_load_tasks(folded: Design, launch: Design) -> list[LoadTask]:
    """The tasks of loads that share, of a design whose transfers are packed, in a launch of all layers."""
    return [_task(name, loads, folded, launch) for name, loads in shared_loads(launch).items()]


def _task(name: str, loads: list[str], folded: Design, launch: Design) -> LoadTask:
    layers = folded.graph.layers
    rounds = 1 if layers is None else layers.count
    inside = [load for load in loads if layers is None or is_long(folded.graph, _value(folded, load))]
    streams = {load: launch.leaving[load, launch.loads[load].value][0] for load in loads}
    each = {load: load_task(load, folded.loads[load], streams[load], launch.platform) for load in loads}
    nests = {load: task.timing.nest(task.reads, task.writes) for load, task in each.items()}
    first, whole = each[loads[0]], _in_a_row([launch.loads[load].itensor for load in loads])
    parts = [Part(launch.loads[load].value, launch.loads[load].itensor) for load in loads]
    task = replace(first, name=name)
    return replace(
        task,
        timing=TimingSpec((), first.timing.ii, first.timing.depth),
        writes=tuple(access._replace(gates=()) for load in loads for access in each[load].writes),
        dma=replace(
            first.dma,
            value=name.removeprefix("load_"),
            layout=whole,
            joint=Joint(rounds, tuple(parts[: len(inside)]), tuple(parts[len(inside) :]), apart=True),
        ),
        streamed=whole,
        turns=_turns(folded, nests, inside),
    )


def _turns(folded: Design, nests: Mapping[str, LoopNest], inside: list[str]) -> Program:
    body: Program = tuple(nests[load] for load in inside)
    behind, layers = tuple(n for load, n in nests.items() if load not in inside), folded.graph.layers
    if layers is None or not body:
        return body + behind
    if prompt_rows(folded) > 1:
        phase = phases(folded)
        body = by_phase(body, [phase[_reader(folded, folded.loads[load]).name] for load in inside])
    return (Repeat(layers.count, body), *behind)


def _in_a_row(tokens: list[ITensor]) -> ITensor:
    """All of them, as elements of one tensor."""
    dtype, lanes = tokens[0].dtype, tokens[0].width // DTYPE_BITS[tokens[0].dtype]
    return ITensor((lanes,), dtype, (Loop(sum(itensor.tokens for itensor in tokens), lanes, 0),))


def _reader(design: Design, load: Transfer) -> LinalgOp:
    return design.graph.consumers[load.value][0][0]


def _value(design: Design, load: str) -> Value:
    return design.graph.value[design.loads[load].value]
