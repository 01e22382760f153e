"""Loops outside a tile: parts that are told apart later are made by turns where their readers begin with the first;
those that are added up are outermost where the adders take turns.
"""

from dataclasses import replace

import pytest
from grouped_products import grouped
from plans import U55C
from small_graphs import attention_front

from compiler.analysis.loop_order import loop_orders
from compiler.analysis.tiling import sharing
from compiler.options import Engines, Knobs, LoopOrder, TaskOverride

PARTS, HEADS, SIZE, SUMMED = range(4)


@pytest.mark.parametrize(
    ("past", "order"),
    [
        (127, (HEADS, SIZE, PARTS, SUMMED)),
        (3, (PARTS, HEADS, SIZE, SUMMED)),  # scores of a head are too few: heads are not told apart
    ],
)
def test_queries_keys_and_values_of_one_head_are_made_before_those_of_the_next(
    past: int, order: tuple[int, ...]
) -> None:
    graph = attention_front(past=past)
    found = loop_orders(graph, Knobs())
    assert found["qkv"] == order
    assert found["split"] == order[:-1]
    chosen = replace(Knobs(), overrides=(TaskOverride("qkv", order=(1, 0)),))
    assert loop_orders(graph, chosen)["qkv"] == (SUMMED, *order[:-1])


@pytest.mark.parametrize(
    ("engines", "order", "outermost", "groups_of_a_tile"),
    [
        ("shared", "reduction-outer", 3, 1),
        ("own", "reduction-outer", 4, 2),  # no turn of others is waited for
        ("shared", "reduction-inner", 0, 2),
    ],
)
def test_groups_are_outermost_where_what_adds_them_up_takes_turns(
    engines: Engines, order: LoopOrder, outermost: int, groups_of_a_tile: int
) -> None:
    knobs = Knobs(default_tile_size=8, engines=engines, order=order)
    walks = {part.op.name: part.walk for parts in sharing(grouped(), knobs, U55C) for part in parts}
    assert [(walks[p].outer[0], walks[p].tile[3]) for p in ("op_p0", "op_p1")] == [(outermost, groups_of_a_tile)] * 2
    assert [walks[d].tile[3] for d in ("op_d0", "op_d1")] == [groups_of_a_tile] * 2
