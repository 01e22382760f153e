"""C++ of a task's loop nest: names of its loops, its `for`s with directives, the conditions of its gates."""

from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass

from compiler.graph.linalg_graph import LinalgOp
from compiler.graph.nest import Nest
from compiler.graph.program import Gate
from compiler.graph.task_graph import TimingSpec
from compiler.targets.writer import CppWriter, Namer


@contextmanager
def pipelined_nest(
    out: CppWriter,
    names: Sequence[str],
    trips: Sequence[int],
    timing: TimingSpec,
    each: int = 1,
    outer: int = 0,
    inside: Callable[[str], AbstractContextManager[None]] = nullcontext,
) -> Generator[None]:
    """A perfect nest; the innermost loop (or the function, where there is none) is pipelined as `timing` says. One of
    its iterations is `each` of those that `timing` counts. The first `outer` loops are kept out of the pipeline; what
    is `inside` the first of them, if there is one, stands around all others.

    Flushable (`flp`) by default: a result leaves even while the next input is missing, so no pipeline hangs where C
    simulation passes. Which styles HLS does not keep is in `compiler.graph.pipeline_style`.
    """
    with ExitStack() as stack:
        for level, (name, trip) in enumerate(zip(names, trips, strict=True)):
            stack.enter_context(out.block(f"for (int {name} = 0; {name} < {trip}; ++{name})"))
            if level < outer:
                out.pragma("loop_flatten off")
            if level == 0 and outer:
                stack.enter_context(inside(""))
        out.pragma(f"pipeline II={timing.ii * each} style={timing.style}")
        yield


@contextmanager
def unrolled(out: CppWriter, loops: Sequence[tuple[str, int]], pairs: str = "") -> Generator[None]:
    """Loops in space; none of one iteration. The loop called `pairs` advances by two."""
    with ExitStack() as stack:
        for name, trip in loops:
            if trip > 1:
                step = f"{name} += 2" if name == pairs else f"++{name}"
                stack.enter_context(out.block(f"for (int {name} = 0; {name} < {trip}; {step})"))
                out.pragma("unroll")
        yield


def gate_condition(gates: Sequence[Gate], names: Sequence[str], trips: Sequence[int]) -> str:
    """When all gates admit, as a C++ condition; empty where they always do."""
    return " && ".join(part for g in gates for part in _gate_parts(g, names[g.loop], trips[g.loop]))


def _gate_parts(gate: Gate, name: str, trip: int) -> list[str]:
    if gate.high == gate.low + 1 and trip > 1:
        return [f"{name} == {gate.low}"]
    low = [f"{name} >= {gate.low}"] if gate.low > 0 else []
    high = [f"{name} < {gate.high}"] if gate.high < trip else []
    return low + high


@contextmanager
def guarded(out: CppWriter, condition: str) -> Generator[None]:
    """A block that runs under `condition`; the plain statements where it is empty."""
    if not condition:
        yield
        return
    with out.block(f"if ({condition})"):
        yield


@dataclass(frozen=True)
class NestNames:
    """Names of one operation's loops: `n0`, `n1`, ... are its parallel dimensions, `k0`, ... those it reduces over.

    A dimension that is tiled has a loop `n0_tile` outside; its points in space are `n0_lane`.
    """

    dims: tuple[str, ...]
    loops: tuple[str, ...]
    unroll: tuple[int, ...]

    @staticmethod
    def of(op: LinalgOp, nest: Nest, namer: Namer) -> "NestNames":
        counts = {"parallel": 0, "reduction": 0}
        dims: list[str] = []
        for iterator in op.iterators:
            dims.append(namer.name(f"{'n' if iterator == 'parallel' else 'k'}{counts[iterator]}"))
            counts[iterator] += 1
        loops = tuple(
            dims[loop.dim] if loop.step == nest.unroll[loop.dim] else namer.name(f"{dims[loop.dim]}_tile")
            for loop in nest.loops
        )
        return NestNames(tuple(dims), loops, nest.unroll)

    def lane(self, dim: int) -> str:
        return f"{self.dims[dim]}_lane"

    def lanes(self, dims: Sequence[int]) -> list[tuple[str, int]]:
        """Loops in space over `dims`."""
        return [(self.lane(d), self.unroll[d]) for d in dims if self.unroll[d] > 1]

    def element(self, dims: Sequence[int], next_of: int | None = None) -> str:
        """Row-major index of the running lane in a token (or array) over `dims`; empty for a single element.

        `next_of` gives the index of the next lane along that dimension.
        """
        step = {self.lane(next_of): f"{self.lane(next_of)} + 1"} if next_of is not None else {}
        return row_major([(step.get(name, name), trip) for name, trip in self.lanes(dims)])


def row_major(loops: Sequence[tuple[str, int]]) -> str:
    """Row-major position of loop variables with their tripcounts."""
    terms: list[str] = []
    stride = 1
    for name, trip in reversed(loops):
        factor = f"({name})" if " " in name else name
        terms.append(name if stride == 1 else f"{factor} * {stride}")
        stride *= trip
    return " + ".join(reversed(terms))


def subscript(name: str, index: str) -> str:
    return f"{name}[{index}]" if index else name
