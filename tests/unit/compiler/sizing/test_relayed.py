"""FIFOs of a design with relays: as deep as keeps its pace, no deeper, and none that was there gets shallower."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
from route_designs import routes
from small_pipelines import fork_join

from compiler.analysis.placement import board_plan, place
from compiler.analysis.placement.placement import Placement
from compiler.analysis.relays import relayed
from compiler.analysis.shortfall import Shortfall
from compiler.graph.task_graph import TaskGraph
from compiler.platforms.platform import Platform, load_platform
from compiler.simulator.timing.simulate import simulate
from compiler.sizing.certify import Sizing, certify
from compiler.sizing.relayed import DEEPER, size_placed, size_relayed

U55C = load_platform("u55c")
APART = {"n_a": 0, "n_w": 2, "n_b": 0}  # two relays to the worker, and two back


def cycles(tasks: TaskGraph) -> int:
    found = simulate(tasks, U55C, buckets=0)
    assert found.deadlock is None
    return found.cycles


def sized() -> tuple[TaskGraph, Sizing, TaskGraph]:
    """A path through a worker on another die and one beside it: certified without relays, with them, and sized."""
    network = fork_join("flp", 2, latency=28, tokens=400)
    plain = certify(routes({"n": network}), U55C)
    found = relayed(plain.tasks, APART).tasks
    return found, size_relayed(plain, found, U55C), plain.tasks


def test_what_lies_beside_relays_gets_deep_enough_to_keep_the_pace() -> None:
    found, after, plain = sized()
    assert cycles(found) > 1.1 * cycles(plain), "the FIFO beside is full before the first token has come around"
    unbounded = replace(found, streams=tuple(s._replace(depth=400) for s in found.streams))
    assert cycles(after.tasks) <= 1.005 * cycles(unbounded)
    (deeper,) = (s for s in after.tasks.streams if s.reason == DEEPER)
    assert deeper.name == "n_side"
    assert deeper.depth > plain.stream["n_side"].depth
    assert after.kernels[0].cycles == cycles(after.tasks)


def test_depths_that_slow_the_design_down_anyway_stay() -> None:
    """Somebody chose them: relays are no reason to change them, where the design is as slow without."""
    plain = routes({"n": replace(fork_join("flp", 2, tokens=50))})
    slow = replace(plain, streams=tuple(s._replace(depth=1) for s in plain.streams))
    near = relayed(slow, {"n_a": 0, "n_w": 0, "n_b": 1}).tasks
    after = size_relayed(Sizing(slow), near, U55C)
    assert [s.depth for s in after.tasks.streams if s.name in plain.stream] == [1, 1, 1]


@pytest.mark.parametrize(("fits", "over", "room"), [(True, 1.01, 1.01**2), (False, 1.01, 1.01**2), (False, 1.03, None)])
def test_where_a_die_is_too_full_in_the_end_tasks_are_placed_with_room(
    fits: bool, over: float, room: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    fills: list[float] = []

    def placed(tasks: TaskGraph, platform: Platform) -> tuple[TaskGraph, Placement]:
        fills.append(platform.dies.fill)
        return tasks, board_plan.placed(tasks, platform)[1]

    def described(tasks: TaskGraph, platform: Platform, slr: Mapping[str, str]) -> Placement:
        assert platform is U55C
        tight = Shortfall("SLR0", "slr_lut", 2 * over, 2.0)
        return replace(place.describe(tasks, platform, slr), shortfalls=() if fits and len(fills) > 1 else (tight,))

    monkeypatch.setattr("compiler.sizing.relayed.placed", placed)
    monkeypatch.setattr("compiler.sizing.relayed.describe", described)
    sizing = Sizing(routes({"n": fork_join("flp", 2, tokens=50)}))
    sized, placement = size_placed(sizing, U55C)
    assert fills == [U55C.dies.fill] + ([] if room is None else [U55C.dies.fill / room])
    assert sized is sizing
    assert not placement.shortfalls
