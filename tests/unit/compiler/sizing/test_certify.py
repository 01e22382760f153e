"""Certified depths of kernels by hand: what they come to, why, what is left alone, and starts that are no good."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, get_args

import pytest
from certificate import BOARD, check, trial_of
from cycle_reference import run_reference
from sizable_graphs import BY_HAND, depth_four, first, last, loaded, residual, softmax_rows, stream, task
from sizable_graphs import graph as made

from compiler.analysis.memory_steps import is_free, price
from compiler.errors import VerificationError
from compiler.graph.program import Access
from compiler.graph.task_graph import PipelineStyle, TaskGraph
from compiler.simulator.timing.simulate import simulate
from compiler.sizing import certify as module
from compiler.sizing.certify import NOT_TRIED, WORK, Sizing, as_given, certify, size


def reasons(sizing: Sizing) -> dict[str, str]:
    return {s.name: s.reason for s in sizing.tasks.streams}


@pytest.mark.parametrize("name", BY_HAND)
def test_every_part_of_the_certificate_is_true(name: str):
    graph = BY_HAND[name]()
    sizing = certify(graph, BOARD)
    check(graph, sizing)
    assert certify(graph, BOARD) == sizing
    assert any(not is_free(s.width, s.depth, BOARD.memories) for s in sizing.tasks.streams)


@pytest.mark.parametrize("name", ["residual", "reconvergent", "quiet_deadlock"])
def test_the_reference_agrees(name: str):
    graph = BY_HAND[name]()
    check(graph, certify(graph, BOARD), run_reference)


def test_reasons_name_the_depth_that_fails_and_how():
    found = reasons(certify(residual(), BOARD)) | reasons(certify(softmax_rows(), BOARD))
    assert found["around"] == "at 16 tokens the kernel takes more than 0.5 % longer"
    assert found["x_exp"] == found["e_div"] == "at 16 tokens it can deadlock"
    assert found["max"] == "no memory of its own up to 32 tokens"
    assert found["done"] == "no memory of its own up to 3 tokens"


def test_a_stream_of_512_bits_that_needs_four_tokens_is_sized():
    sizing = certify(depth_four(), BOARD)
    assert sizing.tasks.stream["around"].depth in (4, 5)
    assert sizing.kernels[0].proven


def test_loads_give_back_the_memory_that_they_do_not_need():
    graph = loaded(prefetch=50)
    sizing = certify(graph, BOARD)
    check(graph, sizing)
    loads = [s.name for s in graph.streams if graph.task[s.source].kind == "load"]
    before, after = (
        sum(price(t.stream[n].width, t.stream[n].depth, BOARD.memories) for n in loads) for t in (graph, sizing.tasks)
    )
    assert 0 < after < before


def test_what_the_kernel_sizing_says():
    graph = softmax_rows()
    sizing = certify(graph, BOARD)
    (kernel,) = sizing.kernels
    trial = trial_of(graph)
    depths = {s.name: s.depth for s in sizing.tasks.streams}
    assert kernel.bits == sum(s.width * s.depth for s in sizing.tasks.streams)
    assert kernel.price == trial.price(depths)
    assert kernel.cycles == trial.run(depths).cycles
    assert kernel.unbounded == trial.base.cycles
    most = {fifo.name: max(2, fifo.peak) for fifo in trial.base.fifos}
    assert (kernel.peak_price, kernel.peak_bits) == (trial.price(most), trial.bits(most))
    assert kernel.price <= kernel.lp_price
    assert kernel.runs > 4
    assert kernel.work >= trial.work > 0
    (summary,) = json.loads(json.dumps(sizing.summary_json()))
    assert summary == {name: getattr(kernel, name) for name in summary}


def summed_rows(length: int, style: PipelineStyle, rows: int = 4) -> TaskGraph:
    """A row goes around its sum, which must come out before the row is read: all of it waits in `bypass`."""
    tasks = (
        task("copy", (rows, length), (), ("row", "bypass")),
        task("total", (rows, length), ("row",), (Access("sum", last(1, length)),)),
        task("divide", (rows, length), ("bypass", Access("sum", first(1)))),
    )
    streams = (
        stream("row", "copy", "total", rows * length),
        stream("bypass", "copy", "divide", rows * length),
        stream("sum", "total", "divide", rows),
    )
    return made([replace(t, timing=replace(t.timing, style=style)) for t in tasks], streams)


@pytest.mark.parametrize("style", get_args(PipelineStyle))
def test_a_design_is_certified_under_the_style_that_it_names(style: PipelineStyle):
    sizing = certify(summed_rows(1024, style), BOARD)
    assert simulate(sizing.tasks, BOARD).deadlock is None
    assert sizing.tasks.stream["bypass"].depth == (4096 if style == "stp" else 1024)


def test_depths_that_do_for_flushable_pipelines_are_none_for_stalling_ones():
    depths = {s.name: s.depth for s in certify(summed_rows(1024, "flp"), BOARD).tasks.streams}
    given = {style: _with_depths(summed_rows(1024, style), depths) for style in get_args(PipelineStyle)}
    assert as_given(given["flp"], BOARD).tasks == given["flp"]
    assert as_given(given["frp"], BOARD).tasks == given["frp"]
    with pytest.raises(VerificationError, match=r"does not run with the FIFO depths .* \(bypass is full with 1024\)"):
        as_given(given["stp"], BOARD)


def _with_depths(graph: TaskGraph, depths: Mapping[str, int]) -> TaskGraph:
    return replace(graph, streams=tuple(s._replace(depth=depths[s.name]) for s in graph.streams))


def test_kernels_are_sized_each_by_itself():
    def kernel(k: int) -> TaskGraph:
        return residual(rows=40, slow=20 + 20 * k)

    both = made(
        [t for k in range(2) for t in _renamed(kernel(k), k).tasks],
        [s for k in range(2) for s in _renamed(kernel(k), k).streams],
    )
    sizing = certify(both, BOARD)
    check(both, sizing)
    alone = [certify(kernel(k), BOARD) for k in range(2)]
    assert sizing.kernels == alone[0].kernels + alone[1].kernels
    expected = {f"{s.name}{k}": (s.depth, s.reason) for k in range(2) for s in alone[k].tasks.streams}
    assert {s.name: (s.depth, s.reason) for s in sizing.tasks.streams} == expected
    assert [s.name for s in sizing.tasks.streams] == [s.name for s in both.streams]


def _renamed(graph: TaskGraph, k: int) -> TaskGraph:
    tasks = (
        replace(
            t,
            name=f"{t.name}{k}",
            kernel=k,
            reads=tuple(a._replace(stream=f"{a.stream}{k}") for a in t.reads),
            writes=tuple(a._replace(stream=f"{a.stream}{k}") for a in t.writes),
        )
        for t in graph.tasks
    )
    streams = (s._replace(name=f"{s.name}{k}", source=f"{s.source}{k}", target=f"{s.target}{k}") for s in graph.streams)
    return TaskGraph(graph.name, k + 1, tuple(tasks), tuple(streams))


def test_whole_streams_are_left_alone():
    graph = softmax_rows()
    deep = replace(graph, streams=tuple(s._replace(depth=240) for s in graph.streams))
    sizing = size(deep, "whole", BOARD)
    assert sizing.kernels == ()
    assert sizing.summary_json() == []
    assert [s.depth for s in sizing.tasks.streams] == [240] * 6
    assert all("by rule" in s.reason for s in sizing.tasks.streams)
    assert size(deep, "conservative", BOARD, "full") == certify(deep, BOARD)
    assert size(deep, "conservative", BOARD) == certify(deep, BOARD, WORK["quick"])


def test_with_little_effort_the_rest_says_that_it_was_not_tried():
    graph = softmax_rows()
    sizing = certify(graph, BOARD, effort=1)
    check(graph, sizing, proven=False)
    assert sizing.kernels[0].runs < certify(graph, BOARD).kernels[0].runs
    costly = {s.name for s in sizing.tasks.streams if not is_free(s.width, s.depth, BOARD.memories)}
    assert {name for name, reason in reasons(sizing).items() if reason == NOT_TRIED} == costly != set()


@pytest.mark.parametrize("name", BY_HAND)
def test_bad_plans_are_grown_out_of(name: str, monkeypatch: pytest.MonkeyPatch):
    """Where neither the program nor the design has depths that keep the pace."""

    def shallow(tasks: TaskGraph, *_: object) -> Mapping[str, int]:
        return {s.name: 2 for s in tasks.streams}

    monkeypatch.setattr(module, "lp_depths", shallow)
    graph = BY_HAND[name]()
    check(graph, certify(graph, BOARD))


def test_what_is_loaded_ahead_stays_where_no_start_keeps_the_pace():
    """What is brought too late no other FIFO makes up for."""
    trial = trial_of(loaded(16))
    given = {name: stream.depth for name, stream in trial.streams.items()}
    kernel = module._Kernel(trial, [given], WORK["full"])
    kernel.starts = [module._with_free_loads(trial, given)]
    assert not any(map(trial.holds, trial.try_all(kernel.starts)))
    depths, outcome = kernel._start()
    assert trial.holds(outcome)
    assert all(depths[name] > kernel.starts[0][name] for name in ("up_in1", "down_in1"))


def test_plans_that_only_deadlock_are_grown_out_of(monkeypatch: pytest.MonkeyPatch):
    def shallow(trial: Any, _: Mapping[str, int]) -> Mapping[str, int]:
        return dict.fromkeys(trial.streams, 2)

    monkeypatch.setattr(module, "lp_depths", lambda tasks, *_: {s.name: 2 for s in tasks.streams})
    monkeypatch.setattr(module, "_less", shallow)
    for name in ("quiet_deadlock", "softmax_rows", "choice"):
        graph = BY_HAND[name]()
        check(graph, certify(graph, BOARD))
