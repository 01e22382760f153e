from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from compiler.errors import UnsupportedError

ROW = "tensor<4xf32>"
PLUS = '{indexing_maps = [#m, #m, #m], iterator_types = ["parallel"]}'
MAPPED = '{indexing_maps = [#m, #m], iterator_types = ["parallel"]}'
X = np.arange(4, dtype=np.float32)
Y = np.full(4, 10, np.float32)


def _main(arguments: str, result: str, *lines: str) -> str:
    body = "\n".join(lines)
    return f"#m = affine_map<(i) -> (i)>\nfunc.func @main({arguments}) -> {result} {{\n{body}\n}}"


def _sum(made: str, a: str, b: str, into: str) -> str:
    """`into` + a + b: what it is written to is read as well."""
    region = "^bb0(%p: f32, %q: f32, %o: f32): %s = arith.addf %p, %q : f32 %t = arith.addf %s, %o : f32"
    return (
        f"{made} = linalg.generic {PLUS} ins({a}, {b} : {ROW}, {ROW}) outs({into} : {ROW}) "
        f"{{ {region} linalg.yield %t : f32 }} -> {ROW}"
    )


def _run(text: str, *arguments: NDArray[Any]) -> list[NDArray[Any]]:
    from compiler.frontend.linalg_engine import run_linalg

    return run_linalg(text, arguments)


def test_what_is_read_again_is_not_written_over() -> None:
    text = _main(
        f"%x: {ROW}, %y: {ROW}",
        f"({ROW}, {ROW}, {ROW})",
        _sum("%a", "%x", "%x", "%y"),
        _sum("%b", "%a", "%x", "%a"),
        _sum("%c", "%a", "%y", "%y"),
        f"return %c, %b, %a : {ROW}, {ROW}, {ROW}",
    )
    x, y = X.copy(), Y.copy()
    c, b, a = _run(text, x, y)
    np.testing.assert_array_equal(a, 2 * X + Y)
    np.testing.assert_array_equal(b, 2 * a + X)
    np.testing.assert_array_equal(c, a + 2 * Y)
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(y, Y)


def test_an_argument_may_be_a_result() -> None:
    first, second = _run(_main(f"%x: {ROW}", f"({ROW}, {ROW})", f"return %x, %x : {ROW}, {ROW}"), X)
    np.testing.assert_array_equal(first, X)
    np.testing.assert_array_equal(second, X)


def test_scalars_go_into_the_code_that_reads_them() -> None:
    text = _main(
        f"%x: {ROW}",
        ROW,
        "%two = arith.constant 2.0 : f32",
        "%four = arith.mulf %two, %two : f32",
        f"%e = tensor.empty() : {ROW}",
        f"%f = linalg.fill ins(%four : f32) outs(%e : {ROW}) -> {ROW}",
        f"%g = linalg.generic {MAPPED} ins(%x : {ROW}) outs(%f : {ROW}) {{ ^bb0(%p: f32, %o: f32): "
        f"%s = arith.mulf %p, %four : f32 %t = arith.addf %s, %o : f32 linalg.yield %t : f32 }} -> {ROW}",
        f"return %g : {ROW}",
    )
    (made,) = _run(text, X)
    np.testing.assert_array_equal(made, 4 * X + 4)


def test_each_operation_is_a_function_of_its_own_and_the_same_ones_share_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """All in one function, LLVM takes quadratic time."""
    from torch_mlir.execution_engine import ExecutionEngine

    compiled: list[str] = []

    def engine(module: Any, opt_level: int) -> ExecutionEngine:
        compiled.extend(str(operation.attributes["sym_name"]) for operation in module.body.operations)
        return ExecutionEngine(module, opt_level=opt_level)

    monkeypatch.setattr("compiler.frontend.linalg_engine.ExecutionEngine", engine)
    sums = [_sum(f"%a{i + 1}", f"%a{i}", "%a0", f"%a{i}") for i in range(20)]
    (made,) = _run(_main(f"%a0: {ROW}", ROW, *sums, f"return %a20 : {ROW}"), X)
    expected = X
    for _ in range(20):
        expected = 2 * expected + X
    np.testing.assert_array_equal(made, expected)
    steps = sorted(name for name in compiled if name.startswith('"step'))
    assert steps == ['"step0"', '"step1"']  # the first sum reads one tensor, the others two


def test_elements_that_numpy_lacks() -> None:
    row = "tensor<4xbf16>"
    text = _main(
        f"%x: {ROW}",
        row,
        f"%e = tensor.empty() : {row}",
        f"%g = linalg.generic {MAPPED} ins(%x : {ROW}) outs(%e : {row}) {{ ^bb0(%p: f32, %o: bf16): "
        f"%s = arith.truncf %p : f32 to bf16 linalg.yield %s : bf16 }} -> {row}",
        f"return %g : {row}",
    )
    with pytest.raises(UnsupportedError, match="numpy has no bf16"):
        _run(text, X)
