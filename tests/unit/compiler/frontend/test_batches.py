"""A batch of inputs of a network from a file: different ones, each with the result that it has by itself."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from onnx_models import mlp, save

from compiler.frontend.bundle import Bundle, load_bundle
from compiler.frontend.inputs.source import FileFormat, FileSource, whole_network, workload_of
from compiler.frontend.interpret import interpret, outputs_of
from compiler.graph.linalg_graph import Layers
from compiler.options import Precision

COUNT = 3
TEXT = """func.func @main(%x: tensor<5x6xi8>, %w: tensor<6x7xi8> {millrace.role = "param"}) -> tensor<5x7xi32> {
  %zero = arith.constant 0 : i32
  %empty = tensor.empty() : tensor<5x7xi32>
  %init = linalg.fill ins(%zero : i32) outs(%empty : tensor<5x7xi32>) -> tensor<5x7xi32>
  %y = linalg.matmul ins(%x, %w : tensor<5x6xi8>, tensor<6x7xi8>) outs(%init : tensor<5x7xi32>) -> tensor<5x7xi32>
  return %y : tensor<5x7xi32>
}
"""


def imported(source: FileSource, precision: Precision, batch: int, folder: Path) -> Bundle:
    from compiler.frontend.convert import convert  # loads torch

    folder.mkdir()
    asked = replace(whole_network("net"), precision=precision, batch=batch)
    convert(source, workload_of(source, asked), folder, lambda _: None)
    return load_bundle(folder)


@pytest.mark.parametrize(("form", "precision"), [("onnx", "f32"), ("onnx", "w8a8"), ("mlir", "f32")])
def test_inputs_differ_and_each_has_its_own_result(form: FileFormat, precision: Precision, tmp_path: Path) -> None:
    path = tmp_path / f"net.{form}"
    if form == "onnx":
        save(mlp(sizes=(7, 9, 5)), path)
    else:
        path.write_text(TEXT)
    source = FileSource("net", path, form)
    several, one = (imported(source, precision, batch, tmp_path / str(batch)) for batch in (COUNT, 1))
    assert several.graph.layers == Layers(COUNT, (), told="count")
    assert one.graph.layers is None
    network, tensors, expected = several.network(), several.tensors(), several.expected()
    (x,) = (v.source for v in network.values if v.role == "input")
    assert len({array.tobytes() for array in tensors[x]}) == COUNT
    np.testing.assert_array_equal(tensors[x][0], one.tensors()[x])
    for name, results in expected.items():
        np.testing.assert_array_equal(results[0], one.expected()[name])
        for number, result in enumerate(results):
            made = outputs_of(network, interpret(network, {**tensors, x: tensors[x][number]}))[name]
            np.testing.assert_allclose(made, result, rtol=0, atol=5e-5 * np.abs(result).max())
