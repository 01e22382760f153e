"""Converters between unequal streams: the paper's rule for the buffer (design 3.2)."""

from dataclasses import dataclass
from math import lcm, prod

from compiler.errors import VerificationError
from compiler.graph.itensor import ITensor, Loop
from compiler.graph.task_graph import Converter


@dataclass(frozen=True, slots=True)
class SharedPrefix:
    """Outer loops that both streams walk alike, and what is left of each inside."""

    loops: tuple[Loop, ...]
    source: tuple[Loop, ...]
    target: tuple[Loop, ...]


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


def plan_converter(source: ITensor, target: ITensor) -> Converter:
    """The converter from `source` to `target` by the paper's rule.

    A dimension needs only what remains inside the shared outer loops, else its full extent; with more than one shared
    iteration the buffer is ping-pong so that the next is filled while this one drains.
    """
    if source.shape != target.shape or source.dtype != target.dtype:
        raise VerificationError(f"no converter from {source} to {target}: they stream different tensors")
    prefix = shared_prefix(source, target)
    extent = list(source.element)
    for loop in prefix.source:
        if loop.dim is not None:
            extent[loop.dim] += (loop.trip - 1) * loop.step
    shared = prod(loop.trip for loop in prefix.loops)
    return Converter(
        source=source,
        target=target,
        shared=shared,
        fill=prod(loop.trip for loop in prefix.source),
        drain=prod(loop.trip for loop in prefix.target),
        extent=tuple(extent),
        halves=2 if shared > 1 else 1,
    )
