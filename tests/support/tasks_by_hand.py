"""Tasks by hand, for what looks at nothing but their time, their ports and what they move."""

from collections.abc import Sequence

from compiler.graph.linalg_graph import LinalgOp
from compiler.graph.nest import Nest
from compiler.graph.program import Access, Program, streams
from compiler.graph.task_graph import ComputeTask, Dma, LoadTask, RouteTask, TimingSpec

NOTHING = LinalgOp("nothing", "generic", (), (), (), (), ())


def compute(
    name: str,
    timing: TimingSpec,
    reads: Sequence[Access] = (),
    writes: Sequence[Access] = (),
    *,
    kernel: int = 0,
    operators: Sequence[tuple[str, int]] = (),
    turns: Program = (),
) -> ComputeTask:
    """A task that computes, nobody asks what."""
    ports = ports_of(turns) if turns else (tuple(reads), tuple(writes))
    return ComputeTask(name, kernel, timing, *ports, NOTHING, Nest((), ()), (), tuple(operators), turns=turns)


def route(name: str, turns: Program) -> RouteTask:
    """A task that passes on tokens in turn."""
    return RouteTask(name, 0, TimingSpec((), 1, 3), *ports_of(turns), turns=turns)


def ports_of(turns: Program) -> tuple[tuple[Access, ...], tuple[Access, ...]]:
    """A port for each stream that is read, and for each that is written."""
    return tuple(map(Access, streams(turns, "reads"))), tuple(map(Access, streams(turns, "writes")))


def load(name: str, timing: TimingSpec, write: str, dma: Dma) -> LoadTask:
    """A load that reads nothing again."""
    return LoadTask(name, 0, timing, (), (Access(write),), dma, dma.layout)
