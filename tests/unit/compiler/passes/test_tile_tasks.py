"""Nests are planned once for all knobs that they do not follow from."""

from dataclasses import replace

import pytest
from small_graphs import mlp

from compiler.errors import InvalidInputError
from compiler.graph.design import Design
from compiler.options import Knobs, TaskOverride
from compiler.passes.design_passes import planned, unsized
from compiler.platforms.platform import load_platform

GRAPH, U55C = mlp(32, 128, 160), load_platform("u55c")


def design(knobs: Knobs) -> Design:
    return unsized(GRAPH, knobs, U55C)


def test_other_knobs_change_no_nest():
    knobs = Knobs(overrides=(TaskOverride("up", unroll=2),))
    moved = replace(knobs, fifo="whole", prefetch_kib=64, slices=4).with_override(
        TaskOverride("down", weights="resident")
    )
    assert design(moved).nests is design(knobs).nests


def test_the_place_of_weights_beside_a_walk_changes_no_nest():
    walked, placed = (Knobs(overrides=(TaskOverride("up", 4, weights=weights),)) for weights in (None, "resident"))
    assert design(placed).nests is design(walked).nests


def test_a_walk_does():
    assert design(Knobs(overrides=(TaskOverride("up", unroll=2),))).nests != design(Knobs()).nests


def test_two_overrides_of_an_operation_are_planned_alike_with_and_without_its_text():
    twice = Knobs(overrides=(TaskOverride("up", kernel="begins"), TaskOverride("up", tile=4)))
    assert design(twice).nests == planned(GRAPH, twice, U55C).nests != design(Knobs()).nests


def test_an_override_that_only_places_weights_names_an_operation():
    with pytest.raises(InvalidInputError, match="there is no operation 'upp'"):
        design(Knobs(overrides=(TaskOverride("upp", weights="resident"),)))
