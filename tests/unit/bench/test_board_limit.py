"""Designs as if the board were another: each change changes what it says, and no other."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from fixtures import REAL
from timed_designs import design, load, store, task

from bench.board_limit.paper import GPT2_MEDIUM
from bench.board_limit.variants import (
    WATERFALL,
    Change,
    at_bandwidth,
    at_clock,
    memory_at_once,
    memory_without_end,
    never_full,
    with_depth,
)
from compiler.platforms.platform import load_platform
from compiler.simulator.timing.design import TimedTask, Transfer
from compiler.simulator.timing.simulate import StoredDesign, simulate_design

U55C = load_platform("u55c")
COPY = (load("load", 1000, "x"), task("copy", (1000,), ("x",), ("y",), depth=20), store("store", 1000, "y"))
SLOW = (load("load", 256, "x"), task("act", (256,), ("x",), ("y",), ii=4), store("store", 256, "y"))


def cycles(tasks: Sequence[TimedTask], *changes: Change, mhz: float = 250.0) -> int:
    stored = StoredDesign(design(tasks), U55C, mhz)
    for change in changes:
        stored = change(stored)
    found = simulate_design(stored.design, stored.platform, clock_mhz=stored.clock_mhz, buckets=0)
    assert found.deadlock is None
    return found.cycles


def test_half_of_the_bandwidth_is_twice_the_time_of_what_memory_keeps_waiting() -> None:
    assert cycles(COPY, at_bandwidth(0.5)) == pytest.approx(2 * cycles(COPY), rel=0.1)
    assert cycles(SLOW, at_bandwidth(0.5)) == cycles(SLOW)


def test_at_half_of_the_clock_a_cycle_brings_more_bytes_and_lasts_longer() -> None:
    changed = at_clock(125)(StoredDesign(design(COPY), U55C, 250.0))
    assert changed.clock_mhz == 125
    assert U55C.at(125).channel_bytes_per_cycle == 64 > U55C.channel_bytes_per_cycle
    assert cycles(COPY, at_clock(125)) < cycles(COPY)


def test_deeper_pipelines_take_longer_to_fill() -> None:
    assert cycles(COPY, with_depth(0)) < cycles(COPY) < cycles(COPY, with_depth(2))
    assert cycles(COPY, with_depth(1)) == cycles(COPY)


def test_who_waits_for_room_waits_no_more() -> None:
    early = task("early", (64,), (), ("kept", "told"))
    late = task("late", (64,), ("told",), ("go",), depth=100)
    both = task("both", (64,), ("kept", "go"))
    tight = (early, late, both)
    assert cycles(tight, never_full) < cycles(tight)
    assert cycles(SLOW, never_full) == cycles(SLOW)


def test_memory_that_answers_at_once_is_as_fast_as_before() -> None:
    scattered = (load("load", 512, "x", Transfer(1, 1, 1, 1)), task("take", (512,), ("x",)))
    assert cycles(scattered, memory_at_once) < cycles(scattered) / 1.5
    assert cycles(COPY) - 150 < cycles(COPY, memory_at_once) < cycles(COPY) - U55C.hbm.read_latency_cycles
    assert cycles(COPY, memory_without_end) < 1000 + 160 < cycles(COPY, at_bandwidth(0.9))


@pytest.mark.parametrize("tasks", [COPY, SLOW])
def test_what_is_taken_away_saves_time_or_changes_nothing(tasks: Sequence[TimedTask]) -> None:
    changes = [change for _, change in WATERFALL]
    times = [cycles(tasks, *changes[:count]) for count in range(len(changes) + 1)]
    assert times == sorted(times, reverse=True)


def test_the_paper_s_figures_are_those_of_its_table() -> None:
    file = REAL.parents[1] / "reference" / "paper_tables.json"
    if not file.exists():
        pytest.skip("the paper's tables are not beside this checkout")
    rows = json.loads(Path(file).read_text())["gpt2_medium"]["rows"]
    ours = {f"{a}:{b}": {name: list(row) for name, row in found.items()} for (a, b), found in GPT2_MEDIUM.items()}
    assert ours == rows
