"""Loads of small parameters that come through the same port: each of them would take one, and few words pass it.

One task reads what they read from one image, in the order in which operations use it: a part of every parameter of a
layer in each round, then what lies behind the layers. Each goes on in a stream of its own, as before. They are of any
types, in tokens of any bits up to those of a port: all have as many tokens in a word, and what these leave of it free.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import combinations
from math import gcd

from compiler.analysis.loads import load_channels
from compiler.analysis.prompt_rows import by_phase, phases, prompt_rows
from compiler.analysis.tasks import load_task
from compiler.graph.design import Design, Packing, Transfer
from compiler.graph.itensor import ITensor, Loop
from compiler.graph.layers import is_long
from compiler.graph.linalg_graph import LinalgGraph, LinalgOp, Value
from compiler.graph.program import LoopNest, Program, Repeat
from compiler.graph.task_graph import Dma, Joint, LoadTask, Part, TimingSpec


def hindrance_to_share(design: Design, name: str) -> str | None:
    """Why a load can not share a port with others of its kernel; None where it can: it brings a whole parameter, small
    as all that no product multiplies by, to one reader, once in a launch, and not before the layers.
    """
    load, graph = design.loads[name], design.graph
    if load.itensor.width > design.platform.hbm.port_bits:
        return f"tokens of {load.value} have {load.itensor.width} bits, words of a port {design.platform.hbm.port_bits}"
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
    return f"@{op.name} comes before the layers" if op.name in _ops_before(graph, inside) else None


def _ops_before(graph: LinalgGraph, ops: Iterable[str]) -> set[str]:
    """The operations with these names, and what they wait for. O(operations)."""
    found = set(ops)
    for op in reversed(graph.ops):
        if any(reader.name in found for out in op.outputs for reader, _ in graph.consumers[out.value]):
            found.add(op.name)
    return found


def sharings(design: Design, cycles: Mapping[str, int]) -> Iterator[list[list[str]]]:
    """Ways in which loads of a kernel share ports, of those that can, from none that do to as many as can: each time
    the two groups together that take the fewest `cycles`. In a group is one load of each operation, which takes tokens
    of all that it reads side by side. O(loads^3).
    """
    groups = [[name] for name in cycles if hindrance_to_share(design, name) is None]
    readers, use = {name: _reader(design, design.loads[name]).name for (name,) in groups}, _use(design)

    def taken(pair: tuple[list[str], list[str]]) -> int:
        return sum(cycles[name] for group in pair for name in group)

    while True:
        yield [sorted(group, key=use) for group in groups if len(group) > 1]
        apart = (p for p in combinations(groups, 2) if {readers[n] for n in p[0]}.isdisjoint(readers[n] for n in p[1]))
        if (pair := min(apart, key=taken, default=None)) is None:
            return
        groups = [group for group in groups if group not in pair] + [[*pair[0], *pair[1]]]


def _use(design: Design) -> Callable[[str], tuple[bool, int, int]]:
    """When what a load brings is used: of layers, phase by phase, then behind them."""
    place, phase = {op.name: number for number, op in enumerate(design.graph.ops)}, phases(design)

    def use(name: str) -> tuple[bool, int, int]:
        op = _reader(design, design.loads[name]).name
        return op in design.graph.outside, phase.get(op, 0), place[op]

    return use


def shared_name(first: str) -> str:
    """The task of loads of which this is the first."""
    return f"{first}_and_others"


def shared_loads(design: Design) -> dict[str, list[str]]:
    """Loads that come through one task, by the name of that, in the order in which it reads them."""
    found: dict[str, list[str]] = {}
    for name, load in design.loads.items():
        if load.through:
            found.setdefault(load.through, []).append(name)
    use = _use(design) if found else None
    return {task: sorted(names, key=use) for task, names in found.items()}


def shared_packing(design: Design, names: Iterable[str]) -> Packing:
    """Of loads that share: as many tokens in each word as fit of the widest, in whole bytes, a power of two, so that
    each part of each round begins with a word.
    """
    loads, bits = [design.loads[name].itensor for name in names], design.platform.hbm.port_bits
    fitting = min(bits // 8, bits // max(itensor.width for itensor in loads))
    return Packing(1, gcd(1 << fitting.bit_length() - 1, *(itensor.tokens for itensor in loads)), 1)


def shared_load_tasks(folded: Design, launch: Design) -> list[LoadTask]:
    """The tasks of loads that share, of a design whose transfers are packed, in a launch of all layers."""
    return [_task(name, loads, folded, launch) for name, loads in shared_loads(launch).items()]


def _task(name: str, loads: list[str], folded: Design, launch: Design) -> LoadTask:
    layers = folded.graph.layers
    inside = [load for load in loads if layers is None or is_long(folded.graph, _value(folded, load))]
    rounds, first_behind = (layers.count if layers and inside else 1), len(inside or loads)
    streams = {load: launch.leaving[load, launch.loads[load].value][0] for load in loads}
    each = {load: load_task(load, folded.loads[load], streams[load], launch.platform) for load in loads}
    nests = {load: task.timing.nest(task.reads, task.writes) for load, task in each.items()}
    first = each[loads[0]]
    packed = [load_task(load, launch.loads[load], streams[load], launch.platform).dma for load in loads]
    parts = [Part(dma.value, dma.layout) for dma in packed]
    whole = _in_a_row(sum(dma.layout.tokens for dma in packed), first.dma)
    task = replace(first, name=name)
    return replace(
        task,
        timing=TimingSpec((), first.timing.ii, first.timing.depth),
        writes=tuple(access._replace(gates=()) for load in loads for access in each[load].writes),
        dma=replace(
            first.dma,
            value=name.removeprefix("load_"),
            layout=whole,
            joint=Joint(rounds, tuple(parts[:first_behind]), tuple(parts[first_behind:]), tuple(packed)),
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


def _in_a_row(tokens: int, dma: Dma) -> ITensor:
    """All of them, each as bytes: what its share of a word has."""
    lanes = dma.port_bits // 8 // dma.tokens_per_word
    return ITensor((lanes,), "i8", (Loop(tokens, lanes, 0),))


def _reader(design: Design, load: Transfer) -> LinalgOp:
    return design.graph.consumers[load.value][0][0]


def _value(design: Design, load: str) -> Value:
    return design.graph.value[design.loads[load].value]
