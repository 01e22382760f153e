"""Whole designs: kernels one after the other, what the tasks did, what the file says, when it gives up."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from small_graphs import mlp
from through_memory import credited, through_memory
from timed_designs import design, load, residual, store, task, to_json

from compiler.analysis.estimate import estimate
from compiler.analysis.placement.channels import assign_channels
from compiler.design_dir import digests
from compiler.errors import InvalidInputError, ToolError, VerificationError
from compiler.graph.memory_order import MOST_RUNS
from compiler.graph.program import Access, Gate
from compiler.graph.task_graph import TaskGraph, TimingSpec
from compiler.metrics import Fidelity
from compiler.options import Knobs
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import load_platform
from compiler.simulator.timing import simulate as module
from compiler.simulator.timing.design import TimedDesign, TimedStream, TimedTask, Transfer
from compiler.simulator.timing.design_json import task_timing_from_json
from compiler.simulator.timing.simulate import (
    simulate,
    simulate_design,
    simulate_directory,
    simulate_stalling,
    write_simulation,
)
from compiler.simulator.timing.simulation import StallingRun

U55C = load_platform("u55c")
SMALL = Knobs(default_tile_size=4, overall_unroll=8)


def written(folder: Path, found: TimedDesign, description: dict[str, Any] | None = None) -> Path:
    (folder / "dataflow.json").write_text(json.dumps(to_json(found)))
    if description is not None:
        (folder / "design.json").write_text(json.dumps(description))
    return folder


def test_a_chain_takes_as_long_as_its_slowest_task() -> None:
    found = simulate_design(
        design((task("a", (100,), (), ("s",)), task("b", (100,), ("s",), ("t",), ii=3), task("c", (100,), ("t",)))),
        U55C,
    )
    # The first token reaches `b` in cycle 2; its last iteration enters 99 x 3 later and leaves after another one; `c`
    # reads in the cycle after that and ends one later.
    assert found.cycles == 2 + 99 * 3 + 2 + 2
    assert found.bottleneck is not None
    assert found.bottleneck.name == "b"
    assert found.busy_share(found.bottleneck) > 0.97
    assert [f.name for f in found.blocking] == ["s"]
    assert next(t.full for t in found.tasks if t.name == "a") > 150


def test_kernels_run_one_after_the_other() -> None:
    def kernel(n: int) -> tuple[Any, ...]:
        return task(f"a{n}", (50,), (), (f"s{n}",), kernel=n), task(f"b{n}", (50,), (f"s{n}",), kernel=n, ii=n + 1)

    first = simulate_design(design(kernel(0)), U55C)
    both = simulate_design(design((*kernel(0), *kernel(1))), U55C)
    assert both.kernels[0] == first.cycles
    assert both.cycles == sum(both.kernels)
    assert [t.start for t in both.tasks] == [0, 2, first.cycles, first.cycles + 2]
    assert both.tasks[-1].end == both.cycles
    assert both.latency_us == both.cycles / 250
    width, rows = both.timeline.bucket_cycles, {t.name: t for t in both.timeline.tasks}
    boundary = first.cycles // width
    assert sum(rows["b0"].busy[:boundary]) > 0.8 * boundary
    assert sum(rows["b0"].busy[boundary + 1 :]) == 0 == sum(rows["b1"].busy[:boundary])


def test_the_timeline_of_a_short_run_says_when_a_task_waits() -> None:
    found = simulate_design(
        design((task("a", (400,), (), ("s",), ii=1, depth=300), task("b", (400,), ("s",)))), U55C, buckets=100
    )
    row = found.timeline.tasks[1]
    before, after = 250 // found.timeline.bucket_cycles, 350 // found.timeline.bucket_cycles
    assert set(row.empty[:before]) == {1.0}
    assert set(row.empty[after:]) == {0.0}


def test_a_load_that_memory_limits_is_busy_and_one_that_waits_is_not() -> None:
    def of(ii: int) -> tuple[float, float]:
        found = simulate_design(design((load("l", 5000, "s"), task("t", (5000,), ("s",), ii=ii))), U55C)
        loading = found.tasks[0]
        assert loading.empty == 0
        return found.busy_share(loading), loading.full / found.cycles

    limited, waiting = of(1), of(4)
    assert limited[0] > 0.97
    assert limited[1] < 0.02
    assert waiting[0] < 0.32
    assert waiting[1] > 0.7


def test_a_store_ends_when_memory_has_its_last_word() -> None:
    found = simulate_design(design((task("t", (8,), (), ("s",)), store("o", 8, "s"))), U55C)
    assert found.tasks[-1].end == found.cycles
    assert found.cycles > U55C.hbm.read_latency_cycles


def test_hbm_results_name_ports_bytes_and_rates() -> None:
    transfer = Transfer(2, 1, 1, None, (0, 1))
    found = simulate_design(design((load("l", 4096, "s", transfer), task("t", (4096,), ("s",)))), U55C)
    (moved,) = found.hbm
    assert (moved.task, moved.channels, moved.bytes) == ("l", 2, 4096 * 128)
    assert moved.bound_gb_s == pytest.approx(26.2, rel=0.01)
    assert moved.gb_s == pytest.approx(moved.bound_gb_s, rel=0.01)


def test_a_deadlock_ends_the_run_and_is_told() -> None:
    later = (task("a", (5,), (), ("s",), kernel=1), task("b", (5,), ("s",), kernel=1))
    hanging = residual(4)
    both = design((*hanging.tasks, *later), {"bypass": 4})
    found = simulate_design(both, U55C)
    assert found.deadlock is not None
    assert found.deadlock.depth_needed == 8
    assert len(found.kernels) == 1
    assert found.metrics() == ()
    assert (found.tasks[-1].start, found.tasks[-1].end, found.tasks[-1].iterations) == (-1, 0, 0)
    assert found.to_json()["deadlock"]["cycle"][0] == {"task": "copy", "fifo": "bypass", "because": "full"}


def test_a_compiled_design_is_near_its_estimate() -> None:
    tasks = planned_tasks(mlp(), SMALL, U55C)
    found = simulate(tasks, U55C)
    cycles = next(m.value for m in estimate(tasks, U55C).metrics if m.name == "cycles")
    assert found.deadlock is None
    assert found.cycles == pytest.approx(cycles, rel=0.35)
    assert {m.name for m in found.metrics()} == {"latency", "cycles", "hbm_bandwidth"}
    assert {m.fidelity for m in found.metrics()} == {Fidelity.SIMULATE}


def test_the_file_has_what_readers_of_it_expect(tmp_path: Path) -> None:
    description = {"platform": "u55c", "metrics": [{"name": "cycles", "value": 40, "fidelity": "estimate"}]}
    found = simulate_directory(written(tmp_path, residual(8), description), buckets=10)
    data = json.loads(write_simulation(found, tmp_path).read_text())
    assert set(data) == {
        "cycles", "latency_us", "clock_mhz", "estimate_cycles", "deadlock", "stalling", "kernels", "tasks", "fifos",
        "hbm", "timeline",
    }  # fmt: skip
    assert data["estimate_cycles"] == 40
    assert found.estimate_error == 40 / data["cycles"] - 1
    assert data["kernels"] == [{"cycles": data["cycles"]}]
    assert set(data["tasks"][0]) == {"name", "kernel", "iterations", "start", "end", "empty", "full", "busy"}
    bypass = next(f for f in data["fifos"] if f["name"] == "bypass")
    assert (bypass["source"], bypass["target"], bypass["depth"], bypass["pushed"]) == ("copy", "divide", 8, 32)
    assert bypass["peak"] == 8
    (row, *_) = data["timeline"]["tasks"]
    assert len(row["busy"]) == len(row["empty"]) == len(row["full"]) <= 10
    for row in data["timeline"]["tasks"]:
        assert all(sum(parts) <= 1.001 for parts in zip(row["busy"], row["empty"], row["full"], strict=True))


def test_stalling_pipelines_may_deadlock_where_flushable_ones_end() -> None:
    found = simulate_stalling(residual(8), U55C)
    assert simulate_design(residual(8), U55C).deadlock is None
    assert (found.ends, found.fifo) == (False, "bypass")
    assert found.deadlock is not None
    assert found.deadlock.startswith("Deadlock after ")
    assert "copy waits until divide reads (bypass is full with 8)" in found.deadlock
    ending = simulate_stalling(residual(9), U55C)
    assert ending == StallingRun(True, ending.cycles)
    assert ending.cycles == simulate_design(_stalling(residual(9)), U55C).cycles
    assert ending.to_json() == {
        "ends": True, "cycles": ending.cycles, "fifo": None, "deadlock": None, "fidelity": "simulate",
    }  # fmt: skip


def _stalling(made: TimedDesign) -> TimedDesign:
    return made.with_timing({t.name: replace(t.timing, style="stp") for t in made.tasks})


def test_what_stalling_pipelines_do_takes_one_run_however_deep_the_fifos_would_have_to_be(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs: list[object] = []
    plain = module._run
    monkeypatch.setattr(module, "_run", lambda *given, **named: runs.append(given) or plain(*given, **named))
    assert simulate_stalling(residual(8), U55C).ends is False
    assert len(runs) == 1


def test_stalling_pipelines_that_take_too_long_are_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FIRST_WORK", 16 * len(residual(9).tasks))
    assert simulate_stalling(residual(9, rows=1000), U55C, seconds=0.0) == StallingRun(None)


def test_what_the_compiler_found_of_stalling_pipelines_is_taken_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = StallingRun(True, 1)
    written(tmp_path, residual(8))
    description = {"platform": "u55c", "digests": digests(tmp_path), "stalling": known.to_json()}
    written(tmp_path, residual(8), description)
    with monkeypatch.context() as patch:
        patch.delattr(module, "simulate_stalling")  # no second run
        assert simulate_directory(tmp_path).stalling == known
    slower = simulate_directory(tmp_path, timing={"source": TimingSpec((4, 8), 5, 2)})
    assert slower.stalling is not None
    assert slower.stalling.ends is False
    written(tmp_path, residual(16))  # edited since
    assert simulate_directory(tmp_path).stalling == simulate_stalling(residual(16), U55C)


def test_a_design_that_deadlocks_as_it_is_says_nothing_of_stalling_pipelines(tmp_path: Path) -> None:
    assert simulate_directory(written(tmp_path, residual(4))).stalling is None


def test_timing_can_be_replaced(tmp_path: Path) -> None:
    written(tmp_path, residual(8))
    plain = simulate_directory(tmp_path)
    slower = simulate_directory(tmp_path, timing={"source": TimingSpec((4, 8), 5, 2)})
    assert slower.cycles > plain.cycles + 100
    assert plain.estimate_cycles is None


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "it has no dataflow.json"),
        ("{", "dataflow.json can not be read"),
        ("[" * 100_000, "dataflow.json"),
        ("[]", "dataflow.json: the design is"),
        (b"\xff\xfe", "dataflow.json can not be read"),
    ],
)
def test_a_file_that_is_missing_or_damaged_is_named(tmp_path: Path, content: str | bytes | None, message: str) -> None:
    if content is not None:
        (tmp_path / "dataflow.json").write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InvalidInputError) as caught:
        simulate_directory(tmp_path)
    assert message in str(caught.value)


def test_an_unknown_board_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="unknown platform 'u280x'"):
        simulate_directory(written(tmp_path, residual(8), {"platform": "u280x"}))


def test_a_run_without_end_in_sight_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is simulated for longer than it may take, however large the trip counts."""
    monkeypatch.setattr(module, "FIRST_WORK", 16 * len(residual(8).tasks))
    with pytest.raises(ToolError, match="is not at its end after 16 cycles"):
        simulate_design(residual(8, rows=1000), U55C, seconds=0.0)


def test_a_longer_run_goes_on_while_there_is_time(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = simulate_design(residual(8, rows=1000), U55C)
    monkeypatch.setattr(module, "FIRST_WORK", 16 * len(residual(8).tasks))
    assert simulate_design(residual(8, rows=1000), U55C) == expected


def test_huge_trip_counts_that_repeat_take_no_time() -> None:
    huge = simulate_design(residual(8, rows=1 << 40), U55C, seconds=20)
    assert huge.cycles > 8 << 40


def test_channels_of_a_transfer_can_be_given() -> None:
    tasks = planned_tasks(mlp(), SMALL, U55C)
    names = [t.name for t in tasks.transfers]
    slow = replace(U55C, hbm=replace(U55C.hbm, channel_gb_s=0.1))
    crowded = simulate(tasks, slow, channels=dict.fromkeys(names, (0,)))
    apart = simulate(tasks, slow)
    assert crowded.cycles > 1.5 * apart.cycles


def test_a_load_that_asks_before_its_credit_is_a_hazard_by_name() -> None:
    """Also of a `dataflow.json`, which anybody may have changed."""
    assert simulate(credited(), U55C).hazards == ()
    for found in (simulate(through_memory(), U55C), simulate_design(_read_again(through_memory()), U55C)):
        (hazard,) = found.hazards
        assert (hazard.load, hazard.store, hazard.value, hazard.credited) == ("load_k", "store_k", "k", 0)
        assert found.to_json()["hazards"][0]["text"] == str(hazard)
    assert simulate_design(_read_again(credited()), U55C) == simulate(credited(), U55C)


def test_each_launch_of_several_has_its_own_hazards() -> None:
    """A load that reads all rows twice asks for no more of them in a second launch than in the first."""
    many = _twice(runs=3)
    assert simulate_design(many, U55C).hazards == ()
    assert simulate_design(many, U55C, launches=({}, {})).hazards == ()


def test_hazards_that_can_not_be_looked_for_are_said_before_anything_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "networks_of_design", None)
    with pytest.raises(VerificationError, match=r"get makes more than .* runs"):
        simulate_design(_twice(runs=MOST_RUNS), U55C)


def _twice(runs: int) -> TimedDesign:
    """So many rows of four are stored, with a credit for each, and all of them read twice."""
    memory, depth = Transfer(1, 1, 1, None, value="k"), 2 + U55C.hbm.write_response_cycles
    last, first = Access("credit", (Gate(1, 3, 4),)), Access("credit", (Gate(0, 0, 1), Gate(2, 0, 1)))
    store, load = TimingSpec((runs, 4), 1, depth, restarts=1), TimingSpec((2, runs, 4), 1, 90, restarts=2)
    make, use = TimingSpec((runs, 4), 1, 2), TimingSpec((2, runs, 4), 1, 2)
    tasks = (
        TimedTask("make", "compute", 0, make, (), (Access("x"),)),
        TimedTask("put", "store", 0, store, (Access("x"),), (last,), memory),
        TimedTask("get", "load", 0, load, (first,), (Access("y"),), replace(memory, again=(True, False, False))),
        TimedTask("use", "compute", 0, use, (Access("y"),), ()),
    )
    streams = (("x", "make", "put"), ("credit", "put", "get"), ("y", "get", "use"))
    return TimedDesign("twice", 1, tasks, tuple(TimedStream(*names, 2) for names in streams))


def _read_again(tasks: TaskGraph) -> TimedDesign:
    data = tasks.to_json() | {"hbm_channels": assign_channels(tasks.transfers, U55C)}
    return task_timing_from_json(json.loads(json.dumps(data)))
