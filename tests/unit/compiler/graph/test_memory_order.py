"""Which loads may ask for what, by the credits that they have taken."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from through_memory import KEPT, credited, through_memory, with_depth

from compiler.errors import VerificationError
from compiler.graph.memory_order import MOST_RUNS, CreditStream, Hazard, MemoryUse, hazards, misplaced_credit
from compiler.graph.program import Access, Argument, BoundLoop, Gate, LoopNest, Program, Repeat
from compiler.graph.task_graph import TaskGraph

CREDIT = CreditStream("credit", "put", "get", 0)
LAST, FIRST = (Gate(1, 3, 4),), (Gate(1, 0, 1),)


def rows(*, sends: bool = True, restarts: int = 1, times: int = 3) -> MemoryUse:
    """A store of so many rows of four, with a credit for each."""
    writes = (Access("credit", LAST),) if sends else ()
    return MemoryUse("put", 0, "k", True, (LoopNest((times, 4), (Access("x"),), writes, restarts),))


def reads(program: Program, again: Sequence[bool] = (), kernel: int = 0) -> MemoryUse:
    return MemoryUse("get", kernel, "k", False, program, tuple(again))


def nest(*trips: int, restarts: int = 1, gates: tuple[Gate, ...] = FIRST) -> LoopNest:
    return LoopNest(trips, (Access("credit", gates),), (Access("y"),), restarts)


def found(store: MemoryUse, load: MemoryUse, initial: int = 0) -> list[Hazard]:
    return list(hazards((store, load), [CREDIT._replace(initial=initial)]))


def test_a_credit_for_each_row_is_enough_for_that_row_and_for_those_before() -> None:
    assert found(rows(), reads((nest(3, 4),), (False, False))) == []
    back = (LoopNest((3, 2, 4), (Access("credit", (Gate(1, 0, 1), Gate(2, 0, 1))),), (Access("y"),), 1),)
    assert found(rows(), reads(back, (False, True, False))) == []


def test_what_is_asked_for_before_its_credit_is_found() -> None:
    ahead = Hazard("get", "put", "k", run=0, asked=4, credited=0)
    plain = LoopNest((3, 4), (), (Access("y"),), 1)
    assert found(rows(sends=False), reads((plain,), (False, False))) == [ahead]
    assert found(rows(), reads((plain, nest(3, 4)))) == [ahead]
    assert "get may read what k was before put writes it" in str(ahead)


def test_all_rows_in_one_run_need_the_credits_of_all() -> None:
    whole = (LoopNest((3, 4), (Access("credit", (Gate(0, 0, 1), Gate(1, 0, 1))),), (Access("y"),)),)
    assert [h.credited for h in found(rows(), reads(whole, (False, False)))] == [4]
    at_the_end = MemoryUse("put", 0, "k", True, (LoopNest((3, 4), (), (Access("credit", (Gate(0, 2, 3), *LAST)),)),))
    assert found(at_the_end, reads(whole, (False, False))) == []


def test_initial_credits_let_a_load_ask_too_early() -> None:
    assert [(h.run, h.asked, h.credited) for h in found(rows(), reads((nest(3, 4),), (False, False)), 1)] == [(0, 4, 0)]


def test_a_loop_that_reads_again_needs_its_rows_once() -> None:
    """All rows twice, and each row twice: with a credit a row only the second can begin before all are there."""
    again = (LoopNest((2, 3, 4), (Access("credit", (Gate(0, 0, 1), Gate(2, 0, 1))),), (Access("y"),), 2),)
    assert found(rows(), reads(again, (True, False, False))) == []
    each = (LoopNest((2, 3, 4), (Access("credit", (Gate(2, 0, 1),)),), (Access("y"),), 2),)
    assert found(rows(), reads(each, (False, True, False))) == []
    assert [h.run for h in found(rows(times=2), reads(again, (False, False, False)))] == [2]


def test_turns_read_the_image_from_end_to_end_and_again() -> None:
    row = LoopNest((4,), (Access("credit", (Gate(0, 0, 1),)),), (Access("y"),))
    late = LoopNest((4,), (), (Access("y"),))
    assert found(rows(), reads((Repeat(3, (row,)), Repeat(3, (late,))))) == []
    assert [h.run for h in found(rows(), reads((Repeat(2, (row,)), late)))] == [2]


def test_kernels_run_one_after_the_other() -> None:
    assert found(rows(sends=False), reads((nest(3, 4),), (False, False), kernel=1)) == []


def test_runs_that_are_too_many_are_not_followed() -> None:
    many = reads((nest(MOST_RUNS + 1, 4),), (False, False))
    with pytest.raises(VerificationError, match=r"get makes more than .* runs"):
        found(rows(), many)


def test_runs_of_nothing_and_credits_that_were_there_are_not_followed_one_by_one() -> None:
    often = 10**12
    nothing = Repeat(often, (LoopNest((0,), (), ()),))
    store = replace(rows(), program=(nothing, *rows().program))
    load = reads((nest(3, 4), nothing))
    assert found(store, load) == []
    assert [h.credited for h in found(store, load, initial=often)] == [0]


def test_credits_stand_at_the_ends_of_runs() -> None:
    assert misplaced_credit(rows().program, {"credit"}, writes=True) is None
    assert misplaced_credit(rows(restarts=0).program, {"credit"}, writes=True) == "credit"
    assert misplaced_credit((Repeat(2, (nest(3, 4, gates=(Gate(1, 1, 2),)),)),), {"credit"}, writes=False) == "credit"
    assert misplaced_credit((nest(3, 4),), {"credit"}, writes=False) is None


def test_a_graph_without_a_credit_is_refused_by_name() -> None:
    with pytest.raises(VerificationError, match=r"load_k may read what k was before store_k writes it"):
        through_memory().verify()
    for outer in (0, 1, 2):
        credited(outer).verify()


def _changed(tasks: TaskGraph, name: str, **changes: object) -> TaskGraph:
    return replace(tasks, tasks=tuple(replace(t, **changes) if t.name == name else t for t in tasks.tasks))


def test_a_credit_in_the_midst_of_a_run_is_refused() -> None:
    tasks = credited()
    timing = replace(tasks.task["store_k"].timing, restarts=0)
    with pytest.raises(VerificationError, match=r"store_k does not write load_k_credit in the last iteration of a run"):
        _changed(tasks, "store_k", timing=timing).verify()
    late = (Access("load_k_credit", (Gate(1, 1, 2),)),)
    with pytest.raises(VerificationError, match=r"load_k does not take load_k_credit in the first iteration of a run"):
        _changed(tasks, "load_k", reads=late).verify()


def test_every_value_of_the_arguments_is_looked_at() -> None:
    """One row more is read than there are credits for, but where the argument is least."""
    position = Argument("position", 2)
    tasks = credited()
    timing = replace(tasks.task["store_k"].timing, bounds=(BoundLoop(0, position),))
    with pytest.raises(VerificationError, match="at position 0"):
        _changed(tasks, "store_k", timing=timing).verify()
    assert with_depth(tasks, KEPT, 4).stream[KEPT].depth == 4
