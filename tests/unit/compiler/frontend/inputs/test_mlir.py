"""Linalg text: what it computes, which reference was used, and how foreign or wrong text is named by its line."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from compiler.errors import InvalidInputError, MillraceError, UnsupportedError
from compiler.frontend.bundle import Bundle
from compiler.frontend.interpret import interpret, outputs_of

ImportFile = Callable[[Path], Bundle]
MLP = """
func.func @main(%x: tensor<5x7xf32>,
                %w: tensor<7x11xf32> {millrace.role = "param", millrace.name = "fc.weight"},
                %rest: tensor<3x11xf32>) -> (tensor<8x11xf32> {millrace.name = "y"}) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x11xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<5x11xf32>) -> tensor<5x11xf32>
  %m = linalg.matmul ins(%x, %w : tensor<5x7xf32>, tensor<7x11xf32>) outs(%f : tensor<5x11xf32>) -> tensor<5x11xf32>
  %t = linalg.tanh ins(%m : tensor<5x11xf32>) outs(%e : tensor<5x11xf32>) -> tensor<5x11xf32>
  %k = tensor.concat dim(0) %t, %rest : (tensor<5x11xf32>, tensor<3x11xf32>) -> tensor<8x11xf32>
  return %k : tensor<8x11xf32>
}
"""
INTEGERS = """
func.func @main(%x: tensor<4x6xi8>, %w: tensor<6x5xi8> {millrace.role = "param"}) -> tensor<4x5xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<4x5xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<4x5xi32>) -> tensor<4x5xi32>
  %m = linalg.matmul ins(%x, %w : tensor<4x6xi8>, tensor<6x5xi8>) outs(%f : tensor<4x5xi32>) -> tensor<4x5xi32>
  return %m : tensor<4x5xi32>
}
"""
RELU = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
       ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    BODY
    linalg.yield %c : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}
"""
CALL = """func.func private @system(i32) func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = arith.constant 0 : i32
  func.call @system(%c) : (i32) -> ()
  return %x : tensor<4xf32>
}"""
EXTRACT = """func.func @main(%x: tensor<4xf32>, %i: index) -> tensor<4xf32> {
  %v = tensor.extract %x[%i] : tensor<4xf32>
  return %x : tensor<4xf32>
}"""
ASSEMBLY = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  "llvm.inline_asm"() {asm_string = "syscall", constraints = ""} : () -> ()
  return %x : tensor<4xf32>
}"""
HUGE = """func.func @main(%x: tensor<4xf32>) -> tensor<1048576x1048576xf32> {
  %e = tensor.empty() : tensor<1048576x1048576xf32>
  return %e : tensor<1048576x1048576xf32>
}"""


@pytest.fixture
def import_text(tmp_path: Path, import_file: ImportFile) -> Callable[[str], Bundle]:
    def make(text: str) -> Bundle:
        (tmp_path / "net.mlir").write_text(text)
        return import_file(tmp_path / "net.mlir")

    return make


def test_network(import_text: Callable[[str], Bundle]) -> None:
    bundle = import_text(MLP)
    tensors, expected = bundle.tensors(), bundle.expected()
    assert bundle.meta["reference"] == "MLIR ExecutionEngine"
    assert {v.name: v.role for v in bundle.graph.values if v.role != "intermediate"} == {
        "arg0": "input",
        "fc.weight": "param",
        "arg2": "input",
    }
    written = np.concatenate([np.tanh(tensors["arg0"] @ tensors["fc.weight"]), tensors["arg2"]])
    np.testing.assert_allclose(expected["y"], written, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(
        outputs_of(bundle.graph, interpret(bundle.graph, tensors))["y"], expected["y"], rtol=1e-5, atol=1e-6
    )


def test_operations_are_called_by_their_lines(import_text: Callable[[str], Bundle]) -> None:
    names = [op.name for op in import_text(MLP).graph.ops]
    assert names == ["line8.matmul", "line9", "line10"]


def test_integers_are_exact(import_text: Callable[[str], Bundle]) -> None:
    bundle = import_text(INTEGERS)
    tensors = bundle.tensors()
    exact = tensors["arg0"].astype(np.int32) @ tensors["arg1"].astype(np.int32)
    np.testing.assert_array_equal(bundle.expected()["out0"], exact)


def test_the_interpreter_is_the_reference_where_llvm_has_no_code(
    import_text: Callable[[str], Bundle], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_arguments: object) -> None:
        raise UnsupportedError("no code for this")

    monkeypatch.setattr("compiler.frontend.inputs.mlir.run_linalg", fail)
    bundle = import_text(MLP)
    assert bundle.meta["reference"] == "numpy interpreter"
    made = outputs_of(bundle.graph, interpret(bundle.graph, bundle.tensors()))
    np.testing.assert_array_equal(made["y"], bundle.expected()["y"])


def test_generic_form_is_read_too(import_text: Callable[[str], Bundle]) -> None:
    text = RELU.replace("BODY", "%c = math.exp %a : f32")
    assert [op.name for op in import_text(text).graph.ops] == ["line4"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (MLP.replace("linalg.tanh", "linalg.made_up"), "line 9"),
        ("func.func @main(", "does not close them"),
        ("\x00\x01", "is not text"),
        ("module {}", "has no function @main"),
        (MLP + MLP.replace("main", "b"), "must hold one function"),
        (MLP.replace('"param"', '"weights"'), "millrace.role of fc.weight is 'weights'"),
        (RELU.replace("BODY", "%m = arith.negf %a : f32 %p = arith.mulf %a, %a : f32 %q = arith.subf %m, %p : f32 "
                      "%c = math.log %q : f32"), "not finite"),
    ],
)  # fmt: skip
def test_wrong_text(text: str, message: str, import_text: Callable[[str], Bundle]) -> None:
    with pytest.raises(InvalidInputError, match=message):
        import_text(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (RELU.replace("BODY", "%c = math.sin %a : f32"), "line4.*math.sin"),
        (CALL, "line 3: func.call is not supported"),
        (EXTRACT, "line 2: tensor.extract is not supported"),
        (ASSEMBLY, "line 2: llvm.inline_asm is not supported|not MLIR"),
        (HUGE, "a tensor of 1099511627776 elements"),
        ("func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> { return %x : tensor<?xf32> }", "dynamic shape"),
        ("func.func @main(%x: tensor<4xf64>) -> tensor<4xf64> { return %x : tensor<4xf64> }", r"arg0 is f64\[4\]"),
        ("func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }", "unchanged"),
    ],
)
def test_unsupported_text(text: str, message: str, import_text: Callable[[str], Bundle]) -> None:
    with pytest.raises(MillraceError, match=message):
        import_text(text)
