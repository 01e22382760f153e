"""FIFOs for chunks of a prompt: what closes the loop over layers holds a chunk, the pace is that of deeper ones."""

from dataclasses import replace

import pytest
from certificate import BOARD, trial_of
from stepping_networks import replying

from compiler.errors import VerificationError
from compiler.graph.layers import folded
from compiler.graph.task_graph import TaskGraph
from compiler.options import Knobs
from compiler.passes.design_passes import planned_tasks
from compiler.simulator.timing.prompt_rows import ROWS
from compiler.simulator.timing.simulate import simulate
from compiler.sizing.certify import certify
from compiler.sizing.prompt_rows import HELD, for_chunks
from compiler.sizing.trial import Trial


@pytest.fixture(scope="module")
def tasks() -> TaskGraph:
    graph = folded(replying(3))
    assert graph is not None
    return planned_tasks(graph, Knobs(default_tile_size=4, overall_unroll=8), BOARD)


@pytest.fixture(scope="module")
def trial(tasks: TaskGraph) -> Trial:
    return trial_of(tasks)


def test_certified_depths_hold_a_chunk_between_layers() -> None:
    graph = folded(replying())
    assert graph is not None
    sized = certify(planned_tasks(graph, Knobs(default_tile_size=32, overall_unroll=64), BOARD), BOARD, effort=0).tasks
    assert sized.control is not None
    (back,) = sized.control.looped
    stream = sized.stream[back]
    assert stream.depth >= sized.control.rows * stream.tokens  # of the first of two layers
    assert stream.reason == HELD
    for position in (0, 16, 55):
        launch = {"position": position, ROWS: sized.control.rows}
        assert simulate(sized, BOARD, launches=({"position": 62}, launch), buckets=0).deadlock is None


def test_a_chunk_that_the_loop_does_not_hold_deadlocks(tasks: TaskGraph, trial: Trial) -> None:
    """Though each token by itself goes through."""
    depths = {name: stream.depth for name, stream in trial.streams.items()}
    assert tasks.control is not None
    (back,) = tasks.control.looped
    row = tasks.stream[back].tokens // 2
    assert for_chunks(tasks, BOARD, trial, depths)
    short = tuple(s._replace(depth=row) if s.name == back else s for s in tasks.streams)
    assert simulate(replace(tasks, streams=short), BOARD, buckets=0).deadlock is None
    with pytest.raises(VerificationError, match="a chunk of a prompt deadlocks for"):
        for_chunks(replace(tasks, streams=short), BOARD, _Fixed(trial), depths | {back: row})


class _Fixed(Trial):
    """A trial of FIFOs that can not get deeper."""

    def __init__(self, trial: Trial) -> None:
        self.__dict__ |= trial.__dict__

    def price_of(self, name: str, depth: int) -> float:
        return float("inf")


def test_tokens_one_by_one_need_no_chunk(tasks: TaskGraph, trial: Trial) -> None:
    assert tasks.control is not None
    alone = replace(tasks, control=tasks.control._replace(rows=1, looped=(), loads=()))
    depths = {name: stream.depth for name, stream in trial.streams.items()}
    assert for_chunks(alone, BOARD, trial, depths) == depths
