"""A kept hash is that of equal values, also where a value comes from another process: strings hash otherwise there."""

import os
import pickle
import subprocess
import sys

from compiler.graph.itensor import ITensor, Loop
from compiler.graph.linalg_graph import LinalgOp, Operand
from compiler.graph.nest import Nest, NestLoop

VALUES = (
    LinalgOp("fc", "generic", (8,), ("parallel",), (0,), (Operand("x", (0,)),), (Operand("y", (0,)),)),
    ITensor((2,), "f32", (Loop(4, 2, 0),)),
    Nest((NestLoop(0, 4, 2),), (2,)),
)
ARRIVE = """
import pickle, sys
from dataclasses import replace
for value in pickle.load(sys.stdin.buffer):
    print(value == replace(value), hash(value) == hash(replace(value)))
"""


def test_equal_values_hash_alike_in_any_process() -> None:
    assert all(hash(value) == hash(value) for value in VALUES)  # kept from here on
    for seed in ("1", "2"):
        call = [sys.executable, "-c", ARRIVE]
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(call, input=pickle.dumps(VALUES), env=environment, capture_output=True, check=True)
        assert done.stdout.split() == [b"True"] * 2 * len(VALUES)
