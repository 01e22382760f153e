"""The plan of least traffic: never worse than the greedy one, exact over its order, within its budgets."""

from itertools import combinations, pairwise

from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from small_graphs import ALL, PASS, attention_front, elementwise, matmul, mlp

from compiler.analysis.fusion import greedy_fusion, plan_fusion
from compiler.analysis.fusion_costs import FusionCosts
from compiler.analysis.itensors import read_itensors, write_itensors
from compiler.analysis.tiling import plan_nests
from compiler.graph.linalg_graph import Body, LinalgGraph, LinalgOp, Operand, Output, ScalarOp, Value
from compiler.options import Knobs, TaskOverride
from compiler.platforms.platform import load_platform

U55C = load_platform("u55c")

BOARD = 40 << 20
SUM = Body(("f32", "f32"), (ScalarOp("arith.addf", (0, 1), "f32"),), 2)
SIZE = 8


@st.composite
def networks(draw: st.DrawFn) -> LinalgGraph:
    """Square values through products, transposes and sums; sums close cycles between any two earlier values."""
    names, values, ops = ["x"], [Value("x", (SIZE, SIZE), "f32", "input", "x")], list[LinalgOp]()
    for k in range(draw(st.integers(1, 7))):
        source, out = draw(st.sampled_from(names)), f"v{k}"
        kind = draw(st.sampled_from(["product", "transpose", "sum"]))
        if kind == "product":
            values.append(Value(f"w{k}", (SIZE, SIZE), "f32", "param", f"w{k}"))
            ops.append(matmul(f"op{k}", SIZE, SIZE, SIZE, source, f"w{k}", out))
        elif kind == "transpose":
            ops.append(elementwise(f"op{k}", (SIZE, SIZE), (Operand(source, (1, 0)),), out, PASS))
        else:
            other = draw(st.sampled_from(names))
            operands = (Operand(source, (0, 1)), Operand(other, (0, 1)))
            ops.append(elementwise(f"op{k}", (SIZE, SIZE), operands, out, SUM))
        values.append(Value(out, (SIZE, SIZE), "f32"))
        names.append(out)
    return LinalgGraph("net", tuple(values), tuple(ops), (Output("y", names[-1], (0, 1), (SIZE, SIZE)),))


KNOBS = st.builds(
    Knobs,
    default_tile_size=st.sampled_from([1, 2, 4, 8]),
    overall_unroll=st.sampled_from([1, 8, 64]),
    order=st.sampled_from(["reduction-inner", "reduction-outer"]),
)
GRAPHS = networks() | st.sampled_from([make() for make in ALL.values()])
BUDGETS = st.sampled_from([0, 8, 64, 128, 256, 512, 1 << 20])
BEGINS = st.frozensets(st.sampled_from(["op1", "op2", "op4", "up", "down"]), max_size=2)
"""Some of which a network has."""


def costs_of(graph: LinalgGraph, knobs: Knobs) -> FusionCosts:
    nests = plan_nests(graph, knobs, U55C)
    return FusionCosts(graph, read_itensors(graph, nests), write_itensors(graph, nests))


@settings(max_examples=examples(200), deadline=None)
@given(GRAPHS, KNOBS, BUDGETS, BEGINS)
def test_least_traffic_moves_no_more_than_greedy_under_the_same_budget(
    graph: LinalgGraph, knobs: Knobs, budget: int, begins: frozenset[str]
) -> None:
    costs = costs_of(graph, knobs)
    greedy, least = (plan_fusion(costs, plan, budget, BOARD, begins) for plan in ("greedy", "traffic"))
    assert costs.external_bytes(least) <= costs.external_bytes(greedy)
    for plan in (greedy, least):
        assert all(held <= budget for held in costs.kernel_bytes(plan))
        assert sorted(set(plan.values())) == list(range(1 + max(plan.values())))
        for op in graph.ops:
            sources = (graph.producer[o.value][0].name for o in op.inputs if o.value in graph.producer)
            last = plan[op.name] - (op.name in begins)
            assert all(plan[source] <= last for source in sources), "kernels run in order, and begin where asked for"


@settings(max_examples=examples(60), deadline=None)
@given(networks(), KNOBS, BUDGETS, BEGINS)
def test_no_cut_of_the_program_moves_less(
    graph: LinalgGraph, knobs: Knobs, budget: int, begins: frozenset[str]
) -> None:
    costs = costs_of(graph, knobs)
    size = len(graph.ops)
    asked = {number for number, op in enumerate(graph.ops) if op.name in begins} - {0}
    best = costs.external_bytes(plan_fusion(costs, "traffic", budget, BOARD, begins))
    for count in range(size):
        for cuts in combinations(range(1, size), count):
            bounds = [0, *cuts, size]
            plan = {op.name: k for k, (a, b) in enumerate(pairwise(bounds)) for op in graph.ops[a:b]}
            if asked <= {*cuts} and all(held <= budget for held in costs.kernel_bytes(plan)):
                assert best <= costs.external_bytes(plan)


def test_everything_stays_together_where_it_fits() -> None:
    costs = costs_of(mlp(), Knobs(default_tile_size=8, overall_unroll=16))
    assert set(plan_fusion(costs, "traffic", 1 << 20, BOARD).values()) == {0}


def test_what_the_board_can_not_hold_together_is_cut_even_within_the_kernels_budget() -> None:
    graph = attention_front(heads=4, size=16)
    costs = costs_of(graph, Knobs(default_tile_size=4, overall_unroll=8))
    together = dict.fromkeys((op.name for op in graph.ops), 0)
    held = costs.on_chip_bytes(together)
    assert held > 0
    cut = plan_fusion(costs, "traffic", 1 << 20, held - 1)
    assert costs.on_chip_bytes(cut) < held
    assert costs.external_bytes(cut) > costs.external_bytes(together)


def test_two_readers_that_share_a_load_move_less_than_the_greedy_plan() -> None:
    """Both products wait for a converter that the budget does not allow; together they read the value once."""
    square = (SIZE, SIZE)
    graph = LinalgGraph(
        "pair",
        (
            Value("x", square, "f32", "input", "x"),
            *(Value(w, square, "f32", "param", w) for w in ("a", "b", "c")),
            *(Value(v, square, "f32") for v in ("h", "left", "right")),
        ),
        (
            matmul("first", SIZE, SIZE, SIZE, "x", "a", "h"),
            matmul("second", SIZE, SIZE, SIZE, "h", "b", "left"),
            matmul("third", SIZE, SIZE, SIZE, "h", "c", "right"),
        ),
        (Output("y", "left", (0, 1), square), Output("z", "right", (0, 1), square)),
    )
    rows = tuple(TaskOverride(name, order=(0, 1, 2)) for name in ("second", "third"))
    costs = costs_of(graph, Knobs(default_tile_size=1, overall_unroll=1, overrides=rows))
    greedy, least = greedy_fusion(costs, 0), plan_fusion(costs, "traffic", 0, BOARD)
    assert greedy == {"first": 0, "second": 1, "third": 2}
    assert least == {"first": 0, "second": 1, "third": 1}
    assert costs.external_bytes(least) < costs.external_bytes(greedy)
