"""Chunks of a prompt where operations take turns: phase by phase, what later ones need is held, of all rows."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from dataflow_schema import complaints
from prompt_chunks import check_moves

from compiler.analysis.prompt_rows import PROMPT_ROWS, chunk_depths, phases
from compiler.analysis.resources import task_resources
from compiler.analysis.shared_loads import shared_loads
from compiler.errors import InvalidInputError
from compiler.frontend.bundle import Bundle
from compiler.frontend.models.gpt2_config import Gpt2Config
from compiler.graph.abreast import APART, ONCE, copy_name
from compiler.graph.program import Gate, Repeat, behind_layers, iterations, nests, of_layers, program_at, tokens, walked
from compiler.graph.task_graph import CHOOSE, EngineTask, TaskGraph
from compiler.options import Knobs
from compiler.passes.design_passes import planned, planned_tasks
from compiler.platforms.platform import Platform, load_platform
from compiler.simulator.timing.design import TimedDesign, timed_design
from compiler.simulator.timing.design_json import task_timing_from_json
from compiler.simulator.timing.prompt_rows import ROWS, rows_of
from compiler.simulator.timing.simulate import simulate
from compiler.sizing.certify import certify
from compiler.targets.functions import plan_functions

LAYERS = 3
SMALL = Gpt2Config(n_embd=64, n_head=4, n_layer=LAYERS, n_inner=256, n_positions=64, vocab_size=90)
KNOBS = Knobs(default_tile_size=64, overall_unroll=1024, engines="shared", loads="joint")
U55C = load_platform("u55c")
FEW = replace(U55C, hbm=replace(U55C.hbm, kernel_ports=10))
CHUNK = {"position": 20, ROWS: PROMPT_ROWS}


@pytest.fixture
def bundle(make_bundle: Any) -> Bundle:
    return make_bundle("token", "w4a8kv8", 31, LAYERS, SMALL)


@pytest.fixture(params=[U55C, FEW], ids=["own ports", "small parameters share ports"])
def platform(request: pytest.FixtureRequest) -> Platform:
    return request.param


@pytest.fixture
def tasks(bundle: Bundle, platform: Platform) -> TaskGraph:
    return planned_tasks(bundle.graph, KNOBS, platform)


def cycles(tasks: TaskGraph, *launches: dict[str, int]) -> int | None:
    """None where they deadlock."""
    found = simulate(tasks, U55C, launches=launches, buckets=0)
    return None if found.deadlock else found.cycles


def with_depth(tasks: TaskGraph, stream: str, depth: int) -> TaskGraph:
    return replace(tasks, streams=tuple(s._replace(depth=depth) if s.name == stream else s for s in tasks.streams))


def test_rows_follow_each_other_within_a_phase(bundle: Bundle, tasks: TaskGraph) -> None:
    """Of what an engine does, and of what is loaded for it and for others, there in the order of phases."""
    design = planned(bundle.graph, KNOBS, U55C)
    (engine,), phase = design.engines.values(), phases(design)
    *inside, behind = engine.turns
    assert [phase[op] for op in inside] == [0, 1, 2]
    assert behind == "last.head.matmul"
    assert phase["h0.ln_1.rstd"] == 0 < phase["h0.ln_2.rstd"] == 1 < phase["h0.residual_2"] == 2
    chunk = timed_design(tasks, U55C).at((CHUNK,))
    moved = {name: chunk.task[name].program for name in ("engine0", "load_engine0_in1")}
    weights = {n: [nest.run for nest in walked(p) if nest.trips != (1,)] for n, p in moved.items()}
    *turns, head = [nest.run for nest in nests(tasks.task["engine0"].program)]
    one = [turn for turn in turns for _ in range(PROMPT_ROWS)]
    assert [nest.iterations for nest in nests(tasks.task["load_engine0_in1"].program)] == [*turns, head]
    for found in weights.values():
        assert found[: len(LAYERS * one)] == LAYERS * one
        *others, last = found[len(LAYERS * one) :]
        assert len(others) == PROMPT_ROWS - 1
        assert {*others} < {*range(head)}
        assert last == head  # the last one chooses


def test_small_parameters_come_phase_by_phase(bundle: Bundle) -> None:
    design, tasks = planned(bundle.graph, KNOBS, FEW), planned_tasks(bundle.graph, KNOBS, FEW)
    phases = list[int]()
    for name, loads in shared_loads(design).items():
        repeated, *behind = tasks.task[name].turns
        assert isinstance(repeated, Repeat)
        assert all(isinstance(phase, Repeat) for phase in repeated.body)
        written = [[nest.writes[0].stream for nest in nests((phase,))] for phase in repeated.body]
        phases.append(len(written))
        assert sum(map(len, written)) + len(behind) == len(loads)
    assert max(phases) > 1


def test_a_chunk_moves_what_its_tokens_move(tasks: TaskGraph) -> None:
    tasks.verify()
    rows = [{"position": 20 + row, CHOOSE: row // (PROMPT_ROWS - 1)} for row in range(PROMPT_ROWS)]
    check_moves(timed_design(tasks, U55C), CHUNK, rows)


def test_a_chunk_takes_less_than_its_tokens(tasks: TaskGraph) -> None:
    alone = cycles(tasks, *({"position": 20 + row, CHOOSE: 0} for row in range(PROMPT_ROWS)))
    chunk = cycles(tasks, {**CHUNK, CHOOSE: 0})
    assert chunk is not None
    assert alone is not None
    assert chunk < 0.8 * alone


@pytest.mark.parametrize(("stream", "deadlocks"), [("h0_residual_1_in0", True), ("h0_residual_2_in0", False)])
def test_what_is_not_held_waits(tasks: TaskGraph, stream: str, *, deadlocks: bool) -> None:
    """The residual, beside a turn: for ever, or until what these small tasks hold themselves has gone on. Of an
    engine's next input, and of what leaves the layers while weights are still read in front of those behind them, they
    hold enough.
    """
    assert tasks.control is not None
    assert {stream, "h0_mlp_fc_matmul_in0", "fork_h0_residual_2_in"} <= set(tasks.control.held)
    depth = chunk_depths(tasks)[stream]
    assert tasks.stream[stream].depth >= depth
    short = with_depth(tasks, stream, depth // PROMPT_ROWS)
    assert cycles(short, {"position": 20}) is not None
    waits, goes_on = cycles(short, CHUNK), cycles(tasks, CHUNK)
    assert goes_on is not None
    assert waits is None if deadlocks else (waits is not None and waits > 2 * goes_on)


def test_what_leaves_out_the_choice_has_a_last_turn_of_one_tile(bundle: Bundle) -> None:
    """All that brings the last turn its tokens, makes them and passes them on; the turns of layers are whole."""
    tasks = planned_tasks(bundle.graph, replace(KNOBS, slices=2), U55C)
    engine = [
        t.name for t in tasks.tasks if t.name.startswith(("engine0", "load_engine0")) and behind_layers(t.program)
    ]
    assert {"load_engine0_in1", "engine0_slice0", "engine0_slice1", "engine0_results"} <= {*engine}
    for task in map(tasks.task.__getitem__, engine):
        inside, (last,) = task.turns[:-1], nests(behind_layers(task.program))
        assert not any(nest.bounds for nest in nests(inside))
        if task.name == "engine0_route0":  # each row's one token
            continue
        (bound,) = last.bounds
        assert (bound.loop, bound.argument.name, bound.fixed + bound.each) == (0, CHOOSE, last.trips[0])
        (short,) = nests(program_at((last,), {CHOOSE: 0}))
        assert 0 < short.trips[0] < last.trips[0]
        assert short.trips[1:] == last.trips[1:]
    alone, chosen = (cycles(tasks, {"position": 20, CHOOSE: choose}) for choose in (0, 1))
    assert alone is not None
    assert chosen is not None
    assert alone < chosen


def test_copies_do_what_is_of_layers_alone(bundle: Bundle) -> None:
    """Behind layers the first one does all: others have another function, and it has streams of its own."""
    tasks = planned_tasks(bundle.graph, replace(KNOBS, rows=2), U55C)
    assert tasks.control is not None
    assert {"last_head_matmul_in0"} <= {*tasks.control.behind}
    for task in (tasks.task[name] for name in tasks.control.copied):
        first, other = (tasks.of_copy(task, copy) for copy in (0, 1))
        assert first == task
        assert other.program == of_layers(task.program)
        own = {access.stream for access in (*task.reads, *task.writes)}
        moved = {access.stream for access in (*other.reads, *other.writes)}
        assert own - moved <= {*tasks.control.behind}
        assert moved.isdisjoint(tasks.control.behind)
        if isinstance(task, EngineTask) and isinstance(other, EngineTask):
            assert other.served == task.served[:-1]
    assert all(tasks.copies(name) == 1 for name in tasks.control.behind)
    functions = {call: f.name for f in plan_functions(tasks) for call in f.members}
    assert functions["engine0"] != functions["engine0_row1"]
    without = replace(tasks, control=tasks.control._replace(behind=()))
    assert without.copies("last_head_matmul_in0") == 2


WAITING = replace(KNOBS, stream_width=2048)  # half of what an engine could take comes in a cycle
SIDE_BY_SIDE = {  # knobs, and rows that a copy takes in turns
    "2 rows": (replace(KNOBS, rows=2), U55C, 1),
    "3 rows, 2 slices": (replace(KNOBS, rows=3, slices=2), U55C, 1),
    "few ports": (replace(KNOBS, rows=3), FEW, 1),
    "in turns": (replace(WAITING, rows=2), U55C, 2),
    "4 rows, 2 in turns": (replace(WAITING, rows=4, slices=2, overall_unroll=256), U55C, 2),
}


@pytest.fixture(params=SIDE_BY_SIDE.values(), ids=[*SIDE_BY_SIDE])
def abreast(request: pytest.FixtureRequest, bundle: Bundle) -> TaskGraph:
    """With rows side by side."""
    knobs, board, each = request.param
    tasks = planned_tasks(bundle.graph, knobs, board)
    assert (tasks.abreast.rows, tasks.abreast.each) == (knobs.rows, each)
    return tasks


def test_rows_side_by_side_fit_the_schema(abreast: TaskGraph, tmp_path: Path) -> None:
    document = tmp_path / "dataflow.json"
    document.write_text(json.dumps(abreast.to_json()))
    assert complaints([document]) == ""
    assert task_timing_from_json(json.loads(document.read_text())).control == abreast.control


def test_what_a_design_says_of_rows_in_turns_has_to_fit(bundle: Bundle) -> None:
    data = json.loads(json.dumps(planned_tasks(bundle.graph, replace(WAITING, rows=2), U55C).to_json()))
    for change, said in (({"each": 2, "abreast": 3}, "2 of them in a copy"), ({"copied": []}, "it has no copies")):
        with pytest.raises(InvalidInputError, match=said):
            task_timing_from_json(data | {"control": data["control"] | change})


@pytest.mark.parametrize("rows", [2, 5, PROMPT_ROWS])
def test_rows_side_by_side_share_what_is_loaded(abreast: TaskGraph, rows: int) -> None:
    """Copies move together what one task does for all rows; its weights come once for as many rows as are abreast. What
    is behind layers the first copy moves for each row alone.
    """
    timed, side_by_side, told = timed_design(abreast, U55C), abreast.abreast, {"position": 20, ROWS: rows}
    chunk = timed.at((told,))
    for stream in chunk.streams:
        written = tokens(chunk.task[stream.source].program, "writes", stream.name)
        assert tokens(chunk.task[stream.target].program, "reads", stream.name) == written
    of_row = rows_of(told, "position")
    for stream in abreast.streams:
        if (passing := side_by_side.passing.get(stream.name)) is None:
            continue
        program, count = abreast.task[stream.source].program, abreast.copies(stream.name)
        names = [copy_name(stream.name, k) for k in range(min(count, rows))]
        moved = [tokens(chunk.task[_source(chunk, name)].program, "writes", name) for name in names]
        inside, behind = (
            [tokens(program_at(part(program), values), "writes", stream.name) for values in of_row]
            for part in (of_layers, behind_layers)
        )
        every = side_by_side.rows if passing in ONCE else count
        assert moved == [sum(inside[k::every]) + (k == 0) * sum(behind) for k in range(len(names))]
    inside = {"within"} if side_by_side.each == 1 else {"interleaved", "split"}
    assert {"shared", "dealt", "collected", *inside} <= set(side_by_side.passing.values())


def test_a_task_that_reads_rows_one_after_the_other_takes_the_luts_of_a_choice(bundle: Bundle) -> None:
    """Four FIFOs to a LUT of each bit: four of results are one, and thirteen of a route four, of which it has three for
    its four streams anyway.
    """
    tasks = planned_tasks(bundle.graph, replace(WAITING, rows=4), U55C)
    alone = replace(tasks, control=None)
    assert [tasks.abreast.choices("engine0_route0", a.stream) for a in tasks.task["engine0_route0"].reads] == [
        4,
        4,
        4,
        1,
    ]
    choices = {t.name: task_resources(t, tasks, U55C).lut - task_resources(t, alone, U55C).lut for t in tasks.tasks}
    width = {name: tasks.stream[tasks.task[name].reads[0].stream].itensor.width for name in choices if choices[name]}
    assert {name: luts for name, luts in choices.items() if luts} == width
    assert width.keys() == {"engine0_route0", "engine0_results"}


def test_an_engine_that_waits_for_weights_takes_rows_in_turns(bundle: Bundle) -> None:
    """In as many cycles as all its weights take, once for all of these rows, with a choice among tokens of each."""
    one, two, four = (planned_tasks(bundle.graph, replace(WAITING, rows=rows), U55C) for rows in (1, 2, 4))
    assert [tasks.copies("engine0") for tasks in (one, two, four)] == [1, 1, 1]
    engines = [tasks.task["engine0"] for tasks in (one, two, four)]
    work = [dict(e.operators).get("select", 0) for e in engines if isinstance(e, EngineTask)]
    assert work[1] - work[0] == work[2] - work[0] > 0  # up to four in a LUT
    told = {"position": 20, CHOOSE: 0, ROWS: PROMPT_ROWS}
    chunk, inside, behind = timed_design(four, U55C).at((told,)), list[int](), list[int]()
    for name in ("engine0", "engine0_in1_widening"):
        last = behind_layers(four.task[name].program)
        behind.append(sum(iterations(program_at(last, values)) for values in rows_of(told, "position")))
        inside.append(iterations(chunk.task[name].program) - behind[-1])
    assert inside[0] / inside[1] == pytest.approx(1, abs=0.01)
    assert behind[1] == 4 * behind[0]  # where each row is alone
    for tasks in (two, four):
        assert cycles(tasks, {CHOOSE: 0, ROWS: PROMPT_ROWS}) is not None


def test_rows_in_turns_alternate(bundle: Bundle) -> None:
    """Of each token of weights an iteration of the first row, of its own stream, and one of the second."""
    tasks = planned_tasks(bundle.graph, replace(WAITING, rows=4, slices=2, overall_unroll=256), U55C)
    chunk = timed_design(tasks, U55C).at(({"position": 20, ROWS: 7},))
    (first, *_), (last, *_) = (
        [n for n in walked(chunk.task[name].program) if len(n.trips) > 1]
        for name in ("engine0_route0", "engine0_route0_row1")
    )
    stream = "h0_attn_qkv_matmul_in0"
    assert [access.stream for access in first.reads] == [stream, copy_name(stream, 2)]
    assert [access.stream for access in last.reads] == [copy_name(stream, 1), copy_name(stream, 3)]
    assert [access.gates for access in first.reads] == [(Gate(1, 0, 1),), (Gate(1, 1, 2),)]
    alone = [n.trips[-1] for n in walked(chunk.task["engine0_slice0_row1"].program) if len(n.trips) > 1]
    assert set(alone) == {1, 2}  # rows 1 and 3; then 5, as there is no row 7


def test_a_slice_is_brought_its_weights_once_for_all_rows(bundle: Bundle) -> None:
    """By one task, which may be on its die; it alone writes what each row takes."""
    for rows, slices in ((1, 2), (3, 2), (3, 1)):
        tasks = planned_tasks(bundle.graph, replace(KNOBS, rows=rows, slices=slices), U55C)
        shares = {task.reads[0].stream: task.writes[0].stream for task in tasks.tasks if task.name.endswith("_share")}
        wanted = [f"engine0_slice{n}_in1" for n in range(slices)] if rows > 1 < slices else []
        assert list(shares.values()) == wanted
        copies = [(tasks.copies(read), tasks.copies(write)) for read, write in shares.items()]
        assert copies == [(1, rows)] * len(wanted)
        assert all(tasks.stream[read].depth <= tasks.stream[write].depth for read, write in shares.items())


def _source(design: TimedDesign, stream: str) -> str:
    return next(s.source for s in design.streams if s.name == stream)


def test_rows_side_by_side_take_less(bundle: Bundle) -> None:
    """Where engines are busy longest."""
    few = replace(KNOBS, overall_unroll=32)
    chunk = {CHOOSE: 0, ROWS: PROMPT_ROWS}
    one, two, three = (cycles(planned_tasks(bundle.graph, replace(few, rows=n), U55C), chunk) for n in (1, 2, 3))
    assert one is not None
    assert two is not None
    assert three is not None
    assert three < two < 0.8 * one


def test_behind_what_is_side_by_side_a_row_waits_for_those_before(abreast: TaskGraph) -> None:
    """Of the tokens of a row; in front of copies converters hold it."""
    depths, found = chunk_depths(abreast), list[str]()
    for name, passing in abreast.abreast.passing.items():
        if passing not in APART:
            continue
        assert abreast.stream[name].depth >= depths[name]
        short = with_depth(abreast, name, 1)
        assert cycles(short, {"position": 20}) is not None
        found += [passing] if cycles(short, CHUNK) is None else []
    assert "collected" in found


def test_rows_side_by_side_are_certified(abreast: TaskGraph) -> None:
    sized = certify(abreast, U55C, effort=0).tasks
    assert all(sized.stream[name].depth >= depth for name, depth in chunk_depths(sized).items())
    for rows in range(1, PROMPT_ROWS + 1):
        assert cycles(sized, {"position": 30}, {"position": 16, ROWS: rows}, {"position": 3}) is not None


def test_certified_depths_take_chunks(tasks: TaskGraph, platform: Platform) -> None:
    sized = certify(tasks, platform, effort=0).tasks
    for name, depth in chunk_depths(sized).items():
        assert sized.stream[name].depth >= depth
    for position in (0, 16, 23):
        assert cycles(sized, {"position": 30}, {"position": position, ROWS: PROMPT_ROWS}) is not None
