"""Programs of chunks of a prompt: by hand, and whole designs beside their tokens one by one."""

import pytest
from prompt_chunks import check_moves
from stepping_networks import replying

from compiler.errors import InvalidInputError
from compiler.graph.layers import folded
from compiler.graph.program import Access, Argument, BoundLoop, LoopNest, Repeat, iterations, tokens, walked
from compiler.graph.task_graph import TaskGraph
from compiler.options import Knobs
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import load_platform
from compiler.simulator.timing.design import TimedDesign, timed_design
from compiler.simulator.timing.prompt_rows import ROWS, chunk_program, rows_of
from compiler.simulator.timing.simulate import simulate_design

U55C = load_platform("u55c")
TILES = Argument("position", 15, 4, 1)
ROWS_AT = ({"position": 2}, {"position": 3}, {"position": 4})


def nest(trips: tuple[int, ...], name: str, restarts: int = 0, *, follows: int | None = None) -> LoopNest:
    bounds = () if follows is None else (BoundLoop(follows, TILES),)
    return LoopNest(trips, (Access(name),), (), restarts, bounds)


def reads(program: tuple[LoopNest | Repeat, ...]) -> list[tuple[str, int]]:
    """Streams in the order in which they are read, each with the iterations of its run."""
    return [(part.reads[0].stream, part.run) for part in walked(program) for _ in range(part.runs)]


def test_only_the_last_row_chooses() -> None:
    told = {"position": 4, "choose": 1, ROWS: 3}
    assert rows_of(told, "position") == (
        {"position": 4, "choose": 0}, {"position": 5, "choose": 0}, {"position": 6, "choose": 1},
    )  # fmt: skip
    assert rows_of({"position": 4}, "position") == ({"position": 4},)
    assert rows_of({ROWS: 2}, "position") == ({"choose": 0}, {})  # a design that follows no position


def test_without_layers_each_row_is_all_that_the_task_does() -> None:
    program = nest((2,), "a"), nest((4, 3), "b", follows=0)
    assert reads(chunk_program(program, ROWS_AT, "", sends=False)) == [
        ("a", 2), ("b", 3), ("a", 2), ("b", 3), ("a", 2), ("b", 6),  # position 4 begins a tile
    ]  # fmt: skip


def test_rows_follow_each_other_within_a_layer() -> None:
    """Whether layers are the outer loop of a nest, or repeat turns; what stands before them is done for all rows."""
    by_nest = chunk_program((nest((2, 4, 3), "a", 1, follows=1),), ROWS_AT, "", sends=False)
    assert reads(by_nest) == 2 * [("a", 3), ("a", 3), ("a", 6)]
    turns = (Repeat(1, (nest((5,), "first"),)), Repeat(2, (nest((5,), "back"), nest((4, 1), "more", follows=0))))
    back = [("back", 5), ("more", 1), ("back", 5), ("more", 1), ("back", 5), ("more", 2)]
    assert reads(chunk_program(turns, ROWS_AT, "", sends=False)) == [*(3 * [("first", 5)]), *back, *back]


def test_credits_stand_between_the_rows_of_a_layer() -> None:
    taken = reads(chunk_program((nest((2, 4), "a", 1),), ROWS_AT, "credit", sends=False))
    assert taken == 2 * [("a", 4), ("credit", 1), ("a", 4), ("credit", 1), ("a", 4)]
    sent = chunk_program((nest((2, 4), "a", 1),), ROWS_AT, "credit", sends=True)
    names = [(part.reads or part.writes)[0].stream for part in walked(sent)]
    assert names == 2 * ["a", "credit", "a", "credit", "a"]


@pytest.fixture(scope="module")
def tasks() -> TaskGraph:
    graph = folded(replying(4))
    assert graph is not None
    return planned_tasks(graph, Knobs(default_tile_size=4, overall_unroll=8), U55C)


@pytest.fixture(scope="module")
def design(tasks: TaskGraph) -> TimedDesign:
    return timed_design(tasks, U55C)


@pytest.mark.parametrize(("begin", "rows"), [(0, 2), (3, 8), (13, 5), (55, 8)])
def test_a_chunk_moves_what_its_tokens_move(design: TimedDesign, begin: int, rows: int) -> None:
    chunk = check_moves(design, {"position": begin, ROWS: rows}, [{"position": begin + row} for row in range(rows)])
    credited = [s for s in design.streams if s.name.endswith("_row")]
    assert credited
    assert all(tokens(chunk.task[s.source].program, "writes", s.name) == 4 * (rows - 1) for s in credited)


def test_a_chunk_takes_less_than_its_tokens(design: TimedDesign) -> None:
    def cycles(*launches: dict[str, int]) -> int:
        found = simulate_design(design, U55C, launches=launches, buckets=0)
        assert found.deadlock is None
        return found.cycles

    alone = cycles(*({"position": 20 + row} for row in range(8)))
    chunk = cycles({"position": 20, ROWS: 8})
    assert max(iterations(t.program) for t in design.at(({"position": 20, ROWS: 8},)).tasks) < chunk < 0.9 * alone


def test_a_design_takes_no_more_rows_than_it_has_room_for(design: TimedDesign) -> None:
    for rows in (0, 9):
        with pytest.raises(InvalidInputError, match="no argument rows; those that it has: position"):
            design.at(({"position": 0, ROWS: rows},))
