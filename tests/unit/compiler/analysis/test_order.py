"""Orders of tasks; that equal designs have equal ones is for the goldens to say."""

from random import Random

import pytest
from tasks_by_hand import compute

from compiler.analysis.order import order_tasks
from compiler.errors import VerificationError
from compiler.graph.itensor import ITensor, Loop
from compiler.graph.program import Access
from compiler.graph.task_graph import ComputeTask, Stream, TimingSpec

ONE = TimingSpec((4,), 1, 3)
TOKENS = ITensor((1,), "f32", (Loop(4, 1, 0),))


def graph(edges: list[tuple[str, str]]) -> tuple[list[ComputeTask], list[Stream]]:
    streams = [Stream(f"{a}_{b}", a, b, TOKENS) for a, b in edges]
    names = sorted({name for edge in edges for name in edge})
    reads = {n: [Access(s.name) for s in streams if s.target == n] for n in names}
    writes = {n: [Access(s.name) for s in streams if s.source == n] for n in names}
    return [compute(n, ONE, reads[n], writes[n]) for n in names], streams


def test_streams_run_forward_and_the_order_is_unique() -> None:
    tasks, streams = graph([("d", "b"), ("d", "c"), ("b", "a"), ("c", "a")])
    for seed in range(5):
        Random(seed).shuffle(tasks)
        assert [t.name for t in order_tasks(tasks, streams)] == ["d", "b", "c", "a"]


@pytest.mark.parametrize(
    ("edges", "circle"),
    [
        ([("a", "b"), ("b", "a")], "a > b > a"),
        ([("in", "a"), ("a", "b"), ("b", "c"), ("c", "a"), ("c", "out")], "a > b > c > a"),
        ([("z", "y"), ("y", "z"), ("z", "a")], "y > z > y"),
        ([("a", "a")], "a > a"),
    ],
)
def test_what_is_on_a_cycle_or_behind_one_is_not_dropped(edges: list[tuple[str, str]], circle: str) -> None:
    with pytest.raises(VerificationError, match="cycle of streams") as found:
        order_tasks(*graph(edges))
    named = str(found.value).split(", ")[1].split(":")[0]
    around = circle.split(" > ")
    assert named.split(" > ")[0] == named.split(" > ")[-1]
    assert set(named.split(" > ")) == set(around)
    turns = [" > ".join([*around[k:-1], *around[: k + 1]]) for k in range(len(around) - 1)]
    assert named in turns


def test_a_stream_that_leads_back_leaves_the_order_alone() -> None:
    tasks, streams = graph([("in", "a"), ("a", "b"), ("b", "c"), ("c", "a"), ("c", "out"), ("out", "out")])
    marked = [s._replace(feedback=s.name in ("c_a", "out_out")) for s in streams]
    assert [t.name for t in order_tasks(tasks, marked)] == ["in", "a", "b", "c", "out"]
    with pytest.raises(VerificationError, match="out > out"):
        order_tasks(tasks, [s._replace(feedback=s.name == "c_a") for s in streams])
