"""A network of which each launch adds a row to what earlier ones left: by hand, a few layers that are alike.

x -> scaled, row h.k of the layer's state -> that and those before weighed by the launch's row of a table, added -> + x.
"""

import numpy as np
from layered_networks import Array
from small_graphs import F32_PRODUCT, elementwise

from compiler.frontend.interpret import interpret, outputs_of
from compiler.graph.linalg_graph import Body, LinalgGraph, LinalgOp, Operand, Output, Reduction, Row, ScalarOp, Value

SLOTS, WIDTH = 63, 32
POSITION = Row("position", SLOTS)
GIVEN = Body(
    ("f32", "f32"),
    (
        ScalarOp("arith.constant", (), "f32", const=0.0),
        ScalarOp("arith.cmpf", (0, 2), "i1", predicate="oge"),
        ScalarOp("arith.select", (3, 0, 1), "f32"),
    ),
    4,
)
ADDED = Body(("f32", "f32"), (ScalarOp("arith.addf", (0, 1), "f32"),), 2)


def stepping(layers: int = 2, slots: int = SLOTS, *, wide: bool = False, twice: bool = False) -> LinalgGraph:
    """`wide`: the table has a row as long as the state's, else a number. `twice`: the rows are added up by two
    operations, whose sums are added.
    """
    position = Row("position", slots)
    values = [
        Value("x", (WIDTH,), "f32", "input", "x"),
        Value("seen", (slots + 1, WIDTH) if wide else (slots + 1,), "f32", "param", "seen", row=position),
    ]
    ops, outputs = list[LinalgOp](), list[Output]()
    before, sums = "x", ("sum", "more") if twice else ("sum",)
    for h in (f"h{n}" for n in range(layers)):
        values += [
            Value(f"{h}.scale", (WIDTH,), "f32", "param", f"{h}.scale"),
            Value(f"{h}.k_past", (slots, WIDTH), "f32", "state", f"{h}.k_past"),
            *(Value(f"{h}.{name}", (WIDTH,), "f32") for name in ("key", *sums, "out")),
            Value(f"{h}.keys", (slots + 1, WIDTH), "f32"),
        ]
        ops += [
            elementwise(
                f"{h}.key", (WIDTH,), (Operand(before, (0,)), Operand(f"{h}.scale", (0,))), f"{h}.key", F32_PRODUCT
            ),
            LinalgOp(
                f"{h}.join", "concat", (slots + 1, WIDTH), ("parallel",) * 2, (0, 1),
                (Operand(f"{h}.key", (1,)), Operand(f"{h}.k_past", (0, 1))), (Operand(f"{h}.keys", (0, 1)),), axis=0,
            ),
            *(LinalgOp(
                f"{h}.{name}", "generic", (WIDTH, slots + 1), ("parallel", "reduction"), (0, 1),
                (Operand(f"{h}.keys", (1, 0)), Operand("seen", (1, 0) if wide else (1,))),
                (Operand(f"{h}.{name}", (0,)),), F32_PRODUCT, Reduction("add", 0.0),
            ) for name in sums),
            elementwise(
                f"{h}.out", (WIDTH,), (Operand(f"{h}.sum", (0,)), Operand(f"{h}.more" if twice else before, (0,))),
                f"{h}.out", ADDED,
            ),
        ]  # fmt: skip
        outputs.append(Output(f"{h}.k", f"{h}.key", (0,), (1, WIDTH), row=position))
        before = f"{h}.out"
    outputs.append(Output("x_out", before, (0,), (WIDTH,)))
    graph = LinalgGraph("stepping", tuple(values), tuple(ops), tuple(outputs))
    graph.verify()
    return graph


def replying(layers: int = 2) -> LinalgGraph:
    """The same behind a row of a table that a launch is told, in front of the largest of what comes out, or what is
    given instead, which is a row of its position: in the form of the phase `token`, so that a launch makes several.
    """
    steps = stepping(layers)
    table = Value("x", (WIDTH,), "f32", "param", "words", row=Row("token", 5))
    *kept, out = steps.outputs
    best = LinalgOp(
        "best", "generic", (1, WIDTH), ("parallel", "reduction"), (0, 1), (Operand(out.value, (1,)),),
        (Operand("best", (0,)),), Body(("f32",), (), 0), Reduction("max", float("-inf")),
    )  # fmt: skip
    chosen = elementwise("next", (1,), (Operand("prompt", (0,)), Operand("best", (0,))), "next", GIVEN)
    given = Value("prompt", (1,), "f32", "input", "prompt", row=POSITION)
    made = (Value(name, (1,), "f32") for name in ("best", "next"))
    values = (table, given, *(value for value in steps.values if value.name != "x"), *made)
    outputs = (*kept, Output("token", "next", (0,), (1, 1), row=POSITION))
    graph = LinalgGraph("replying", values, (*steps.ops, best, chosen), outputs)
    graph.verify()
    return graph


def tensors_of_steps(graph: LinalgGraph, seed: int = 0) -> dict[str, Array]:
    """Random ones; of each position, how it weighs those before it and itself."""
    rng = np.random.default_rng(seed)
    given = {v.source: rng.normal(size=v.shape).astype(np.float32) for v in graph.values if v.source}
    before = np.tril(np.ones((SLOTS, SLOTS)), -1) * rng.normal(size=(SLOTS, SLOTS))
    given["seen"] = np.concatenate([np.ones((SLOTS, 1)), before], axis=1).astype(np.float32)
    return given


def stepped(graph: LinalgGraph, tensors: dict[str, Array], position: int) -> dict[str, Array]:
    """What a launch at `position` makes, by the names of the outputs."""
    row = {"seen": tensors["seen"][position]}
    earlier = {
        name: np.where(np.arange(SLOTS)[:, None] < position, array, 0).astype(np.float32)
        for name, array in tensors.items()
        if name.endswith("_past")
    }
    return outputs_of(graph, interpret(graph, {**tensors, **row, **earlier}))
