"""Knobs that change nothing, against designs that are planned with and without them."""

from random import Random

import pytest
from small_graphs import mlp

from bench.repeats import content
from compiler.errors import MillraceError
from compiler.options import Knobs, TaskOverride
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import load_platform
from dse.inert import inert_knobs
from dse.space import DesignSpace

MLP, U55C = mlp(), load_platform("u55c")


def test_each_knob_alone_against_its_default():
    space, met, inert = DesignSpace(MLP, U55C), set[str](), set[str]()
    for seed in range(40):
        rng = Random(seed)
        knobs = space.vary(space.default_knobs()[seed % 5], rng.randint(1, 6), rng)
        try:
            found, built = inert_knobs(MLP, knobs, U55C), planned_tasks(MLP, knobs, U55C)
        except MillraceError:
            continue
        inert.update(found)
        for name, default in ((f, getattr(Knobs(), f)) for f in ("slices", "prefetch_kib", "fusion_budget", "engines")):
            changed = getattr(knobs, name) != default
            without = planned_tasks(MLP, Knobs.from_json(knobs.to_json() | {name: default}), U55C)
            assert (name in found) == (changed and content(without) == content(built))
            met.update({name} if changed else ())
    assert met >= {"slices", "prefetch_kib", "engines"}
    assert inert


def test_fields_of_overrides_are_told_apart():
    op = next(op.name for op in MLP.ops if op.is_contraction)
    knobs = Knobs(overrides=(TaskOverride(op, tile=Knobs().default_tile_size, unroll=2),))
    assert inert_knobs(MLP, knobs, U55C) == (f"{op}.tile",)
    assert inert_knobs(MLP, Knobs(), U55C) == ()


def test_a_design_that_can_not_be_built_is_refused():
    op = next(op.name for op in MLP.ops if op.is_contraction)
    with pytest.raises(MillraceError, match=op):
        inert_knobs(MLP, Knobs(overrides=(TaskOverride(op, order=(0, 0, 0)),)), U55C)
