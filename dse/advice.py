"""What is said of a knob that a person set: where it changes nothing, or has a value that no search tries.

Any value that `Knobs` accepts compiles. Those that a search tries are the powers of two that cover the range: others
are rounded by what they drive, so that they seldom do what their number says.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace

from compiler.errors import InvalidInputError
from compiler.graph.linalg_graph import LinalgGraph
from compiler.options import MAX_UNROLL, Knobs
from compiler.platforms.platform import Platform
from dse.evaluate import Evaluation, evaluate
from dse.inert import inert_knobs
from dse.space import tried

_WHAT: Mapping[str, str] = {
    "default_tile_size": "every loop takes a divisor of its own length up to it",
    "overall_unroll": "lanes go to the slowest operation, in whole steps, until they are as many or more",
    "max_padding": "a dimension is padded to a multiple of a power of two where that costs at most so many percent",
    "fusion_budget": "a kernel is cut before its converters take more bytes",
    "fifo": "deeper FIFOs than progress needs; an estimate sees what they cost, and not what they gain",
    "hbm_channels": "weights stream over as many ports as divide their tokens",
    "stream_width": "a token has as many whole elements as fit in these bits; the other bits carry nothing",
    "prefetch_kib": "weights of a task load before it starts as far as whole tensors fit",
}


def advise(graph: LinalgGraph, knobs: Knobs, chosen: Collection[str], platform: Platform) -> list[str]:
    """A sentence for each knob of `chosen` that changes nothing, and for each whose value no search tries: what becomes
    of it, and its estimate beside that of the nearest value that is tried.

    Raises InvalidInputError for one that can do nothing.
    """
    strange = [name for name in chosen if name in _WHAT and getattr(knobs, name) not in tried(name, platform, graph)]
    if "overall_unroll" in strange:
        _check_unroll(graph, knobs, platform)
    inert = [name for name in inert_knobs(graph, knobs, platform) if name in chosen]
    return [
        *(_of_inert(knobs, name) for name in inert),
        *(_sentence(graph, knobs, name, platform) for name in strange if name not in inert),
    ]


def _check_unroll(graph: LinalgGraph, knobs: Knobs, platform: Platform) -> None:
    least = sum(op.kind == "generic" for op in graph.ops)
    if knobs.overall_unroll < least:
        useful = ", ".join(str(value) for value in tried("overall_unroll", platform, graph) if int(value) >= least)
        raise InvalidInputError(
            f"overall_unroll={knobs.overall_unroll} would unroll nothing: the network has {least} operations, and each "
            f"has one lane at least. It may be {least} to {MAX_UNROLL}; a search tries {useful}"
        )


def _of_inert(knobs: Knobs, name: str) -> str:
    value, default = getattr(knobs, name), getattr(Knobs(), name)
    return f"{name}={value} changes nothing here: with {name}={default} it is the same accelerator"


def _sentence(graph: LinalgGraph, knobs: Knobs, name: str, platform: Platform) -> str:
    value = getattr(knobs, name)
    values = tried(name, platform, graph)
    nearest = min(values, key=lambda other: _distance(value, other))
    here, there = (evaluate(graph, k, platform) for k in (knobs, replace(knobs, **{name: nearest})))
    return (
        f"{name}={value} is none of the values that a search tries ({', '.join(map(str, values))}): {_WHAT[name]}. "
        f"Estimated {_cost(here)}; with {name}={nearest} {_cost(there)}"
    )


def _distance(value: int | str, other: int | str) -> float:
    return abs(value - other) if isinstance(value, int) and isinstance(other, int) else 0.0


def _cost(found: Evaluation) -> str:
    if not found.priced:
        return f"it can not be built: {found.reason}"
    latency, energy = found.objectives()
    return f"{latency:,.1f} us and {energy:,.1f} uJ" + ("" if found.feasible else ", beyond the board")
