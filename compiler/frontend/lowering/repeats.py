"""Elements that repeat: a broadcast along new dimensions, which a reshape merges with those outside of them. So nearest
neighbours make a picture larger.

Where single indices read that, it is a matter of maps: a dimension is the two that were merged. Where something needs
it whole, as windows and concatenations do, lines that repeat take its place (`compiler.graph.windows`).
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from math import prod
from typing import NamedTuple

from compiler.frontend.lowering.atoms import Atoms
from compiler.frontend.lowering.source import Generic, Reshape, SourceModule, SourceOp, Tensor, Window
from compiler.graph.windows import LineWalk


class _Repeated(NamedTuple):
    """A tensor, its dimensions that make each one of the result, and how often elements repeat along that."""

    source: Tensor
    dims: tuple[tuple[int, ...], ...]
    times: tuple[int, ...]


def with_repeats(module: SourceModule) -> SourceModule:
    """The module with windows where a merged dimension has to be whole, until none that is torn is left: windows need
    what they read whole as well. O(operations), as often as such reshapes follow one another.
    """
    while torn := _torn(module):
        fresh = count(1 + max(result.number for op in module.ops for result in _results(op)))
        new: list[SourceOp] = []
        for op in module.ops:
            found = torn.get(op.result.number) if isinstance(op, Reshape) else None
            new += (op,) if found is None or not isinstance(op, Reshape) else _windows(op, found, fresh)
        module = replace(module, ops=tuple(new))
    return module


def _torn(module: SourceModule) -> dict[int, _Repeated]:
    """By the number of their results, reshapes of what repeats, where one of those dimensions must not be split."""
    made = {result.number: op for op in module.ops for result in _results(op)}
    reshapes = [op for op in module.ops if isinstance(op, Reshape)]
    found = [(op.result, _repeated(op, made.get(op.source.number))) for op in reshapes]
    if all(repeated is None for _, repeated in found):
        return {}
    atoms = Atoms(module)
    # Windows walk all that they are of: along dimensions without windows, too, nothing is read again for them.
    windowed = {op.source.number for op in module.ops if isinstance(op, Window)}
    return {
        result.number: repeated
        for result, repeated in found
        if repeated is not None
        and (result.number in windowed or any(n > 1 and atoms.torn(result, d) for d, n in enumerate(repeated.times)))
    }


def _results(op: SourceOp) -> tuple[Tensor, ...]:
    return op.results if isinstance(op, Generic) else (op.result,)


def _repeated(reshape: Reshape, maker: SourceOp | None) -> _Repeated | None:
    """What repeats, where a copy made what is reshaped, with new dimensions inside of those that it read."""
    if not isinstance(maker, Generic) or not _is_copy(maker):
        return None
    (source,), (read, written) = maker.inputs, maker.maps
    assert isinstance(source, Tensor)
    dims: list[tuple[int, ...]] = []
    times: list[int] = []
    for merged, results in reshape.groups:
        loops = [written[d] for d in merged]
        kept = [loop for loop in loops if loop in read]
        if len(results) != 1 or not kept or loops[: len(kept)] != kept or None in kept:
            return None
        dims.append(tuple(read.index(loop) for loop in kept))
        times.append(prod(reshape.source.shape[d] for d in merged[len(kept) :]))
    in_order = [d for group in dims for d in group] == list(range(len(source.shape)))
    return _Repeated(source, tuple(dims), tuple(times)) if in_order and max(times) > 1 else None


def _is_copy(op: Generic) -> bool:
    """Of one tensor, each element as it is."""
    tensors = len(op.inputs) == 1 and isinstance(op.inputs[0], Tensor) and op.inits == (None,)
    return tensors and not op.steps and op.yields == (0,) and "reduction" not in op.iterators


def _windows(reshape: Reshape, repeated: _Repeated, fresh: Iterator[int]) -> Iterator[SourceOp]:
    """Lines that repeat, along one dimension after the other; channels, which are in front of all of these, within."""
    read, path = repeated.source, reshape.path
    shape = [extent // n for extent, n in zip(reshape.result.shape, repeated.times, strict=True)]
    if len(shape) != len(read.shape):
        merged = Tensor(next(fresh), tuple(shape), read.dtype)
        yield Reshape(path, read, tuple((group, (d,)) for d, group in enumerate(repeated.dims)), merged)
        read = merged
    repeating = [d for d, n in enumerate(repeated.times) if n > 1]
    order = (*range(repeating[0], len(shape)), *range(repeating[0]))
    for dim in repeating:
        walk = LineWalk(shape[dim], reshape.result.shape[dim], 1, 1, 1, 0, repeated.times[dim])
        shape[dim] = reshape.result.shape[dim]
        made = reshape.result if dim == repeating[-1] else Tensor(next(fresh), tuple(shape), read.dtype)
        yield Window(path, read, dim, walk, 0.0, order, made)
        read = made
