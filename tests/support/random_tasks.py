"""Random dataflow graphs of tasks with random loop nests, and whether they run to their end."""

from collections.abc import Callable, Sequence
from itertools import product
from random import Random
from typing import Any

from hypothesis import strategies as st
from tasks_by_hand import compute

from compiler.analysis.tasks import converter_task
from compiler.graph.converter import plan_converter
from compiler.graph.itensor import ITensor, Loop
from compiler.graph.program import Access, Gate
from compiler.graph.task_graph import ConverterTask, Stream, Task, TimingSpec
from compiler.platforms.platform import load_platform

U55C = load_platform("u55c")


@st.composite
def multigraphs(draw: st.DrawFn) -> list[tuple[str, str]]:
    nodes = draw(st.integers(2, 7))
    pairs = st.tuples(st.integers(0, nodes - 2), st.integers(1, nodes - 1)).filter(lambda p: p[0] < p[1])
    return [(f"t{a}", f"t{b}") for a, b in draw(st.lists(pairs, min_size=1, max_size=10))]


LANES = 32  # so wide that every token costs memory
LOOPS = {"a": 4, "b": 3, "c": 2}  # what every task of a random graph walks, each in an order of its own


def runs_to_the_end(tasks: Sequence[Task], streams: Sequence[Stream], random: Random) -> bool:
    """Whether all tasks finish. A task performs its reads and writes in order, blocking; who moves next is random."""
    depth = {s.name: s.depth for s in streams}
    held = dict.fromkeys(depth, 0)
    actions = {t.name: actions_of(t) for t in tasks}
    position = dict.fromkeys(actions, 0)
    running = [t.name for t in tasks]
    while running:
        random.shuffle(running)
        moved = False
        for task in running:
            while position[task] < len(actions[task]):
                writes, stream = actions[task][position[task]]
                if held[stream] == (depth[stream] if writes else 0):
                    break
                held[stream] += 1 if writes else -1
                position[task] += 1
                moved = True
        if not moved:
            return False
        running = [t for t in running if position[t] < len(actions[t])]
    return True


def actions_of(task: Task) -> list[tuple[bool, str]]:
    """What the task does to its streams, iteration by iteration: (writes, stream)."""
    made: list[tuple[bool, str]] = []
    converts = isinstance(task, ConverterTask)  # its drain comes before its fill, see targets/tasks/converter.py
    for index in product(*(range(trip) for trip in task.timing.trips)):
        reads = [(False, a.stream) for a in task.reads if admits(a, index)]
        writes = [(True, a.stream) for a in task.writes if admits(a, index)]
        made += writes + reads if converts else reads + writes
    return made


def admits(access: Access, index: tuple[int, ...]) -> bool:
    return all(g.low <= index[g.loop] < g.high for g in access.gates)


class RandomTasks:
    """A random graph: tasks in topological order that walk LOOPS in orders of their own; an access happens in one
    iteration of the loops that its stream lacks. Some streams pass through a converter of two orders of one tensor.
    """

    def __init__(self, edges: list[tuple[str, str]], draw: Callable[..., Any]) -> None:
        self.draw = draw
        self.streams: list[Stream] = []
        self.orders = {t: draw(st.permutations(sorted(LOOPS))) for t in sorted({t for edge in edges for t in edge})}
        self.reads: dict[str, list[Access]] = {t: [] for t in self.orders}
        self.writes: dict[str, list[Access]] = {t: [] for t in self.orders}
        self.converters: list[tuple[str, Task]] = []
        for k, (source, target) in enumerate(edges):
            if draw(st.integers(0, 3)) == 0:
                self._converted(k, source, target)
            else:
                self._stream(f"s{k}", source, target)

    def tasks(self) -> list[Task]:
        made: list[Task] = []
        for name, order in self.orders.items():
            made += [task for target, task in self.converters if target == name]
            trips = tuple(LOOPS[label] for label in order)
            depth = self.draw(st.integers(1, 9))
            timing = TimingSpec(trips, self.draw(st.integers(1, 3)), depth)
            made.append(compute(name, timing, self.reads[name], self.writes[name]))
        return made

    def _stream(self, name: str, source: str, target: str) -> None:
        kept = self.draw(st.sets(st.sampled_from(sorted(LOOPS))))
        tokens = 1
        for label in kept:
            tokens *= LOOPS[label]
        self.writes[source].append(self._access(name, source, kept))
        self.reads[target].append(self._access(name, target, kept))
        self.streams.append(Stream(name, source, target, ITensor((LANES,), "f32", (Loop(tokens, LANES, 0),))))

    def _converted(self, k: int, source: str, target: str) -> None:
        """All tokens, in an order of LOOPS on each side, and a converter between."""
        labels = sorted(LOOPS)
        orders = self.draw(st.permutations(labels)), self.draw(st.permutations(labels))
        sides = [ITensor((1,) * 3, "f32", tuple(Loop(LOOPS[a], 1, labels.index(a)) for a in order)) for order in orders]
        task = converter_task(f"c{k}", 0, plan_converter(*sides), f"s{k}_in", f"s{k}_out", U55C)
        self.converters.append((target, task))
        self.writes[source].append(Access(f"s{k}_in"))
        self.reads[target].append(Access(f"s{k}_out"))
        self.streams.append(Stream(f"s{k}_in", source, f"c{k}", sides[0]))
        self.streams.append(Stream(f"s{k}_out", f"c{k}", target, sides[1]))

    def _access(self, stream: str, task: str, kept: set[str]) -> Access:
        gates: list[Gate] = []
        for loop, label in enumerate(self.orders[task]):
            if label not in kept:
                at = self.draw(st.integers(0, LOOPS[label] - 1))
                gates.append(Gate(loop, at, at + 1))
        return Access(stream, tuple(gates))
