"""A pass reads the knobs that its `options` name, of overrides what its `overrides` name, and nothing else."""

from dataclasses import fields, replace

import pytest
from plans import plans
from small_graphs import ALL, chain, mlp

from compiler.graph.design import Design
from compiler.graph.linalg_graph import LinalgGraph
from compiler.options import Knobs, TaskOverride
from compiler.passes.base import Pass
from compiler.passes.design_passes import DESIGN_PASSES
from compiler.passes.fuse_kernels import FuseKernels
from compiler.passes.materialize_dmas import MaterializeDmas
from compiler.passes.size_fifos import SizeFifos
from compiler.passes.tile_tasks import TileTasks

GRAPHS = {**{name: make() for name, make in ALL.items()}, "padded": mlp(19, 29, 256), "chain": chain(8, 8, 8)}
GRAPHS["large"] = mlp(32, 128, 160)
POINT = Knobs(
    default_tile_size=8,
    overall_unroll=64,
    fusion_budget=512,
    stream_width=1024,
    engines="shared",
    loads="joint",
    unrolling="worth",
    weights="resident",
)
OTHER = Knobs(
    default_tile_size=4,
    overall_unroll=8,
    order="reduction-outer",
    overrides=(
        TaskOverride("up", unroll=1, weights="streamed"),
        TaskOverride("act", kernel="begins"),
        TaskOverride("down", tile=4, order=(1, 2, 0)),
    ),
    fusion_budget=1 << 20,
    fifo="whole",
    hbm_channels=4,
    stream_width=64,
    multiplier="dsp_packed",
    fusion_plan="greedy",
    prefetch_kib=64,
    max_padding=0,
    converters="paper",
    engines="own",
    slices=4,
    loads="own",
    unrolling="slowest",
    weights="streamed",
    rows=4,
)
OF_OVERRIDES = "overrides."
KNOBS = {field.name for field in fields(Knobs)} - {"overrides"}
KNOBS |= {OF_OVERRIDES + field.name for field in fields(TaskOverride)} - {"overrides.op"}
# What makes no difference to networks as small as these.
ELSEWHERE = {
    (TileTasks, "multiplier"),
    (TileTasks, "weights"),
    (FuseKernels, "fusion_plan"),
    (SizeFifos, "fifo"),  # what shift registers hold is enough
    (SizeFifos, "prefetch_kib"),
    (MaterializeDmas, "loads"),
}


def reads(pass_: type[Pass]) -> set[str]:
    return {*pass_.options, *(OF_OVERRIDES + name for name in pass_.overrides)}


def overridden(knob: str) -> bool:
    return knob.startswith(OF_OVERRIDES)


def with_other(knob: str) -> Knobs:
    """The point with another value of one knob."""
    if overridden(knob):
        return replace(POINT, overrides=OTHER.overriding((knob.removeprefix(OF_OVERRIDES),)))
    return replace(POINT, **{knob: getattr(OTHER, knob)})


def outcomes(pass_: type[Pass], graph: LinalgGraph, knob: str) -> tuple[Design, Design]:
    """The design after a pass, and with another value of one knob for this pass alone."""
    designs = list(plans(graph, POINT).values())
    number = DESIGN_PASSES.index(pass_)
    return designs[number + 1], pass_(with_other(knob)).run(designs[number])


def graphs_for(knob: str) -> list[LinalgGraph]:
    """Those that have the operations of overrides."""
    return [graph for graph in GRAPHS.values() if not overridden(knob) or {"up", "act", "down"} <= graph.op.keys()]


@pytest.mark.parametrize("pass_", DESIGN_PASSES, ids=lambda pass_: pass_.name)
def test_no_other_knob_is_read(pass_: type[Pass]) -> None:
    for knob in KNOBS - reads(pass_):
        for graph in graphs_for(knob):
            planned, changed = outcomes(pass_, graph, knob)
            assert changed == planned, f"{pass_.name} reads {knob}"


@pytest.mark.parametrize(
    ("pass_", "knob"),
    [(pass_, knob) for pass_ in DESIGN_PASSES for knob in sorted(reads(pass_)) if (pass_, knob) not in ELSEWHERE],
)
def test_every_option_is_read(pass_: type[Pass], knob: str) -> None:
    pairs = (outcomes(pass_, graph, knob) for graph in graphs_for(knob))
    assert any(changed != planned for planned, changed in pairs)


def test_every_knob_is_read() -> None:
    assert {knob for pass_ in DESIGN_PASSES for knob in reads(pass_)} == KNOBS


def test_a_pass_is_one_for_all_knobs_that_it_does_not_read() -> None:
    for pass_ in DESIGN_PASSES:
        for knob in KNOBS:
            assert (pass_.reading(with_other(knob)) is pass_.reading(POINT)) == (knob not in reads(pass_))
            assert pass_.reading(with_other(knob)).knobs.overrides == with_other(knob).overriding(pass_.overrides)
