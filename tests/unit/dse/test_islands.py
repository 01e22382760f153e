from dataclasses import replace

import pytest
from evaluations import evaluated
from small_graphs import mlp
from small_searches import MemorySink, toy

from compiler.options import Knobs
from compiler.platforms.platform import load_platform
from dse.explore import EvaluatedDesign, SearchOptions, search
from dse.islands import exchanged, search_islands

OPTIONS = SearchOptions(400, islands=3, jobs=1)


def test_islands_spend_the_budget_on_different_accelerators() -> None:
    sink = MemorySink()
    designs, searches = search_islands(mlp(), load_platform("u55c"), OPTIONS, sink, toy)
    assert len(designs) == OPTIONS.budget == len({d.key for d in designs})
    assert [d.number for d in designs] == sorted({d.number for d in designs})
    assert len(searches) > 6
    assert len(sink.designs) > OPTIONS.budget, "this is no test of designs that two islands find"
    again, _ = search_islands(mlp(), load_platform("u55c"), OPTIONS, MemorySink(), toy)
    assert designs == again


def test_each_island_starts_elsewhere_and_learns_from_the_others() -> None:
    sink = MemorySink()
    search_islands(mlp(), load_platform("u55c"), OPTIONS, sink, toy)
    first, second = ({d.key for d in sink.designs if start <= d.number < start + 64} for start in (0, 64))
    assert len(first & second) < 16
    later = {d.key for d in sink.designs if d.number >= 192}
    assert later.isdisjoint(first | second), "an island has evaluated what another one told"


def test_one_island_is_a_search_by_itself() -> None:
    one = replace(OPTIONS, islands=1)
    alone = search(mlp(), load_platform("u55c"), one, MemorySink(), evaluator=toy)
    assert search_islands(mlp(), load_platform("u55c"), one, MemorySink(), toy)[0] == list(alone.designs)


@pytest.mark.parametrize("accelerators", [("a", "a"), (None, None)])
def test_of_two_alike_the_first_by_number_counts(accelerators: tuple[str | None, str | None]) -> None:
    knobs, key = Knobs(), ("k0", "k1") if accelerators[0] else ("k", "k")
    found = [
        EvaluatedDesign(number, knobs, replace(evaluated(knobs, 1.0, 1.0), accelerator=a), k)
        for number, a, k in zip((5, 2), accelerators, key, strict=True)
    ]
    other = EvaluatedDesign(9, knobs, replace(evaluated(knobs, 1.0, 1.0), accelerator="b"), "other")
    assert exchanged([], [other, *found]) == [found[1], other]
    assert exchanged([found[0]], [found[1], other]) == [found[0], other], "what is history stays"
