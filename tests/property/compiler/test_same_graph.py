"""The accelerator that the search evaluates is the one that is compiled: equal TaskGraphs (design section 3)."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_networks import EVEN, PRIME, networks
from small_graphs import ALL
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from compiler.analysis.padding import pad
from compiler.analysis.read_back import linalg_of, read_back
from compiler.dialects.context import design_context
from compiler.graph.linalg_graph import LinalgGraph, Reduction
from compiler.options import Knobs, TaskOverride
from compiler.passes.design_passes import planned_tasks
from compiler.passes.runner import print_module, run_passes
from compiler.platforms.platform import load_platform
from compiler.transforms.import_linalg import import_linalg
from compiler.transforms.pipeline_passes import design_passes

PLATFORM = load_platform("u55c")


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
        max_padding=draw(st.sampled_from([0, 12, 50])),
    )


def compile_to_ir(graph: LinalgGraph, point: Knobs) -> ModuleOp:
    module = import_linalg(graph)
    run_passes(module, design_passes(point, PLATFORM), design_context())
    return module


@settings(max_examples=120)
@given(st.data())
def test_compiled_design_is_the_searched_one(data: st.DataObject) -> None:
    graph = data.draw(st.sampled_from([make() for make in ALL.values()]) | networks(EVEN) | networks(PRIME))
    graph.verify()
    point = data.draw(knobs(graph))
    searched = planned_tasks(graph, point, PLATFORM)
    searched.verify()
    assert read_back(compile_to_ir(graph, point), PLATFORM) == searched


CORNERS = (
    Knobs(),
    Knobs(default_tile_size=8, overall_unroll=32, fusion_budget=64, multiplier="dsp"),
    Knobs(order="reduction-outer", fifo="whole", hbm_channels=4, stream_width=1024),
)


@pytest.mark.parametrize("point", CORNERS)
@pytest.mark.parametrize("name", sorted(ALL))
def test_corners_of_the_design_space(name: str, point: Knobs) -> None:
    graph = ALL[name]()
    assert read_back(compile_to_ir(graph, point), PLATFORM) == planned_tasks(graph, point, PLATFORM)


@settings(max_examples=40)
@given(networks(PRIME), st.sampled_from([0, 50]))
def test_import_keeps_everything(graph: LinalgGraph, max_padding: int) -> None:
    graph = pad(graph, Knobs(max_padding=max_padding))
    back = linalg_of(import_linalg(graph))
    assert replace(back, values=()) == replace(graph, values=())
    assert set(back.values) == set(graph.values)


@pytest.mark.parametrize("name", sorted(ALL))
def test_every_stage_parses_back(name: str) -> None:
    module = import_linalg(ALL[name]())
    stages: list[str] = []

    def check(number: int, pass_name: str, stage: ModuleOp) -> None:
        assert number == len(stages) + 1
        stages.append(pass_name)
        text = print_module(stage)
        parsed = Parser(design_context(), text).parse_module()
        parsed.verify()
        assert parsed.is_structurally_equivalent(stage), pass_name
        assert print_module(parsed) == text

    point = Knobs(default_tile_size=8, overall_unroll=32, fusion_budget=512, multiplier="dsp")
    passes = design_passes(point, PLATFORM)
    run_passes(module, passes, design_context(), check)
    assert stages == [pass_.name for pass_ in passes]


def test_reduction_with_infinite_start_keeps_it() -> None:
    graph = ALL["softmax"]()
    back = linalg_of(import_linalg(graph))
    assert back.op["max"].reduction == Reduction("max", float("-inf"))
