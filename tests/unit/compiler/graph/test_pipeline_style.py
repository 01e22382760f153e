"""Styles that a task's pipeline can not have are refused before anything is emitted."""

from dataclasses import replace
from typing import get_args

import pytest
from small_graphs import mlp

from compiler.errors import VerificationError
from compiler.graph.pipeline_style import MOST_FREE_RUNNING_STREAMS, PipelineStyle, style_flaw
from compiler.graph.task_graph import TaskGraph
from compiler.options import Knobs
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import load_platform

TASKS = planned_tasks(mlp(), Knobs(default_tile_size=4, overall_unroll=8), load_platform("u55c"))


def with_style(kinds: set[str], style: PipelineStyle) -> TaskGraph:
    changed = (replace(t, timing=replace(t.timing, style=style)) if t.kind in kinds else t for t in TASKS.tasks)
    return replace(TASKS, tasks=tuple(changed))


@pytest.mark.parametrize("kind", ["load", "store"])
def test_no_task_with_a_memory_port_runs_free(kind: str) -> None:
    with pytest.raises(VerificationError, match=rf"the pipeline of {kind}_\w+ can not be frp: .* \(200-1972\)"):
        with_style({kind}, "frp").verify()


def test_tasks_between_streams_may() -> None:
    with_style({"compute", "fork", "converter"}, "frp").verify()


@pytest.mark.parametrize("style", ["stp", "flp"])
def test_every_task_may_stall_or_be_flushable(style: PipelineStyle) -> None:
    with_style({t.kind for t in TASKS.tasks}, style).verify()


def test_no_more_streams_than_a_real_run_allowed() -> None:
    most = MOST_FREE_RUNNING_STREAMS
    assert style_flaw("frp", most, has_memory_port=False) is None
    assert "more than 20 streams (200-1553), it has 21" in str(style_flaw("frp", most + 1, has_memory_port=False))
    assert all(style_flaw(s, 99, has_memory_port=True) is None for s in get_args(PipelineStyle) if s != "frp")
