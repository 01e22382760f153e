"""share-engines: matrix products take turns at the same lanes (level 3 of the design space).

Lanes are what most of a design's area is. A product that waits for the one before it leaves them idle; where it uses
the same ones, all of them work in every turn, at the price of a drained pipeline between two turns.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import count

from typing_extensions import override

from compiler.analysis.names import c_name
from compiler.graph.design import Design, Engine
from compiler.graph.engine import Served, Turn, served, slicing
from compiler.options import Multiplier
from compiler.passes.base import Pass


def _names(design: Design) -> Iterator[str]:
    """Of engines: none that an operation or a value has, or begins with, since tasks around an engine are called after
    it.
    """
    taken = [f"{c_name(named.name)}_" for named in (*design.graph.ops, *design.graph.values)]
    names = (f"engine{n}" for n in count())
    return (name for name in names if not any(other.startswith(f"{name}_") for other in taken))


class ShareEngines(Pass):
    """Put operations of a kernel that fit one another at one engine, in the order in which they stand. One that fits no
    other, or is outside of layers, keeps its own lanes, and all do unless `engines` is `shared`. An engine is cut into
    as many equal slices as its lanes allow, `slices` at most.

    Assumes nests by which operations fit (`tile-tasks`) and bound multipliers.
    """

    name = "share-engines"
    options = ("engines", "slices")

    @override
    def run(self, design: Design) -> Design:
        self.expect_kernels(design)
        if self.knobs.engines == "own":
            return design
        groups: dict[tuple[int, Multiplier | None, Served], list[str]] = {}
        for op in design.graph.ops:
            if op.name in design.graph.outside:  # its turns would be in no layer
                continue
            if (wanted := served(Turn(op, design.nests[op.name]))) is not None:
                engine = design.kernel_of[op.name], design.multipliers.get(op.name), wanted
                groups.setdefault(engine, []).append(op.name)
        shared = [group for group in groups.values() if len(group) > 1]
        named = zip(_names(design), shared, strict=False)
        return replace(design, engines={name: self._engine(design, group) for name, group in named})

    def _engine(self, design: Design, group: list[str]) -> Engine:
        first = group[0]
        cut = slicing(Turn(design.graph.op[first], design.nests[first]), self.knobs.slices)
        return Engine(design.kernel_of[first], tuple(group), 1 if cut is None else cut.slices)
