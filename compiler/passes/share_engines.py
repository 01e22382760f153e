"""share-engines: products, and what adds up their parts, take turns at the same lanes (level 3 of the design space).

Lanes are what most of a design's area is. A product that waits for the one before it leaves them idle; where it uses
the same ones, all of them work in every turn, at the price of a drained pipeline between two turns.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import count

from typing_extensions import override

from compiler.analysis.names import c_name
from compiler.analysis.operators import initiation_interval
from compiler.graph.design import Design, Engine
from compiler.graph.engine import Served, Turn, served, slicing
from compiler.graph.linalg_graph import LinalgOp
from compiler.options import Multiplier
from compiler.passes.base import Pass

Source = int | tuple[int, str, int]
"""Of operations that may share an engine: their kernel; where they read the results of one, it and their interval."""


def _names(design: Design) -> Iterator[str]:
    """Of engines: none that an operation or a value has, or begins with, since tasks around an engine are called after
    it.
    """
    taken = [f"{c_name(named.name)}_" for named in (*design.graph.ops, *design.graph.values)]
    names = (f"engine{n}" for n in count())
    return (name for name in names if not any(other.startswith(f"{name}_") for other in taken))


class ShareEngines(Pass):
    """Put products of a kernel that fit one another at one engine, in the order in which they stand, and what adds up
    the parts of such products at a second one: it takes its turns as they do, so that nothing waits for it. One that
    fits no other, or is in front of layers, keeps its own lanes, and all do unless `engines` is `shared`. One behind
    layers has its turn when these have done theirs. An engine is cut into as many equal slices as its lanes allow,
    `slices` at most, and computes `rows` of a prompt side by side.

    Assumes nests by which operations fit (`tile-tasks`) and bound multipliers.
    """

    name = "share-engines"
    options = ("engines", "slices", "rows")

    @override
    def run(self, design: Design) -> Design:
        self.expect_kernels(design)
        if self.knobs.engines == "own":
            return design
        graph = design.graph
        of_layers = {op.name for op in graph.ops} - set(graph.outside)
        taking = [op for op in graph.ops if op.name not in graph.in_front]
        names, engines = _names(design), dict[str, Engine]()
        for of in (_product, _sum_of_parts):
            groups: dict[tuple[Source, Multiplier | None, Served], list[str]] = {}
            for op in taking:
                source, wanted = of(design, engines, op), served(Turn(op, design.nests[op.name]))
                if source is not None and wanted is not None:
                    groups.setdefault((source, design.multipliers.get(op.name), wanted), []).append(op.name)
            shared = [group for group in groups.values() if len(group) > 1 and not of_layers.isdisjoint(group)]
            engines |= {name: self._engine(design, group) for group, name in zip(shared, names, strict=False)}
        return replace(design, engines=engines)

    def _engine(self, design: Design, group: list[str]) -> Engine:
        first = group[0]
        cut = slicing(Turn(design.graph.op[first], design.nests[first]), self.knobs.slices)
        slices = 1 if cut is None else cut.slices
        return Engine(design.kernel_of[first], tuple(group), slices, rows=self.knobs.rows)


def _product(design: Design, _: Mapping[str, Engine], op: LinalgOp) -> Source | None:
    """The kernel of a matrix product."""
    return design.kernel_of[op.name] if op.is_contraction else None


def _sum_of_parts(design: Design, engines: Mapping[str, Engine], op: LinalgOp) -> Source | None:
    """The kernel of what adds up the parts of a product, the engine that makes them, and the cycles between two starts:
    one with few results, which start seldom, would slow down all others.
    """
    sources = {source.name for source in design.graph.sources(op)}
    found = next((name for name, engine in engines.items() if sources & set(engine.turns)), None)
    if op.is_contraction or found is None:
        return None
    nest, multiplier = design.nests[op.name], design.multipliers.get(op.name, "fabric")
    interval = initiation_interval(op, nest, multiplier, design.platform, nest.accumulators(op.iterators))
    return design.kernel_of[op.name], found, interval
