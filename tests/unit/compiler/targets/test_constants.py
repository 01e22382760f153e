"""Tensors that stay on the chip, as C++: every bit of them."""

import re

import numpy as np
import pytest

from compiler.analysis.tasks import rom_task
from compiler.graph.design import Transfer
from compiler.graph.itensor import ITensor, Loop
from compiler.graph.linalg_graph import LinalgGraph, Value
from compiler.graph.task_graph import TaskGraph
from compiler.platforms.platform import load_platform
from compiler.targets.constants import weights_header


@pytest.mark.parametrize("dtype", ["f32", "i32", "i8", "i4"])
def test_rows_are_tokens_in_the_order_of_the_stream(dtype: str) -> None:
    """Columns before rows, the padding of an odd one as zeros, and again for a reader that wants it twice."""
    streamed = ITensor((1, 2), dtype, (Loop(2, 1, None), Loop(2, 2, 1), Loop(2, 1, 0)))
    task = rom_task("load_w", Transfer("w", 0, streamed, resident=True), "s", load_platform("u55c"))
    value = Value("w", (2, 4), dtype, "param", "w", valid=(2, 3))
    tensor = np.asarray([[-8, 1, 2], [3, 4, 7]], np.float32) * (0.1 if dtype == "f32" else 1)
    text = weights_header(TaskGraph("n", 1, (task,), ()), LinalgGraph("n", (value,), (), ()), {"w": tensor})
    rows = re.findall(r"^  \{(.*)\},$", text, re.MULTILINE)
    read = float.fromhex if dtype == "f32" else float
    found = np.asarray([[read(number.removesuffix("f")) for number in row.split(", ")] for row in rows], np.float32)
    assert np.array_equal(found[:2], tensor[:, :2])
    assert np.array_equal(found[2:], np.pad(tensor[:, 2:], ((0, 0), (0, 1))))


def test_what_is_no_number_is_kept() -> None:
    layout = ITensor((1,), "f32", (Loop(4, 1, 0),))
    task = rom_task("load_w", Transfer("w", 0, layout, resident=True), "s", load_platform("u55c"))
    graph = LinalgGraph("n", (Value("w", (4,), "f32", "param", "w"),), (), ())
    tensor = np.asarray([np.inf, -np.inf, np.nan, -0.0], np.float32)
    text = weights_header(TaskGraph("n", 1, (task,), ()), graph, {"w": tensor})
    numbers = re.findall(r"^  (.*),$", text, re.MULTILINE)
    assert numbers == ["__builtin_inff()", "-__builtin_inff()", '__builtin_nanf("")', "-0x0.0p+0f"]
