"""Common factors: every dimension and loop of a module split so that reshapes become relabellings.

A dimension of extent N is described by its *cuts*: the inner extents at which something splits it. 2304 cut at 64
and 768 is 3 x 12 x 64. Dimensions that a loop walks together share one description; a reshape maps the cuts of the
wide dimension to those of the narrow ones and back. The factors between neighbouring cuts are the *atoms*.
"""

from collections import deque
from dataclasses import dataclass
from itertools import pairwise
from math import prod

from compiler.errors import UnsupportedError
from compiler.frontend.lowering.source import Concat, Generic, Reshape, Slice, SourceModule, Tensor, Window

DimKey = tuple[int, int]  # tensor number, dimension


@dataclass
class _Axis:
    """One class of dimensions: extent, cuts, and whether it must stay whole (an axis of a concat, a chunk's parts)."""

    extent: int
    cuts: set[int]
    whole: str = ""


@dataclass(frozen=True)
class _Split:
    """`wide` is the row-major product of `narrow`, outermost first; `where` names the operation for messages."""

    wide: int
    narrow: tuple[int, ...]
    where: str


def _is_filled(op: Generic) -> bool:
    """Whether all elements of its results are one number."""
    tensors = any(isinstance(source, Tensor) for source in (*op.inputs, *op.inits))
    return not tensors and all(step.loop is None for step in op.steps)


class Atoms:
    """Factors of every tensor dimension of a module: `of(tensor, dim)`, outermost first; none for extent 1."""

    def __init__(self, module: SourceModule) -> None:
        self._parent: list[int] = []
        self._axes: list[_Axis] = []
        self._dims: dict[DimKey, int] = {}
        self._splits: list[_Split] = []
        self._filled: set[int] = set()  # tensors of one number
        for tensor in module.arguments:
            self._declare(tensor)
        for op in module.ops:
            match op:
                case Generic():
                    self._generic(op)
                case Reshape():
                    self._reshape(op)
                case Slice():
                    self._slice(op)
                case Concat():
                    self._concat(op)
                case Window():
                    self._window(op)
        self._propagate()

    def of(self, tensor: Tensor, dim: int) -> tuple[int, ...]:
        """Raises UnsupportedError where the cuts of one dimension do not divide each other."""
        axis = self._axes[self._find(self._dims[tensor.number, dim])]
        bounds = [1, *sorted(axis.cuts), axis.extent]
        if axis.extent == 1:
            return ()
        if any(outer % inner for inner, outer in pairwise(bounds)):
            raise UnsupportedError(f"a dimension of {axis.extent} is split at {sorted(axis.cuts)}: no common factors")
        if axis.whole and axis.cuts:
            raise UnsupportedError(f"{axis.whole} needs a dimension of {axis.extent} whole; it is split elsewhere")
        return tuple(outer // inner for inner, outer in pairwise(bounds))[::-1]

    def torn(self, tensor: Tensor, dim: int) -> bool:
        """Whether a dimension that must stay whole is split."""
        axis = self._axes[self._find(self._dims[tensor.number, dim])]
        return bool(axis.whole and axis.cuts)

    def flat(self, tensor: Tensor) -> tuple[int, ...]:
        """The atoms of all dimensions, row-major."""
        return tuple(a for dim in range(len(tensor.shape)) for a in self.of(tensor, dim))

    def _new(self, extent: int, whole: str = "") -> int:
        self._parent.append(len(self._parent))
        self._axes.append(_Axis(extent, set(), whole))
        return len(self._parent) - 1

    def _find(self, axis: int) -> int:
        while (parent := self._parent[axis]) != axis:
            self._parent[axis] = self._parent[parent]  # halves the way of the next one who asks
            axis = self._parent[axis]
        return axis

    def _unite(self, a: int, b: int) -> None:
        a, b = self._find(a), self._find(b)
        if a == b:
            return
        self._parent[b] = a
        self._axes[a].cuts |= self._axes[b].cuts
        self._axes[a].whole = self._axes[a].whole or self._axes[b].whole

    def _declare(self, tensor: Tensor) -> None:
        for dim, extent in enumerate(tensor.shape):
            self._dims[tensor.number, dim] = self._new(extent)

    def _dim(self, tensor: Tensor, dim: int) -> int:
        return self._dims[tensor.number, dim]

    def _generic(self, op: Generic) -> None:
        for result in op.results:
            self._declare(result)
        first: dict[int, int] = {}
        written = op.maps[len(op.inputs) :]
        if _is_filled(op):
            self._filled.update(result.number for result in op.results)
        outputs = (*zip(op.results, written, strict=True), *zip(op.inits, written, strict=True))
        for tensor, dims in (*zip(op.inputs, op.maps, strict=False), *outputs):
            # Operations that have nothing to do with one another start from the same zeros.
            if not isinstance(tensor, Tensor) or (tensor in op.inits and tensor.number in self._filled):
                continue
            for dim, loop in enumerate(dims):
                if loop is not None:
                    self._unite(first.setdefault(loop, self._dim(tensor, dim)), self._dim(tensor, dim))

    def _reshape(self, op: Reshape) -> None:
        self._declare(op.result)
        for sources, results in op.groups:
            wide, narrow = (op.source, sources), (op.result, results)
            if len(sources) > 1:
                wide, narrow = narrow, wide
            (wide_dim,) = wide[1]
            longer = [d for d in narrow[1] if narrow[0].shape[d] > 1]
            if len(longer) == 1:
                self._unite(self._dim(wide[0], wide_dim), self._dim(narrow[0], longer[0]))
                continue
            parts = tuple(self._dim(narrow[0], d) for d in narrow[1])
            self._splits.append(_Split(self._dim(wide[0], wide_dim), parts, op.path))

    def _slice(self, op: Slice) -> None:
        self._declare(op.result)
        for dim, (extent, part) in enumerate(zip(op.source.shape, op.result.shape, strict=True)):
            if extent == part:
                self._unite(self._dim(op.source, dim), self._dim(op.result, dim))
                continue
            if extent % part or op.offsets[dim] % part:
                raise UnsupportedError(
                    f"the slice at {op.path} takes {part} of {extent} from {op.offsets[dim]}; only equal parts work"
                )
            parts = self._new(extent // part, f"the chunk at {op.path}")
            self._splits.append(_Split(self._dim(op.source, dim), (parts, self._dim(op.result, dim)), op.path))

    def _concat(self, op: Concat) -> None:
        self._declare(op.result)
        for source in op.sources:
            for dim in range(len(source.shape)):
                if dim != op.dim:
                    self._unite(self._dim(source, dim), self._dim(op.result, dim))
        for tensor in (*op.sources, op.result):
            self._axes[self._find(self._dim(tensor, op.dim))].whole = f"the concatenation at {op.path}"

    def _window(self, op: Window) -> None:
        """Lines, windows and taps are whole; what else the tensor has goes through."""
        self._declare(op.result)
        for dim in range(len(op.source.shape)):
            if dim != op.dim:
                self._unite(self._dim(op.source, dim), self._dim(op.result, dim))
        ends = [(op.result, dim) for dim in range(len(op.source.shape), len(op.result.shape))]
        for tensor, dim in ((op.source, op.dim), (op.result, op.dim), *ends[-1:]):
            self._axes[self._find(self._dim(tensor, dim))].whole = f"the window at {op.path}"

    def _propagate(self) -> None:
        """To a fixpoint: a split is looked at again when one of its dimensions has new cuts."""
        reached: dict[int, list[int]] = {}
        for number, split in enumerate(self._splits):
            for axis in {self._find(a) for a in (split.wide, *split.narrow)}:
                reached.setdefault(axis, []).append(number)
        waiting = deque(range(len(self._splits)))
        queued = set(waiting)
        while waiting:
            number = waiting.popleft()
            queued.discard(number)
            split = self._splits[number]
            for axis in (*self._push(split), *self._pull(split)):
                waiting.extend(n for n in reached[axis] if n not in queued)
                queued.update(reached[axis])

    def _push(self, split: _Split) -> list[int]:
        """Cuts of the narrow dimensions, and the borders between them, are cuts of the wide one: it, where it is cut
        anew.
        """
        root = self._find(split.wide)
        wide = self._axes[root]
        before = len(wide.cuts)
        inner = 1
        for part in reversed(split.narrow):
            axis = self._axes[self._find(part)]
            wide.cuts |= {inner * cut for cut in (1, *axis.cuts)}
            inner *= axis.extent
        wide.cuts -= {1, wide.extent}
        return [root] if len(wide.cuts) != before else []

    def _pull(self, split: _Split) -> list[int]:
        """Cuts of the wide dimension that fall inside a narrow one are cuts of that one: those that are cut anew."""
        wide = self._axes[self._find(split.wide)]
        changed: list[int] = []
        for position, part in enumerate(split.narrow):
            root = self._find(part)
            axis = self._axes[root]
            inner = prod(self._axes[self._find(p)].extent for p in split.narrow[position + 1 :])
            inside = {cut for cut in wide.cuts if inner < cut < inner * axis.extent}
            if any(cut % inner for cut in inside):
                raise UnsupportedError(f"the reshape at {split.where} splits {wide.extent} at {sorted(wide.cuts)}")
            new = {cut // inner for cut in inside} - axis.cuts
            axis.cuts |= new
            changed += [root] if new else []
        return changed
