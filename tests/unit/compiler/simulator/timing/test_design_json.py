"""Any dataflow.json: those that we write mean what their TaskGraph means, what is wrong in others is named."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from random_turns import turning_graph
from small_graphs import ALL
from stepping_networks import replying
from timed_designs import design as design_of
from timed_designs import load, residual, task, to_json

from compiler.analysis.placement.channels import assign_channels
from compiler.errors import InvalidInputError
from compiler.graph.layers import folded
from compiler.graph.task_graph import TaskGraph
from compiler.options import Knobs
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import load_platform
from compiler.simulator.timing import design_json
from compiler.simulator.timing.design import Transfer, timed_design
from compiler.simulator.timing.design_json import task_timing_from_json

U55C = load_platform("u55c")


@pytest.mark.parametrize("name", ALL)
def test_the_file_and_the_task_graph_are_the_same_design(name: str) -> None:
    tasks = planned_tasks(ALL[name](), Knobs(default_tile_size=4, overall_unroll=8), U55C)
    written = tasks.to_json() | {"hbm_channels": assign_channels(tasks.transfers, U55C)}
    assert task_timing_from_json(json.loads(json.dumps(written))) == timed_design(tasks, U55C)


def test_style_restarts_and_reasons_are_read() -> None:
    data = to_json(residual(9))
    data["tasks"][1]["timing"] |= {"style": "stp", "restarts": 1, "gap": 3}
    data["streams"][0]["reason"] = "holds a row"
    found = task_timing_from_json(data)
    assert (found.tasks[1].timing.style, found.tasks[1].timing.restarts, found.tasks[1].timing.gap) == ("stp", 1, 3)
    assert found.streams[0].reason == "holds a row"


def test_re_reading_loops_come_from_the_itensor() -> None:
    wanted = design_of((load("l", 64, "s", Transfer(1, 2, 1, 16, (3,), again=(True, False))), task("t", (64,), ("s",))))
    itensor = "itensor<4xf32, iter_space: [4,16]*[1,4], iter_map: (d0,d1)->(d1)>"
    assert task_timing_from_json(to_json(wanted, {"s": itensor})) == wanted


def _set(path: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(data: dict[str, Any]) -> None:
        *outer, last = path.split(".")
        place: Any = data
        for key in outer:
            place = place[int(key) if key.isdigit() else key]
        place[int(last) if last.isdigit() else last] = value

    return change


BROKEN = {
    "trips.zero": (_set("tasks.1.timing.trips", [4, 0]), "trips of timing of task copy"),
    "trips.fraction": (_set("tasks.1.timing.trips", [4, 1.5]), "trips of timing of task copy"),
    "trips.text": (_set("tasks.1.timing.trips", "4"), "trips of timing of task copy is '4'"),
    "trips.huge": (_set("tasks.1.timing.trips", [1 << 40, 1 << 40]), "can not count"),
    "trips.many": (_set("tasks.1.timing.trips", [4, 8] + 63 * [1]), "65 loops; the simulator takes at most 64"),
    "ii.huge": (_set("tasks.1.timing.ii", 1 << 50), "can not count"),
    "gap.huge": (
        _set("tasks.1.timing", {"trips": [4, 8], "ii": 1, "depth": 2, "restarts": 1, "gap": 1 << 50}),
        "can not",
    ),
    "trips.changed": (_set("tasks.1.timing.trips", [4, 9]), "source writes 32 tokens to x, copy reads 36"),
    "ii.bool": (_set("tasks.1.timing.ii", True), "ii of timing of task copy is True"),
    "depth.missing": (_set("tasks.1.timing", {"trips": [4, 8], "ii": 1}), "timing of task copy lacks depth"),
    "style.unknown": (_set("tasks.1.timing.style", "fast"), "one of stp, flp, frp"),
    "restarts.many": (_set("tasks.1.timing.restarts", 3), "restarts of timing of task copy"),
    "timing.list": (_set("tasks.1.timing", []), "timing of task copy is []; it must be an object"),
    "task.number": (_set("tasks.1", 7), "task 1 is 7; it must be an object"),
    "tasks.missing": (_set("tasks", None), "tasks of the design is None; it must be a list"),
    "kernel.unknown": (_set("tasks.1.kernel", 1), "kernel of task copy is 1"),
    "kernels.differ": (lambda d: (_set("kernels", 2)(d), _set("tasks.3.kernel", 1)(d)), "from kernel 0 to kernel 1"),
    "name.empty": (_set("tasks.1.name", ""), "name of task 1"),
    "name.twice": (_set("tasks.1.name", "total"), "2 tasks are called total"),
    "stream.twice": (_set("streams.1.name", "x"), "2 streams are called x"),
    "stream.unknown": (_set("tasks.1.reads.0.stream", "y"), "task copy reads stream y, which is not listed"),
    "stream.unread": (_set("tasks.1.reads", []), "is written by source and read by none"),
    "stream.target": (_set("streams.0.target", "divide"), "stream x goes from source to divide"),
    "gate.loop": (_set("tasks.2.writes.0.gates.0.loop", 2), "loop of a gate of an access in writes of task total"),
    "gate.high": (_set("tasks.2.writes.0.gates.0.high", 9), "an integer from 8 to 8"),
    "gate.twice": (_set("tasks.2.writes.0.gates", 2 * [{"loop": 1, "low": 7, "high": 8}]), "two gates on one loop"),
    "depth.zero": (_set("streams.0.depth", 0), "depth of stream x is 0"),
    "kind": (_set("tasks.1.kind", "magic"), "kind of task copy is 'magic'"),
    "dma": (_set("tasks.1.kind", "load"), "dma of task copy is None"),
    "order": (lambda d: d["tasks"].reverse(), "topological order"),
}


@pytest.mark.parametrize(("change", "message"), BROKEN.values(), ids=BROKEN)
def test_what_is_wrong_is_named(change: Callable[[dict[str, Any]], None], message: str) -> None:
    data = to_json(residual(9))
    task_timing_from_json(data)
    change(data)
    with pytest.raises(InvalidInputError) as caught:
        task_timing_from_json(data)
    assert message in str(caught.value)


@pytest.mark.parametrize("data", [None, [], "x", 3])
def test_what_is_no_object_is_no_design(data: Any) -> None:
    with pytest.raises(InvalidInputError, match="the design is"):
        task_timing_from_json(data)


@pytest.mark.parametrize("itensor", ["itensor<", "x" * 1000, "itensor<4xf32, iter_space: [4]*[1]>"])
def test_an_itensor_that_is_none_is_named(itensor: str) -> None:
    wanted = design_of((load("l", 64, "s"), task("t", (64,), ("s",))))
    with pytest.raises(InvalidInputError, match="is not an itensor"):
        task_timing_from_json(to_json(wanted, {"s": itensor}))


def test_runs_that_do_not_divide_a_load_are_refused() -> None:
    wanted = design_of((load("l", 64, "s"), task("t", (64,), ("s",))))
    itensor = "itensor<4xf32, iter_space: [4,15]*[1,4], iter_map: (d0,d1)->(d1)>"
    with pytest.raises(InvalidInputError, match="re-reads every 15 iterations"):
        task_timing_from_json(to_json(wanted, {"s": itensor}))


def test_pipelines_that_memory_does_not_hold_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(design_json, "MOST_INSIDE", 4)
    with pytest.raises(InvalidInputError, match="more than 4 cycles deep in all"):
        task_timing_from_json(to_json(residual(9)))


def test_a_word_holds_no_more_tokens_than_bits() -> None:
    data = to_json(design_of((load("l", 63, "s", Transfer(1, 1, 1, None)), task("t", (63,), ("s",)))))
    data["tasks"][0]["dma"]["tokens_per_word"] = 1 << 60
    with pytest.raises(InvalidInputError, match="tokens_per_word of dma of task l"):
        task_timing_from_json(data)


@pytest.mark.parametrize("seed", range(20))
def test_a_design_that_goes_round_is_read_as_it_was_written(seed: int) -> None:
    tasks = turning_graph(seed)
    written = tasks.to_json() | {"hbm_channels": assign_channels(tasks.transfers, U55C)}
    assert task_timing_from_json(json.loads(json.dumps(written))) == timed_design(tasks, U55C)


def turning(change: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """A design of several layers with an argument, changed."""
    graphs = (turning_graph(seed) for seed in range(100))
    data = next(g for g in graphs if g.arguments and any(s.feedback for s in g.streams)).to_json()
    data = json.loads(json.dumps(data))
    change(data)
    return data


def _head(data: dict[str, Any]) -> dict[str, Any]:
    return next(task for task in data["tasks"] if task["name"] == "head")


def _unmark(data: dict[str, Any]) -> None:
    for stream in data["streams"]:
        stream["feedback"] = False


def _longer(data: dict[str, Any]) -> None:
    _head(data)["turns"][1]["times"] += 1


def _deeper(data: dict[str, Any]) -> None:
    part = _head(data)["turns"][0]
    for _ in range(80):
        part = {"times": 1, "body": [part]}
    _head(data)["turns"][0] = part


def _more_than_there_are(data: dict[str, Any]) -> None:
    _head(data)["turns"] *= 10_001


def _other_trip(data: dict[str, Any]) -> None:
    _head(data)["turns"][0]["bounds"][0]["tile"] += 1000


ROUND = {
    "unmarked": (_unmark, "a stream that closes a loop be marked as feedback"),
    "longer": (_longer, "the run can not end"),
    "deeper": (_deeper, "repeats repetitions more than 64 deep"),
    "many": (_more_than_there_are, "has more than 10000 parts"),
    "bound": (_other_trip, "makes 1 iterations, but loop"),
    "negative": (lambda data: _head(data)["turns"][1].update(times=-1), "times of part 1 of turns of task head"),
    "flag": (lambda data: data["streams"][0].update(feedback=1), "it must be true or false"),
    "initial": (lambda data: data["streams"][0].update(initial=99), "initial of stream"),
}


@pytest.mark.parametrize("name", ROUND)
def test_what_is_wrong_with_a_loop_is_named(name: str) -> None:
    change, complaint = ROUND[name]
    with pytest.raises(InvalidInputError, match=complaint):
        task_timing_from_json(turning(change))


def test_launches_take_the_arguments_that_there_are() -> None:
    design = task_timing_from_json(turning(lambda _: None))
    assert set(design.arguments) == {"position"}
    for values, complaint in (({"row": 1}, "no argument row; those that it has: position"), ({"position": -1}, "0 to")):
        with pytest.raises(InvalidInputError, match=complaint):
            design.at((values,))


def _replying() -> TaskGraph:
    graph = folded(replying())
    assert graph is not None
    tasks = planned_tasks(graph, Knobs(default_tile_size=4, overall_unroll=8), U55C)
    assert tasks.control is not None
    return tasks


def test_a_design_that_makes_a_reply_is_read_as_it_was_written() -> None:
    tasks = _replying()
    written = tasks.to_json() | {"hbm_channels": assign_channels(tasks.transfers, U55C)}
    found = task_timing_from_json(json.loads(json.dumps(written)))
    assert found == timed_design(tasks, U55C)
    assert found.tasks[0].name == "control"


WRONG_CONTROL = {
    "no task": (_set("control.made", "store_x"), "control waits for store_x, which is no store"),
    "no store": (_set("control.kept", ["load_x"]), "control waits for load_x, which is no store"),
    "kept.missing": (lambda d: d["control"].pop("kept"), "control of the design lacks kept"),
    "position": (_set("control.position", 3), "position of control of the design is 3"),
    "list": (_set("control", []), "control of the design is []; it must be an object"),
    "twice": (lambda d: d["control"]["kept"].append("store_next"), "control waits for store_next twice"),
    "given": (_set("control.given", "store_next"), "control is given tokens by store_next, which is no load"),
    "kernels": (
        lambda d: (_set("kernels", 2)(d), *(t.update(kernel=1) for t in d["tasks"])),
        "goes from kernel 0 to kernel 1",
    ),
    "name": (
        lambda d: d.update(json.loads(json.dumps(d).replace('"best"', '"control"'))),
        "2 tasks are called control",
    ),
}


@pytest.mark.parametrize(("change", "message"), WRONG_CONTROL.values(), ids=WRONG_CONTROL)
def test_what_is_wrong_of_control_is_named(change: Callable[[dict[str, Any]], None], message: str) -> None:
    data = json.loads(json.dumps(_replying().to_json()))
    task_timing_from_json(data)
    change(data)
    with pytest.raises(InvalidInputError) as caught:
        task_timing_from_json(data)
    assert message in str(caught.value)
