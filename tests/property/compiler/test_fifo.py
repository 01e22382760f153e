"""The safe FIFO rule: on random dataflow graphs with random token orders it never deadlocks."""

from hypothesis import given, settings
from hypothesis import strategies as st

from compiler.analysis.fifo import biconnected_components, size_fifos
from compiler.graph.itensor import ITensor, Loop
from compiler.graph.task_graph import Stream


@st.composite
def multigraphs(draw: st.DrawFn) -> list[tuple[str, str]]:
    nodes = draw(st.integers(2, 7))
    pairs = st.tuples(st.integers(0, nodes - 2), st.integers(1, nodes - 1)).filter(lambda p: p[0] < p[1])
    return [(f"t{a}", f"t{b}") for a, b in draw(st.lists(pairs, min_size=1, max_size=10))]


def _connected(edges: list[tuple[str, str]], start: str, goal: str, without: int) -> bool:
    """Whether `goal` is reached from `start` when edge `without` is gone, directions ignored."""
    seen, stack = {start}, [start]
    while stack:
        node = stack.pop()
        for k, (a, b) in enumerate(edges):
            if k != without and node in (a, b):
                other = b if node == a else a
                if other not in seen:
                    seen.add(other)
                    stack.append(other)
    return goal in seen


@given(multigraphs())
@settings(max_examples=200, deadline=None)
def test_an_edge_shares_its_component_iff_it_lies_on_a_cycle(edges: list[tuple[str, str]]):
    component = biconnected_components(edges)
    assert min(component) >= 0
    for k, (a, b) in enumerate(edges):
        alone = component.count(component[k]) == 1
        assert alone == (not _connected(edges, a, b, k))


def _runs(streams: list[Stream], orders: dict[str, list[tuple[str, str]]]) -> bool:
    """Whether all tasks finish. A task performs its list of (`read`|`write`, stream) in order, blocking."""
    depth = {s.name: s.depth for s in streams}
    held = dict.fromkeys(depth, 0)
    position = dict.fromkeys(orders, 0)
    moved = True
    while moved:
        moved = False
        for task, actions in orders.items():
            while position[task] < len(actions):
                action, stream = actions[position[task]]
                if (action == "read" and held[stream] == 0) or (action == "write" and held[stream] == depth[stream]):
                    break
                held[stream] += 1 if action == "write" else -1
                position[task] += 1
                moved = True
    return all(position[t] == len(a) for t, a in orders.items())


@given(multigraphs(), st.randoms(use_true_random=False), st.integers(3, 6))
@settings(max_examples=300, deadline=None)
def test_no_order_of_reads_and_writes_deadlocks(edges: list[tuple[str, str]], random, tokens: int):
    itensor = ITensor((1,), "f32", (Loop(tokens, 1, 0),))
    streams = [Stream(f"s{k}", a, b, itensor) for k, (a, b) in enumerate(edges)]
    sized = list(size_fifos((), streams, "safe"))
    orders: dict[str, list[tuple[str, str]]] = {}
    for task in sorted({t for edge in edges for t in edge}):
        reads = [("read", s.name) for s in streams if s.target == task for _ in range(tokens)]
        writes = [("write", s.name) for s in streams if s.source == task for _ in range(tokens)]
        actions = reads + writes
        random.shuffle(actions)
        orders[task] = actions
    assert _runs(sized, orders)
