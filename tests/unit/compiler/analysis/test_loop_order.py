"""Loops outside a tile: parts that are told apart later are made by turns where their readers begin with the first."""

from dataclasses import replace

import pytest
from small_graphs import attention_front

from compiler.analysis.loop_order import loop_orders
from compiler.options import Knobs, TaskOverride

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
