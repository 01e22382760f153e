"""Converters between unequal streams: the buffer by the paper's rule, and what they need at least (design 3.2)."""

from dataclasses import dataclass
from functools import lru_cache
from math import lcm, prod

from compiler.errors import VerificationError
from compiler.graph.box import Box
from compiler.graph.itensor import DTYPE_BITS, ITensor, Loop
from compiler.graph.live_set import most_alive
from compiler.graph.realisation import Realisation
from compiler.graph.schedules import cheapest, one_after_the_other, paper_schedule
from compiler.options import ConverterRule


@dataclass(frozen=True, slots=True)
class SharedPrefix:
    """Outer loops that both streams walk alike, and what is left of each inside."""

    loops: tuple[Loop, ...]
    source: tuple[Loop, ...]
    target: tuple[Loop, ...]


@dataclass(frozen=True, slots=True)
class Converter:
    """How a converter re-orders: `shared` iterations of the outer loops that both sides share, `fill` and `drain`
    tokens in each, `extent` of the box that passes in each iteration, in elements; `realisation` says in which memory
    and when.
    """

    source: ITensor
    target: ITensor
    shared: int
    fill: int
    drain: int
    extent: tuple[int, ...]
    realisation: Realisation

    @property
    def memory(self) -> tuple[int, ...]:
        """Extent of the buffer in elements, both halves of a ping-pong pair along the folded dimension."""
        dim, length = self.realisation.dim, self.realisation.length
        return tuple(length if d == dim else extent for d, extent in enumerate(self.extent))

    @property
    def halves(self) -> int:
        return 2 if self.realisation.kind == "ping-pong" else 1

    @property
    def half(self) -> tuple[int, ...]:
        """Extent in elements of one half of a ping-pong pair, of all of another buffer."""
        return self.memory if self.halves == 1 else self.extent

    @property
    def bits(self) -> int:
        """Bits of the buffer as it is realised."""
        return prod(self.memory) * DTYPE_BITS[self.source.dtype]

    @property
    def paper_bits(self) -> int:
        """Bits by the paper's rule: the box of one round, twice where there are several."""
        return prod(self.extent) * (2 if self.shared > 1 else 1) * DTYPE_BITS[self.source.dtype]

    @property
    def exact_bits(self) -> int:
        """Bits of the most elements that are alive at once, tokens read as late as possible."""
        return most_alive(box_of(self.source, self.target)) * DTYPE_BITS[self.source.dtype]


def shared_prefix(source: ITensor, target: ITensor) -> SharedPrefix:
    """The longest common outer nest, splitting the loop where two tilings of one dimension meet. O(loops).

    Loops over one dimension with equal span share their coarsest common grid: 144 x 16 and 288 x 8 share 144
    iterations.
    """
    shared: list[Loop] = []
    left, right = list(source.canonical), list(target.canonical)
    while left and right:
        a, b = left[0], right[0]
        span = a.trip * a.step
        if a.dim is None or a.dim != b.dim or b.trip * b.step != span:
            break
        step = lcm(a.step, b.step)
        strided = any(loop.dim == a.dim and loop.step > step for loop in (*left[1:], *right[1:]))
        if span % step or span == step or strided:  # a strided walk would leave gaps in what is buffered inside
            break
        shared.append(Loop(span // step, step, a.dim))
        split = step > a.step or step > b.step
        left[:1] = [Loop(step // a.step, a.step, a.dim)] if step > a.step else []
        right[:1] = [Loop(step // b.step, b.step, b.dim)] if step > b.step else []
        if split:
            break
    return SharedPrefix(tuple(shared), tuple(left), tuple(right))


def _extent(source: ITensor, loops: tuple[Loop, ...]) -> tuple[int, ...]:
    """Box that the source passes inside the shared loops: a dimension needs only what remains there."""
    extent = list(source.element)
    for loop in loops:
        if loop.dim is not None:
            extent[loop.dim] += (loop.trip - 1) * loop.step
    return tuple(extent)


@lru_cache(maxsize=65536)
def box_of(source: ITensor, target: ITensor) -> Box:
    """What both sides pass in one round. Raises VerificationError where they do not stream the same tensor, or where
    the source passes an element more than once.
    """
    if source.shape != target.shape or source.dtype != target.dtype:
        raise VerificationError(f"no converter from {source} to {target}: they stream different tensors")
    if source.rereads > 1:
        raise VerificationError(f"no converter from {source}: a converter's source passes each element once")
    prefix = shared_prefix(source, target)
    shared = prod(loop.trip for loop in prefix.loops)
    extent = _extent(source, prefix.source)
    return Box(shared, prefix.source, prefix.target, extent, source.element, target.element)


def converter_of(source: ITensor, target: ITensor, realisation: Realisation) -> Converter:
    """The converter from `source` to `target` that is realised so."""
    box = box_of(source, target)
    return Converter(source, target, box.shared, box.fill_tokens, box.drain_tokens, box.extent, realisation)


@lru_cache(maxsize=65536)
def plan_converter(
    source: ITensor, target: ITensor, rule: ConverterRule = "exact", *, in_turn: bool = False
) -> Converter:
    """The converter from `source` to `target`, which fills and drains `in_turn` where that is asked for.

    By the paper's rule a dimension needs only what remains inside the shared outer loops, else its full extent; with
    more than one shared iteration the buffer is ping-pong. `exact` takes the cheapest realisation that keeps the
    throughput (`compiler.graph.schedules`).
    """
    box = box_of(source, target)
    chosen = one_after_the_other if in_turn else cheapest if rule == "exact" else paper_schedule
    return converter_of(source, target, chosen(box))
