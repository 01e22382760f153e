"""`<name>_weights.h`: tensors that stay on the chip, as C++."""

from math import prod

import numpy as np

from compiler.graph.linalg_graph import LinalgGraph
from compiler.graph.padded_array import pad_array
from compiler.graph.task_graph import RomTask, TaskGraph
from compiler.targets.images import Array, tensor_to_tokens
from compiler.targets.scalar_ops import C_TYPE
from compiler.targets.tasks.rom import rom_name
from compiler.targets.tensors import Tensors, tensor_of
from compiler.targets.writer import CppWriter

# What g++ takes as quickly as text: an ap_int<8> of 64 KiB takes 4 s.
_TYPE = {**C_TYPE, "i8": "signed char"}


def weights_header(tasks: TaskGraph, graph: LinalgGraph, tensors: Tensors) -> str:
    """Arrays of the tasks that hold tensors, in the order in which these stream. Raises InvalidInputError where a
    tensor is missing or has another size.
    """
    out = CppWriter()
    out.comment(f"What {tasks.name} is configured with: a row is a token, the rows are in the order of the stream.")
    out.line("#pragma once")
    out.line()
    out.line('#include "ap_int.h"')
    for task in tasks.tasks:
        if isinstance(task, RomTask) and task.filled is None:
            _array(out, task, graph, tensors)
    return out.text()


def _array(out: CppWriter, task: RomTask, graph: LinalgGraph, tensors: Tensors) -> None:
    value, held = graph.value[task.value], task.streamed.without_rereads()
    rows = tensor_to_tokens(pad_array(tensor_of(value, tensors), value.shape), held).reshape(held.tokens, -1)
    out.line()
    out.comment(f"{task.value}: {held}")
    inside = f"[{prod(held.element)}]" if prod(held.element) > 1 else ""
    out.line(f"static const {_TYPE[held.dtype]} {rom_name(task)}[{held.tokens}]{inside} = {{")
    with out.indented():
        for row in rows:
            written = ", ".join(map(_literal, row))
            out.line(f"{{{written}}}," if inside else f"{written},")
    out.line("};")


def _literal(element: Array) -> str:
    """Exact; a float in hexadecimal, as C++17 has it."""
    if element.dtype.kind != "f":
        return str(int(element))
    number = float(element)
    if np.isnan(number):
        return '__builtin_nanf("")'
    if np.isinf(number):
        return f"{'-' if number < 0 else ''}__builtin_inff()"
    return f"{number.hex()}f"
