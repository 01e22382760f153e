"""A pass reads the knobs that its `options` name, and no others."""

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
        TaskOverride("down", tile=4),
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
KNOBS = {field.name for field in fields(Knobs)}
# What makes no difference to networks as small as these.
ELSEWHERE = {
    (TileTasks, "multiplier"),
    (TileTasks, "weights"),
    (FuseKernels, "fusion_plan"),
    (SizeFifos, "fifo"),  # what shift registers hold is enough
    (SizeFifos, "prefetch_kib"),
    (MaterializeDmas, "loads"),
}


def outcomes(pass_: type[Pass], graph: LinalgGraph, knob: str) -> tuple[Design, Design]:
    """The design after a pass, and with another value of one knob for this pass alone."""
    designs = list(plans(graph, POINT).values())
    number = DESIGN_PASSES.index(pass_)
    changed = replace(POINT, **{knob: getattr(OTHER, knob)})
    return designs[number + 1], pass_(changed).run(designs[number])


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("pass_", DESIGN_PASSES, ids=lambda pass_: pass_.name)
def test_no_other_knob_is_read(pass_: type[Pass], name: str) -> None:
    for knob in KNOBS - set(pass_.options):
        planned, changed = outcomes(pass_, GRAPHS[name], knob)
        assert changed == planned, f"{pass_.name} reads {knob}"


@pytest.mark.parametrize(
    ("pass_", "knob"),
    [(pass_, knob) for pass_ in DESIGN_PASSES for knob in pass_.options if (pass_, knob) not in ELSEWHERE],
)
def test_every_option_is_read(pass_: type[Pass], knob: str) -> None:
    with_overridden = [graph for graph in GRAPHS.values() if knob != "overrides" or {"up", "down"} <= graph.op.keys()]
    pairs = (outcomes(pass_, graph, knob) for graph in with_overridden)
    assert any(changed != planned for planned, changed in pairs)


def test_every_knob_is_read() -> None:
    assert {knob for pass_ in DESIGN_PASSES for knob in pass_.options} == KNOBS
