"""Counting and finding in programs, against walking them; what a run of no iterations costs."""

from itertools import pairwise

import pytest
from cycle_reference import run_reference
from random_programs import program_network
from random_tasks import admits

from compiler.errors import InvalidInputError, VerificationError
from compiler.graph.program import (
    Access,
    Argument,
    BoundLoop,
    Gate,
    LoopNest,
    Program,
    Repeat,
    Side,
    access_at,
    all_launches,
    iteration_of,
    iterations,
    nests,
    run_at,
    single_runs,
    streams,
    tokens,
)
from compiler.graph.task_graph import PipelineStyle
from compiler.simulator.timing.core import run
from compiler.simulator.timing.network import Fifo, Network, Process


def walked(program: Program) -> list[tuple[int, LoopNest, list[int]]]:
    """Run number, nest and loop indices of each iteration."""
    found: list[tuple[int, LoopNest, list[int]]] = []
    runs = 0
    for part in program:
        for _ in range(part.times if isinstance(part, Repeat) else 1):
            inside = walked(part.body) if isinstance(part, Repeat) else _nest(part)
            found += [(runs + number, nest, index) for number, nest, index in inside]
            runs += 1 + max((number for number, *_ in inside), default=0)
    return found


def _nest(nest: LoopNest) -> list[tuple[int, LoopNest, list[int]]]:
    found: list[tuple[int, LoopNest, list[int]]] = []
    for iteration in range(nest.iterations):
        rest, index = iteration, list[int]()
        for trip in reversed(nest.trips):
            rest, at = divmod(rest, trip)
            index.insert(0, at)
        found.append((iteration // nest.run, nest, index))
    return found


def moves(program: Program, side: Side, stream: str) -> list[int]:
    found: list[int] = []
    for n, (_, nest, index) in enumerate(walked(program)):
        access = nest.access(side, stream)
        if access is not None and all(g.low <= index[g.loop] < g.high for g in access.gates):
            found.append(n)
    return found


def test_random_programs_are_counted_as_they_are_walked() -> None:
    for seed in range(150):
        for process in program_network(seed).processes:
            program, all_of = process.program, walked(process.program)
            assert process.iterations == iterations(program) == len(all_of)
            numbers = [number for number, *_ in all_of]
            for n in range(0, len(all_of), 7):
                begin, end = run_at(program, n)
                assert numbers[begin:end] == [numbers[n]] * (end - begin)
                assert numbers.count(numbers[n]) == end - begin, f"seed {seed}"
            for side in ("reads", "writes"):
                for stream in streams(program, side):
                    expected = moves(program, side, stream)
                    found = [iteration_of(program, side, stream, token) for token in range(len(expected) + 1)]
                    assert found == [*expected, None], f"seed {seed}"


def test_there_is_no_run_behind_the_end() -> None:
    with pytest.raises(IndexError, match="of 6 iterations has no iteration 6"):
        run_at((Repeat(2, (LoopNest((3,), (), ()),)),), 6)


def alone(*program: LoopNest | Repeat, gap: int, style: PipelineStyle = "flp", drains: bool = True) -> Network:
    return Network((Process("p", program, 1, 2, style, gap=gap, drains=drains),), ())


def cycles(*program: LoopNest | Repeat, gap: int, style: PipelineStyle = "flp", drains: bool = True) -> int:
    network = alone(*program, gap=gap, style=style, drains=drains)
    outcome = run(network)
    assert outcome == run(network, fast_forward=False) == run_reference(network)
    assert not outcome.deadlocked
    return outcome.cycles


FOUR, NONE = LoopNest((4,), (), ()), LoopNest((0,), (), ())


def test_two_runs_are_a_gap_apart_whatever_makes_them() -> None:
    """Each takes five cycles: four enter, the last leaves a cycle later."""
    assert cycles(FOUR, gap=3) == 5
    assert cycles(FOUR, FOUR, gap=3) == cycles(Repeat(2, (FOUR,)), gap=3) == 5 + 3 + 5
    assert cycles(LoopNest((2, 4), (), (), restarts=1), gap=3) == 13
    assert cycles(FOUR, FOUR, gap=3, drains=False) == 4 + 3 + 5


def test_a_run_of_no_iterations_costs_a_gap() -> None:
    assert cycles(FOUR, NONE, FOUR, gap=3) == 5 + 2 * 3 + 5
    assert cycles(FOUR, LoopNest((3, 0), (), (), restarts=1), FOUR, gap=3) == 5 + 4 * 3 + 5
    assert cycles(FOUR, LoopNest((0, 3), (), (), restarts=1), FOUR, gap=3) == 5 + 3 + 5  # no run at all
    assert cycles(FOUR, Repeat(2, (NONE, Repeat(3, (NONE,)))), FOUR, gap=3) == 5 + 9 * 3 + 5
    assert cycles(FOUR, NONE, FOUR, gap=3, drains=False) == 4 + 2 * 3 + 5
    assert cycles(FOUR, NONE, FOUR, gap=3, style="stp") == 5 + 2 * 3 + 5


def test_before_the_first_iteration_it_costs_a_gap_and_behind_the_last_nothing() -> None:
    assert cycles(NONE, NONE, FOUR, gap=3) == 2 * 3 + 5
    assert cycles(NONE, NONE, FOUR, gap=3, style="stp") == 2 * 3 + 5
    assert cycles(FOUR, NONE, NONE, gap=3) == 5
    assert cycles(Repeat(3, (NONE, FOUR)), gap=3) == 3 + 5 + 6 + 5 + 6 + 5
    assert cycles(Repeat(3, (FOUR, NONE)), gap=3) == 5 + 6 + 5 + 6 + 5


def test_a_program_without_iterations_is_over_before_the_first_cycle() -> None:
    programs: tuple[Program, ...] = ((), (NONE,), (Repeat(0, (FOUR,)),), (Repeat(5, (NONE,)),))
    for program in programs:
        outcome = run(alone(*program, gap=3))
        assert outcome == run_reference(alone(*program, gap=3))
        assert (outcome.cycles, outcome.processes[0].start, outcome.processes[0].end) == (0, -1, 0)
    assert run(alone(Repeat(1 << 40, (NONE,)), gap=3)).cycles == 0


def test_no_other_counts_make_a_process() -> None:
    for program in ((LoopNest((-1,), (), ()),), (LoopNest((3,), (), (), restarts=2),), (Repeat(-1, (FOUR,)),)):
        with pytest.raises(VerificationError, match="p has no timing"):
            Process("p", program, 1, 2)


def test_a_fifo_does_not_begin_with_more_than_it_holds() -> None:
    with pytest.raises(VerificationError, match="FIFO s holds 2 tokens; it can not begin with 3"):
        Fifo("s", "a", "b", 2, 3)


def test_tokens_that_were_there_are_counted_as_held_alone() -> None:
    """Three of eight are there before the first is written, so that reading is never late."""
    source = Process.of_nest("a", (5,), 1, 2, (), (Access("s"),))
    sink = Process.of_nest("b", (2, 4), 1, 2, (Access("s", (Gate(0, 0, 2),)),), ())
    outcome = run(Network((source, sink), (Fifo("s", "a", "b", 4, 3),)))
    assert (outcome.fifos[0].pushed, outcome.fifos[0].popped, outcome.fifos[0].peak) == (5, 8, 3)
    assert outcome.processes[1].empty == 0


def nests_in_time(program: Program) -> list[tuple[int, set[tuple[str, str]]]]:
    """Of each iteration the number of its run, and what it moves."""
    found: list[tuple[int, set[tuple[str, str]]]] = []
    for number, nest, index in walked(program):
        accesses = (("reads", nest.reads), ("writes", nest.writes))
        moved = {(side, a.stream) for side, some in accesses for a in some if admits(a, tuple(index))}
        found.append((number, moved))
    return found


@pytest.mark.parametrize("seed", range(200))
def test_runs_as_nests_of_their_own_move_the_same(seed: int):
    for process in program_network(seed).processes:
        alone = single_runs(process.program)
        assert all(nest.restarts == 0 for nest in nests(alone))
        assert [moved for _, moved in nests_in_time(alone)] == [moved for _, moved in nests_in_time(process.program)]


def test_runs_that_are_alike_are_one_part_however_many_there_are():
    first, last = Access("first", (Gate(0, 0, 1), Gate(1, 0, 1))), Access("last", (Gate(1, 10**9 - 1, 10**9),))
    nest = LoopNest((10**9, 10**9, 4), (first,), (last,), 2)
    plain, end = LoopNest((4,), (), ()), LoopNest((4,), (), (Access("last"),))
    row = (Repeat(10**9 - 1, (plain,)), end)
    assert single_runs((nest,)) == (
        LoopNest((4,), (Access("first"),), ()),
        Repeat(10**9 - 2, (plain,)),
        end,
        Repeat(10**9 - 1, row),
    )
    assert single_runs((LoopNest((3, 0, 4), (), (), 2),)) == ()


COLUMNS = Argument("position", 30, 8)


def test_an_argument_makes_an_iteration_for_each_begun_tile():
    assert [COLUMNS.trip(value) for value in (0, 1, 7, 8, 9, 16, 17, 30)] == [0, 1, 1, 1, 2, 2, 3, 4]
    for value in (-1, 31):
        with pytest.raises(InvalidInputError, match=r"position is .*it must be 0 to 30"):
            COLUMNS.trip(value)


def test_the_first_and_the_last_stay_so_where_there_are_fewer():
    reads = (Access("first", (Gate(1, 0, 1),)), Access("last", (Gate(1, 3, 4),)), Access("row", (Gate(0, 1, 2),)))
    nest = LoopNest((3, 4), reads, (), bounds=(BoundLoop(1, COLUMNS),))
    assert nest.at({}) == LoopNest((3, 4), reads, ())
    two = nest.at({"position": 9})
    assert two.trips == (3, 2)
    assert [a.gates for a in two.reads] == [(Gate(1, 0, 1),), (Gate(1, 1, 2),), (Gate(0, 1, 2),)]
    assert [a.gates for a in nest.at({"position": 1}).reads] == [(), (), (Gate(0, 1, 2),)]
    assert [tokens((nest.at({"position": 0}),), "reads", a.stream) for a in reads] == [0, 0, 0]


@pytest.mark.parametrize(
    ("gate", "fewer"),
    [
        ((0, 2), {1: (0, 1), 3: (0, 2)}),
        ((0, 3), {1: (0, 0), 2: (0, 1), 3: (0, 2)}),
        ((1, 4), {1: (1, 1), 2: (1, 2), 3: (1, 3)}),
        ((1, 3), {1: (0, 0), 2: (1, 1), 3: (1, 2)}),
    ],
    ids=["the first two", "all but the last", "all but the first", "all but both"],
)
def test_iterations_in_front_of_the_last_are_those_that_a_launch_does_without(
    gate: tuple[int, int], fewer: dict[int, tuple[int, int]]
):
    access = Access("some", (Gate(0, *gate),))
    assert {now: access_at(access, (4,), (now,)).gates for now in fewer} == {
        now: () if left == (0, now) else (Gate(0, *left),) for now, left in fewer.items()
    }


def test_a_loop_makes_fixed_iterations_and_some_for_each_tile():
    """A position stands for those before it and itself."""
    position = Argument("position", 15, 4, more=1)
    bound = BoundLoop(0, position, fixed=-1, each=4)
    assert [position.trip(value) for value in (0, 3, 4, 15)] == [1, 1, 2, 4]
    assert (bound.trip(3), bound.trip(4), bound.most) == (3, 7, 15)
    rows = LoopNest((2, 15), (), (Access("rows", (Gate(1, 0, 14),)),), restarts=1, bounds=(bound._replace(loop=1),))
    assert rows.at({"position": 4}) == LoopNest((2, 7), (), (Access("rows", (Gate(1, 0, 6),)),), restarts=1)
    assert single_runs((rows,)) == (
        Repeat(2, (LoopNest((15,), (), (Access("rows", (Gate(0, 0, 14),)),), bounds=(bound,)),)),
    )


def test_of_many_tiles_some_are_tried():
    position = Argument("position", 8 * 100 - 1, 8, more=1)
    tiles = {position.trip(values.get("position", 799)) for values in all_launches((position,))}
    assert tiles == {1, 2, 3, 51, 99, 100}


def test_launches_make_every_number_of_iterations_short_ones_beside_long_ones():
    launches = all_launches((COLUMNS,))
    trips = [COLUMNS.trip(values.get("position", 30)) for values in launches]
    assert set(trips) == {0, 1, 2, 3, 4}
    assert {(0, 4), (4, 0), (1, 3), (3, 1)} <= set(pairwise(trips))
    two = all_launches((COLUMNS, Argument("rows", 2)))
    assert {"position": 0, "rows": 0} in two
    assert {"rows": 1} in two
