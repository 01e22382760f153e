"""Placements of whole designs: complete, and honest about what does not fit."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from small_dies import small_dies
from small_graphs import attention_front, mlp

from compiler.analysis.build import task_graph
from compiler.analysis.design_area import DesignArea
from compiler.analysis.estimate import estimate
from compiler.analysis.memory_kinds import bind_fifos
from compiler.analysis.placement.assign import Effort
from compiler.analysis.placement.board_plan import placed, plan_board
from compiler.analysis.placement.place import describe, place
from compiler.analysis.placement.placement import Placement
from compiler.analysis.shortfall import Shortfall
from compiler.graph.task_graph import TaskGraph
from compiler.options import Knobs
from compiler.passes.design_passes import planned, planned_tasks
from compiler.platforms.clock import ClockShape
from compiler.platforms.platform import Platform, load_platform

U55C = load_platform("u55c")


def test_a_small_design_lies_on_the_die_with_the_hbm() -> None:
    tasks = planned_tasks(mlp(), Knobs(default_tile_size=8, overall_unroll=16), U55C)
    placement = place(tasks, U55C)
    assert set(placement.slr.values()) == {"SLR0"}
    assert (placement.crossings, placement.shortfalls, placement.cost) == ((), (), 0.0)
    assert placement.kernel_slr([t.name for t in tasks.tasks]) == "SLR0"


def test_a_design_too_large_for_a_die_spreads_and_says_what_crosses() -> None:
    tasks = planned_tasks(mlp(16, 32, 64), Knobs(default_tile_size=16, overall_unroll=64), U55C)
    platform = small_dies(0.08)
    placement = place(tasks, platform)
    assert len(set(placement.slr.values())) > 1
    assert set(placement.slr) == {t.name for t in tasks.tasks}
    streams = {s.name for s in tasks.streams if placement.slr[s.source] != placement.slr[s.target]}
    assert streams <= {c.name for c in placement.crossings}
    assert placement.boundaries[0].wires > 0
    assert placement.kernel_slr([t.name for t in tasks.tasks]) is None
    assert placement.gap <= 1.0


def test_a_task_that_no_die_holds_is_a_report_with_levers() -> None:
    tasks = planned_tasks(mlp(16, 32, 64), Knobs(default_tile_size=16, overall_unroll=256), U55C)
    platform = small_dies(0.001)
    placement = place(tasks, platform)
    worst = next(s for s in placement.shortfalls if s.subject.startswith("task ") and s.resource == "dsp")
    assert worst.demand > worst.bound
    assert "multiplier=fabric" in worst.levers
    assert any("task" in str(s) and "try" in str(s) for s in placement.shortfalls)
    resources = {v.resource for v in estimate(tasks, platform).violations}
    assert "slr_dsp" in resources, "the search sees it without placing"


def test_few_wires_between_dies_are_reported() -> None:
    tasks = planned_tasks(mlp(16, 32, 64), Knobs(default_tile_size=16, overall_unroll=64), U55C)
    placement = place(tasks, small_dies(0.005, sll=400))
    assert any(s.resource == "sll" for s in placement.shortfalls)


def test_describing_a_given_placement_counts_what_place_counts() -> None:
    tasks = planned_tasks(mlp(16, 32, 64), Knobs(default_tile_size=16, overall_unroll=64), U55C)
    platform = small_dies(0.08)
    placement = place(tasks, platform)
    again = describe(tasks, platform, placement.slr)
    assert (again.boundaries, again.crossings, again.use) == (
        placement.boundaries,
        placement.crossings,
        placement.use,
    )


def test_the_plan_of_a_design_names_every_transfer_s_channel_and_judges_the_estimate() -> None:
    knobs = Knobs(default_tile_size=8, overall_unroll=16)
    design = planned(attention_front(), knobs, U55C)
    tasks = task_graph(design)
    board = plan_board(*placed(tasks, U55C), design, knobs)
    assert board.tasks == bind_fifos(tasks, U55C.memories), "nothing runs out, so nothing moves"
    assert board.estimated(U55C) == estimate(tasks, U55C)
    assert board.estimated(U55C).feasible
    assert set(board.channels) == {t.name for t in tasks.transfers}
    assert {"fusion", "placement", "hbm_channels"} == set(board.to_json())
    tight = small_dies(0.05, sll=3)
    assert not plan_board(*placed(tasks, tight), replace(design, platform=tight), knobs).estimated(tight).feasible


def test_a_placed_design_has_the_clock_of_where_it_lies() -> None:
    """And the quick test that of where it would lie: both know that relays register what crosses."""
    knobs, board = Knobs(default_tile_size=16, overall_unroll=64), small_dies(0.1)
    design = planned(mlp(16, 32, 64), knobs, board)
    tasks = task_graph(design)
    found, quick = plan_board(*placed(tasks, board), design, knobs).estimated(board), estimate(tasks, board)
    assert found.crossed
    assert (found.feasible, found.placed) == (quick.feasible, quick.placed) == (True, True)
    values = [{m.name: m.value for m in e.metrics} for e in (found, quick)]
    for value, fullest in zip(values, (found.fullest_die, quick.fullest_die), strict=True):
        shape = ClockShape(0.0, registered=True, crowded=max(0.0, fullest - board.dies.comfort))
        assert value["clock"] == pytest.approx(board.clock.mhz(shape, value["lut"], value["dsp"], 250))
        assert value["tasks"] > len(tasks.tasks)
        assert value["lut"] > DesignArea.of(tasks, board).whole.lut


@pytest.mark.parametrize(
    ("over", "fits", "tries", "kept"), [(1.01, True, 2, "2"), (1.01, False, 2, "1"), (1.03, True, 1, "1")]
)
def test_where_relays_tip_a_die_over_tasks_are_placed_again_with_less_room(
    over: float, fits: bool, tries: int, kept: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As much less as is missing, and once more that; found is what then fits the board, or the first."""
    fills: list[float] = []

    def recorded(tasks: TaskGraph, within: Platform, efforts: Sequence[Effort]) -> Placement:
        fills.append(within.dies.fill)
        return replace(place(tasks, within, efforts), method=str(len(fills)))

    def described(tasks: TaskGraph, platform: Platform, slr: Mapping[str, str]) -> Placement:
        assert platform is board, "of what the board has"
        tight = Shortfall("SLR0", "lut", 2 * over, 2.0)
        return replace(describe(tasks, platform, slr), shortfalls=() if fits and len(fills) > 1 else (tight,))

    board = small_dies(0.08)
    tasks = planned_tasks(mlp(16, 32, 64), Knobs(default_tile_size=16, overall_unroll=64), U55C)
    monkeypatch.setattr("compiler.analysis.placement.board_plan.place", recorded)
    monkeypatch.setattr("compiler.analysis.placement.board_plan.describe", described)
    spread, placement = placed(tasks, board)
    assert fills == [board.dies.fill, board.dies.fill / over**2][:tries]
    assert placement.method == kept
    assert set(placement.slr) == {t.name for t in spread.tasks}
