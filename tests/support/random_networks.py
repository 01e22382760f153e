"""Random networks over two-dimensional values, for property tests; extents that no tile divides included."""

from itertools import pairwise

from hypothesis import strategies as st
from small_graphs import INT_PRODUCT, PASS, elementwise, matmul, row_reduction

from compiler.graph.linalg_graph import Body, LinalgGraph, LinalgOp, Operand, Output, ScalarOp, Value

SUM = Body(("f32", "f32"), (ScalarOp("arith.addf", (0, 1), "f32"),), 2)
GATE = Body(
    ("f32",),
    (
        ScalarOp("arith.constant", (), "f32", 0.5),
        ScalarOp("arith.cmpf", (0, 1), "i1", predicate="ogt"),
        ScalarOp("arith.select", (2, 0, 1), "f32"),
    ),
    3,
)
# Infinite where its argument is zero: what padding holds would spoil any sum that let it in.
INVERSE = Body(("f32",), (ScalarOp("arith.constant", (), "f32", 1.0), ScalarOp("arith.divf", (1, 0), "f32")), 2)
NARROW = Body(
    ("i32",),
    (
        ScalarOp("arith.constant", (), "i32", 3),
        ScalarOp("arith.addi", (0, 1), "i32"),
        ScalarOp("arith.trunci", (2,), "i8"),
    ),
    3,
)
EVEN = (4, 8, 12)
PRIME = (4, 8, 13, 17, 19, 23, 29, 31)
KINDS = ("matmul", "gate", "scale", "sum", "transpose", "center", "inverse", "max", "concat")
FULL = (0, 1)


@st.composite
def networks(draw: st.DrawFn, extents: tuple[int, ...] = EVEN, kinds: tuple[str, ...] = KINDS) -> LinalgGraph:
    """Products, sums, broadcasts, transposes, row reductions, joined rows; some values unused."""
    first = (draw(st.sampled_from(extents)), draw(st.sampled_from(extents)))
    network = _Network(first)
    for i in range(draw(st.integers(1, 6))):
        source = draw(st.sampled_from(sorted(network.shape)))
        kind = draw(st.sampled_from(kinds))
        other = draw(st.sampled_from([n for n in sorted(network.shape) if network.shape[n] == network.shape[source]]))
        network.add(i, kind, source, other, draw(st.sampled_from(extents)))
    results = draw(st.lists(st.sampled_from(sorted(network.shape.keys() - {"x"})), min_size=1, max_size=3, unique=True))
    outputs = tuple(Output(f"y.{name}", name, FULL, (1, *network.shape[name])) for name in results)
    return LinalgGraph("network", tuple(network.values), tuple(network.ops), outputs)


class _Network:
    """A network while it grows. `shape` holds the values that the next operation may read."""

    def __init__(self, first: tuple[int, int]) -> None:
        self.shape = {"x": first}
        self.values = [Value("x", first, "f32", "input", "x"), Value("scale", (), "f32", "scalar", "scale")]
        self.ops: list[LinalgOp] = []

    def add(self, i: int, kind: str, source: str, other: str, extent: int) -> None:
        """Operation number `i`, of `kind`, which reads `source`, and `other` or a tensor with `extent` where it can."""
        rows, columns = shape = self.shape[source]
        out, whole = f"v{i}", Operand(source, FULL)
        if kind == "matmul":
            shape = (rows, extent)
            self.values.append(Value(f"w.{i}", (columns, extent), "f32", "param", f"w.{i}"))
            self.ops.append(matmul(f"op.{i}", rows, columns, extent, source, f"w.{i}", out))
        elif kind == "transpose":
            shape = (columns, rows)
            self.ops.append(elementwise(f"op.{i}", shape, (Operand(source, (1, 0)),), out, PASS))
        elif kind in {"center", "max"}:
            combiner, init = ("add", 0.0) if kind == "center" else ("max", float("-inf"))
            self.values.append(Value(f"m{i}", (rows,), "f32"))
            self.ops.append(row_reduction(f"over.{i}", rows, columns, source, f"m{i}", combiner, init))
            self.ops.append(elementwise(f"op.{i}", shape, (whole, Operand(f"m{i}", (0,))), out, SUM))
        elif kind == "concat":
            shape = (rows + extent, columns)
            self.values.append(Value(f"past.{i}", (extent, columns), "f32", "state", f"past.{i}"))
            parts = (Operand(f"past.{i}", FULL), whole)
            joined = (Operand(out, FULL),)
            self.ops.append(LinalgOp(f"op.{i}", "concat", shape, ("parallel", "parallel"), FULL, parts, joined, axis=0))
        else:
            second = {"scale": (Operand("scale", ()),), "sum": (Operand(other, FULL),)}.get(kind, ())
            body = {"gate": GATE, "inverse": INVERSE}.get(kind, SUM)
            self.ops.append(elementwise(f"op.{i}", shape, (whole, *second), out, body))
        self.shape[out] = shape
        self.values.append(Value(out, shape, "f32"))


@st.composite
def integer_networks(draw: st.DrawFn) -> LinalgGraph:
    """int8 x int4 products one after the other, narrowed in between: exact, whatever the order of the sums."""
    sizes = draw(st.lists(st.sampled_from(PRIME), min_size=3, max_size=5))
    rows = draw(st.sampled_from(PRIME))
    values, ops = [Value("x0", (rows, sizes[0]), "i8", "input", "x")], list[LinalgOp]()
    for i, (inner, outer) in enumerate(pairwise(sizes)):
        values += [
            Value(f"w{i}", (inner, outer), "i4", "param", f"w{i}"),
            Value(f"a{i}", (rows, outer), "i32"),
            Value(f"x{i + 1}", (rows, outer), "i8"),
        ]
        ops.append(matmul(f"product{i}", rows, inner, outer, f"x{i}", f"w{i}", f"a{i}", INT_PRODUCT))
        ops.append(elementwise(f"narrow{i}", (rows, outer), (Operand(f"a{i}", FULL),), f"x{i + 1}", NARROW))
    last = f"a{len(sizes) - 2}"
    return LinalgGraph("integers", tuple(values), tuple(ops), (Output("y", last, FULL, (rows, sizes[-1])),))
