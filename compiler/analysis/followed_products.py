"""What takes the results of a product as they come: from the first one on, and not when a row is whole."""

from collections.abc import Container, Mapping
from functools import lru_cache
from typing import NamedTuple

from compiler.analysis.rows import row_loops
from compiler.graph.linalg_graph import LinalgGraph, LinalgOp
from compiler.graph.same import Same


class Following(NamedTuple):
    """A product whose results an operation takes as they come, and what adds up parts of them between the two; `behind`
    where it waits for all rows of a cache, but only for a part of each (`compiler.analysis.row_parts`).
    """

    product: str
    adders: tuple[str, ...] = ()
    behind: bool = False


def followed_products(graph: LinalgGraph) -> Mapping[str, Following]:
    """By operation what it follows: directly, or through what passes it on. The latest, where it has several. What also
    waits for something else, as for the mean of a row, follows none.
    """
    return _followed(Same(graph))


def followed_with(graph: LinalgGraph, op: LinalgOp) -> Following | None:
    """What an operation follows, or itself where it is a product; None for what follows none."""
    return Following(op.name) if op.is_contraction else followed_products(graph).get(op.name)


@lru_cache(maxsize=256)
def _followed(same: Same[LinalgGraph]) -> Mapping[str, Following]:
    graph, found, rows = same.value, dict[str, Following](), row_loops(same.value)
    place = {op.name: n for n, op in enumerate(graph.ops)}
    for op in graph.ops:
        sources = [
            Following(source.name) if source.is_contraction else _passed_on(graph, source, found, rows)
            for source in graph.sources(op)
            if not _brings_parameters(graph, source)
        ]
        known = [following for following in sources if following is not None]
        if known and len(known) == len(sources) and not op.is_contraction:
            found[op.name] = max(known, key=lambda following: (place[following.product], following.behind))
    return found


def _brings_parameters(graph: LinalgGraph, op: LinalgOp) -> bool:
    """Whether all that it passes on are parameters, which are there before they are read."""
    return op.kind == "chunk" and all(graph.value[operand.value].role == "param" for operand in op.inputs)


def _passed_on(
    graph: LinalgGraph, source: LinalgOp, followed: Mapping[str, Following], rows: Container[str]
) -> Following | None:
    """What is followed through `source`: a reduction holds a row back until it is whole, except for the parts of a
    product that it adds up; one over rows of a cache, parts of these.
    """
    following = followed.get(source.name)
    if following is None or source.reduction is None:
        return following
    if any(before.is_contraction for before in graph.sources(source)):
        return following._replace(adders=(*following.adders, source.name))
    return following._replace(behind=True) if source.name in rows else None
