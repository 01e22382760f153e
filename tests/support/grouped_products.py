"""Products of int8 and int4 in groups, each with a scale of its own."""

import numpy as np
from networks import Network, body

from compiler.graph.linalg_graph import LinalgGraph, Reduction


def grouped(rows: int = 4) -> LinalgGraph:
    """Two, `op_p0` and `op_p1`, one after the other; `op_d0` and `op_d1` add up their groups."""
    network = Network("grouped")
    network.tensor("x", np.zeros((rows, 2, 8), np.int8), "i8", "input")
    product = body(
        ["i8", "i4"], ("arith.extsi", (0,), "i32"), ("arith.extsi", (1,), "i32"), ("arith.muli", (2, 3), "i32")
    )
    scaled = body(["i32", "f32"], ("arith.sitofp", (0,), "f32"), ("arith.mulf", (2, 1), "f32"))
    narrow = body(["f32"], ("arith.fptosi", (0,), "i32"), ("arith.trunci", (1,), "i8"))
    for n, (read, made, shape) in enumerate((("x", "b", (2, 8)), ("b", "y", (1, 24)))):
        network.tensor(f"w{n}", np.zeros((2, 8, *shape), np.int8), "i4")
        network.tensor(f"s{n}", np.zeros((2, *shape)))
        loops = (rows, *shape, 2, 8)
        network.generic(f"p{n}", loops, [(read, "ade"), (f"w{n}", "debc")], "abcd", product, Reduction("add", 0), "i32")
        network.generic(f"d{n}", loops[:4], [(f"p{n}", "abcd"), (f"s{n}", "dbc")], "abc", scaled, Reduction("add", 0.0))
        network.generic(made, (rows, *shape), [(f"d{n}", "abc")], "abc", narrow, dtype="i8")
    network.result("y", np.zeros((rows, 1, 24)))
    return network.graph()
