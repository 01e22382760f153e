"""The accelerator that the search evaluates is the one that is compiled: IR says all that a design is, after every pass
(design section 3, "One path").
"""

from collections.abc import Collection

import pytest
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from layered_networks import folded_layers, folded_whole
from plans import U55C, plans
from random_networks import EVEN, PRIME, networks
from small_graphs import ALL as SMALL

from compiler.analysis.build import task_graph
from compiler.graph.design import Design
from compiler.graph.linalg_graph import LinalgGraph, Reduction
from compiler.ir.read import parse_design
from compiler.ir.write import design_text
from compiler.options import Knobs, TaskOverride
from compiler.passes.design_passes import DESIGN_PASSES, planned
from compiler.pipeline import STAGES

ALL = {**SMALL, "layers": folded_layers, "whole": folded_whole}


@st.composite
def knobs(draw: st.DrawFn, graph: LinalgGraph) -> Knobs:
    """Any point of the design space, overrides included; small budgets cut the network into several kernels."""
    overrides: list[TaskOverride] = []
    generic = [op for op in graph.ops if op.kind == "generic"]
    chosen = st.lists(st.sampled_from(generic), max_size=2, unique_by=lambda op: op.name) if generic else st.just([])
    for op in draw(chosen):
        order = draw(st.none() | st.permutations(sorted(set(op.groups))))
        overrides.append(
            TaskOverride(
                op.name,
                draw(st.none() | st.integers(1, 32)),
                draw(st.none() | st.integers(1, 32)),
                tuple(order) if order is not None else None,
            )
        )
    return Knobs(
        default_tile_size=draw(st.integers(1, 32)),
        overall_unroll=draw(st.integers(1, 128)),
        order=draw(st.sampled_from(["reduction-inner", "reduction-outer"])),
        overrides=tuple(overrides),
        fusion_budget=draw(st.sampled_from([0, 64, 256, 1024, 1 << 20])),
        fusion_plan=draw(st.sampled_from(["greedy", "traffic"])),
        converters=draw(st.sampled_from(["exact", "paper"])),
        prefetch_kib=draw(st.sampled_from([0, 1, 64])),
        fifo=draw(st.sampled_from(["conservative", "normal", "whole"])),
        hbm_channels=draw(st.integers(1, 4)),
        stream_width=draw(st.sampled_from([32, 64, 256, 512, 1024])),
        multiplier=draw(st.sampled_from(["fabric", "dsp", "dsp_packed"])),
        engines=draw(st.sampled_from(["own", "shared"])),
        unrolling=draw(st.sampled_from(["slowest", "worth"])),
        weights=draw(st.sampled_from(["streamed", "resident"])),
        rows=draw(st.sampled_from([1, 2])),
        slices=draw(st.sampled_from([1, 2, 4])),
        loads=draw(st.sampled_from(["own", "joint"])),
        max_padding=draw(st.sampled_from([0, 12, 50])),
    )


def written_and_read(design: Design, stage: str) -> Design:
    """What the text of a design after `stage` says, which must be the design."""
    text = design_text(design, f"after {stage}")
    found = parse_design(text, U55C)
    assert found == design, stage
    assert found.leaving == design.leaving, f"{stage}: copies are in another order"
    assert design_text(found, "again") == text
    return found


def check(graph: LinalgGraph, point: Knobs, stages: Collection[str] = STAGES[:-1]) -> None:
    """The last stage, and these."""
    graph.verify()
    designs = plans(graph, point)
    *_, last = (written_and_read(designs[stage], stage) for stage in dict.fromkeys((*stages, DESIGN_PASSES[-1].name)))
    tasks = task_graph(last)
    tasks.verify()
    assert tasks == task_graph(planned(graph, point, U55C))


@settings(max_examples=examples(40))
@given(st.data())
def test_ir_says_all_that_a_design_is(data: st.DataObject) -> None:
    """Two of the stages before the last in each: a text takes longer than the passes."""
    graph = data.draw(st.sampled_from([make() for make in ALL.values()]) | networks(EVEN) | networks(PRIME))
    stages = data.draw(st.lists(st.sampled_from(STAGES[:-2]), min_size=2, max_size=2, unique=True))
    check(graph, data.draw(knobs(graph)), stages)


CORNERS = (
    Knobs(),
    Knobs(default_tile_size=8, overall_unroll=32, fusion_budget=64, multiplier="dsp"),
    Knobs(default_tile_size=8, overall_unroll=32, fusion_budget=512, multiplier="dsp"),
    Knobs(order="reduction-outer", fifo="whole", hbm_channels=4, stream_width=1024),
)


@pytest.mark.slow
@pytest.mark.parametrize("point", CORNERS)
@pytest.mark.parametrize("name", sorted(ALL))
def test_corners_of_the_design_space(name: str, point: Knobs) -> None:
    check(ALL[name](), point)


def test_reduction_with_infinite_start_keeps_it() -> None:
    design = plans(ALL["softmax"](), Knobs())["import-linalg"]
    assert written_and_read(design, "import-linalg").graph.op["max"].reduction == Reduction("max", float("-inf"))
