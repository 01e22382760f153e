"""Small modules, written by hand, in and out of the normal form."""

import numpy as np
import pytest
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler.errors import UnsupportedError, VerificationError
from compiler.frontend.interpret import interpret, outputs_of
from compiler.frontend.lowering.lower import lower
from compiler.frontend.lowering.normal_form import Argument
from compiler.graph.linalg_graph import LinalgGraph


def generic(maps: str, iterators: str, ins: str, outs: str, body: str, arguments: str, result: str) -> str:
    kinds = ", ".join(f'"{i}"' for i in iterators.split())
    return (
        f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}} ins({ins}) outs({outs}) {{\n"
        f"^bb0({arguments}):\n{body}\n}} -> {result}\n"
    )


def module(arguments: str, body: str, returned: str, kind: str) -> str:
    return f"func.func @main({arguments}) -> ({kind}) {{\n{body}\nfunc.return {returned} : {kind}\n}}"


def lowered(text: str, *arguments: str) -> LinalgGraph:
    return lower("test", text, [Argument(a, "input") for a in arguments], ["out"])


def exp_of(source: str, kind: str, rank: int, name: str = "%r") -> str:
    dims = ", ".join(f"d{i}" for i in range(rank))
    same = f"affine_map<({dims}) -> ({dims})>"
    body = "%e = math.exp %a : f32\nlinalg.yield %e : f32"
    op = generic(
        f"{same}, {same}", "parallel " * rank, f"{source} : {kind}", f"%i{name[1:]} : {kind}", body,
        "%a: f32, %o: f32", kind,
    )  # fmt: skip
    return f"%i{name[1:]} = tensor.empty() : {kind}\n{name} = {op}"


def test_reshape_and_transpose_become_maps() -> None:
    """exp of a [6, 4] matrix, reshaped to [2, 3, 4] and transposed to [3, 2, 4]: one operation over 2 x 3 x 4."""
    transpose = generic(
        "affine_map<(d0, d1, d2) -> (d1, d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>",
        "parallel parallel parallel", "%x : tensor<2x3x4xf32>", "%t : tensor<3x2x4xf32>", "linalg.yield %a : f32",
        "%a: f32, %o: f32", "tensor<3x2x4xf32>",
    )  # fmt: skip
    text = module(
        "%p: tensor<6x4xf32>",
        "%x = tensor.expand_shape %p [[0, 1], [2]] output_shape [2, 3, 4] : tensor<6x4xf32> into tensor<2x3x4xf32>\n"
        f"%t = tensor.empty() : tensor<3x2x4xf32>\n%y = {transpose}{exp_of('%y', 'tensor<3x2x4xf32>', 3)}",
        "%r",
        "tensor<3x2x4xf32>",
    )
    graph = lowered(text, "p")
    (op,) = graph.ops
    assert graph.value["p"].shape == (2, 3, 4)
    assert op.loops == (3, 2, 4)
    assert op.inputs[0].dims == (1, 0, 2)
    p = np.arange(24, dtype=np.float32).reshape(6, 4) / 24
    made = outputs_of(graph, interpret(graph, {"p": p}))["out"]
    np.testing.assert_allclose(made, np.exp(p).reshape(2, 3, 4).transpose(1, 0, 2), rtol=1e-6)


@settings(max_examples=examples(25))
@given(
    st.permutations([2, 3, 5, 2]),
    st.lists(st.integers(0, 3), min_size=1, max_size=3),
)
def test_chains_of_reshapes_are_row_major(extents: list[int], cuts: list[int]) -> None:
    """Collapsing neighbours and expanding again never moves an element."""
    shape = list(extents)
    lines: list[str] = []
    value = "%p"
    for step, cut in enumerate(cuts):
        if len(shape) < 2:
            break
        at = cut % (len(shape) - 1)
        wide = [*shape[:at], shape[at] * shape[at + 1], *shape[at + 2 :]]
        groups = [[i] for i in range(at)] + [[at, at + 1]] + [[i] for i in range(at + 2, len(shape))]
        lines.append(f"%v{step} = tensor.collapse_shape {value} {groups} : {kind(shape)} into {kind(wide)}")
        lines.append(exp_of(f"%v{step}", kind(wide), len(wide), f"%w{step}"))
        value, shape = f"%w{step}", wide
    graph = lowered(module(f"%p: {kind(extents)}", "\n".join(lines), value, kind(shape)), "p")
    p = np.linspace(-1, 0, 60, dtype=np.float32).reshape(extents)
    expected = p
    for _ in range(len(lines) // 2):
        expected = np.exp(expected)
    made = outputs_of(graph, interpret(graph, {"p": p}))["out"]
    np.testing.assert_allclose(made, expected.reshape(shape), rtol=1e-5)
    assert len(graph.ops) == 1  # elementwise chains fuse whatever the reshapes between


def kind(shape: list[int]) -> str:
    return f"tensor<{'x'.join(map(str, shape))}xf32>"


ROW_SUM = generic(
    "affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>", "parallel reduction", "%p : tensor<4x6xf32>",
    "%s : tensor<4xf32>", "%q = arith.{combine} %a, %o : f32\nlinalg.yield %q : f32", "%a: f32, %o: f32",
    "tensor<4xf32>",
)  # fmt: skip
FILL = generic(
    "affine_map<(d0) -> ()>, affine_map<(d0) -> (d0)>", "parallel", "%c : f32", "%i : tensor<4xf32>",
    "linalg.yield %a : f32", "%a: f32, %o: f32", "tensor<4xf32>",
)  # fmt: skip


def reduction(combine: str, start: str = "0.0") -> str:
    body = f"%c = arith.constant {start} : f32\n%i = tensor.empty() : tensor<4xf32>\n%s = {FILL}%r = "
    return module("%p: tensor<4x6xf32>", body + ROW_SUM.replace("{combine}", combine), "%r", "tensor<4xf32>")


@pytest.mark.parametrize(
    ("combine", "start", "expected"),
    [("addf", "2.0", 17.0), ("maximumf", "0xFF800000", 5.0), ("minimumf", "0x7F800000", 0.0), ("mulf", "1.0", 0.0)],
)
def test_fills_become_reduction_starts(combine: str, start: str, expected: float) -> None:
    graph = lowered(reduction(combine, start), "p")
    (op,) = graph.ops
    assert op.reduction is not None
    assert op.body is not None
    assert op.body.ops == ()
    p = np.tile(np.arange(6, dtype=np.float32), (4, 1))
    assert interpret(graph, {"p": p})[op.outputs[0].value].tolist() == [expected] * 4


def slice_of(offset: int, size: int) -> str:
    return module(
        "%p: tensor<4x6xf32>",
        f"%v = tensor.extract_slice %p[0, {offset}] [4, {size}] [1, 1] : tensor<4x6xf32> to tensor<4x{size}xf32>\n"
        + exp_of("%v", f"tensor<4x{size}xf32>", 2),
        "%r",
        f"tensor<4x{size}xf32>",
    )


def test_slice_of_equal_parts_is_a_chunk() -> None:
    graph = lowered(slice_of(2, 2), "p")
    chunk, _exp = graph.ops
    assert (chunk.kind, chunk.loops, chunk.axis, len(chunk.outputs)) == ("chunk", (4, 3, 2), 1, 3)
    p = np.arange(24, dtype=np.float32).reshape(4, 6) / 24
    made = outputs_of(graph, interpret(graph, {"p": p}))["out"]
    np.testing.assert_allclose(made, np.exp(p[:, 2:4]), rtol=1e-6)


DIAGONAL = module(
    "%p: tensor<4x4xf32>",
    "%i = tensor.empty() : tensor<4xf32>\n%r = "
    + generic(
        "affine_map<(d0) -> (d0, d0)>, affine_map<(d0) -> (d0)>", "parallel", "%p : tensor<4x4xf32>",
        "%i : tensor<4xf32>", "%q = math.exp %a : f32\nlinalg.yield %q : f32", "%a: f32, %o: f32", "tensor<4xf32>",
    ),
    "%r",
    "tensor<4xf32>",
)  # fmt: skip
STRIDED = DIAGONAL.replace("(d0, d0)", "(d0 * 2, d0)")
BACKWARDS = DIAGONAL.replace("(d0, d0)", "(d0, 3 - d0)")
CONSTANT = module("", "%r = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>", "%r", "tensor<2xf32>")
DYNAMIC = module("%p: tensor<?xf32>", "", "%p", "tensor<?xf32>")
UNKNOWN_SCALAR = exp_of("%p", "tensor<4xf32>", 1).replace("math.exp", "math.cbrt")


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        (slice_of(1, 2), "p", "takes 2 of 6 from 1; only equal parts work"),
        (slice_of(0, 4), "p", "takes 4 of 6 from 0; only equal parts work"),
        (reduction("subf"), "p", "does not reduce by one of arith.addf"),
        (DIAGONAL, "p", "reads a diagonal"),
        (STRIDED, "p", "windows at  along dimension 0 can not be streamed: the last of 4 windows begins at 6"),
        (BACKWARDS, "p", "indexes by .* only loops and their sums are supported"),
        (CONSTANT, "", "constant tensor"),
        (DYNAMIC, "p", "dynamic shape"),
        (module("%p: tensor<4xf32>", UNKNOWN_SCALAR, "%r", "tensor<4xf32>"), "p", "math.cbrt is not supported"),
        (
            module("%p: tensor<4xf32>", '%r = "tensor.bitcast"(%p) : (tensor<4xf32>) -> tensor<4xf32>', "%r",
                   "tensor<4xf32>"),
            "p", "tensor.bitcast at top level is not supported",
        ),
    ],
)  # fmt: skip
def test_what_has_no_place_is_named(text: str, arguments: str, message: str) -> None:
    with pytest.raises(UnsupportedError, match=message):
        lowered(text, *arguments.split())


def test_text_that_does_not_parse_is_a_defect() -> None:
    with pytest.raises(VerificationError, match="does not parse"):
        lowered("func.func @main(")


def cast_of(source: str, name: str) -> str:
    op = generic(
        "affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>", "parallel parallel",
        f"{source} : tensor<3x4xi8>", f"%i{name} : tensor<3x4xi32>",
        "%e = arith.extsi %a : i8 to i32\nlinalg.yield %e : i32", "%a: i8, %o: i32", "tensor<3x4xi32>",
    )  # fmt: skip
    return f"%i{name} = tensor.empty() : tensor<3x4xi32>\n%{name} = {op}"


def product_of(a: str, b: str, name: str) -> str:
    op = generic(
        ", ".join(f"affine_map<(d0, d1, d2) -> ({dims})>" for dims in ("d0, d2", "d1, d2", "d0, d1")),
        "parallel parallel reduction", f"{a}, {b} : tensor<3x4xi32>, tensor<3x4xi32>", f"%f{name} : tensor<3x3xi32>",
        "%u = arith.muli %a, %b : i32\n%v = arith.addi %u, %o : i32\nlinalg.yield %v : i32",
        "%a: i32, %b: i32, %o: i32", "tensor<3x3xi32>",
    )  # fmt: skip
    fill = generic(
        "affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> (d0, d1)>", "parallel parallel", "%zero : i32",
        f"%e{name} : tensor<3x3xi32>", "linalg.yield %a : i32", "%a: i32, %o: i32", "tensor<3x3xi32>",
    )  # fmt: skip
    return f"%e{name} = tensor.empty() : tensor<3x3xi32>\n%f{name} = {fill}%{name} = {op}"


def test_a_cast_that_several_products_read_goes_into_each() -> None:
    """The stream between them stays as narrow as it was: 8 bits, not 32."""
    text = module(
        "%p: tensor<3x4xi8>, %q: tensor<3x4xi8>, %r: tensor<3x4xi8>",
        "%zero = arith.constant 0 : i32\n" + cast_of("%p", "x") + cast_of("%q", "y") + cast_of("%r", "z")
        + product_of("%x", "%y", "m") + product_of("%x", "%z", "n")
        + "%em2 = tensor.empty() : tensor<3x3xi32>\n%s = "
        + generic(
            ", ".join(["affine_map<(d0, d1) -> (d0, d1)>"] * 3), "parallel parallel",
            "%m, %n : tensor<3x3xi32>, tensor<3x3xi32>", "%em2 : tensor<3x3xi32>",
            "%t = arith.addi %a, %b : i32\nlinalg.yield %t : i32", "%a: i32, %b: i32, %o: i32", "tensor<3x3xi32>",
        ),
        "%s",
        "tensor<3x3xi32>",
    )  # fmt: skip
    graph = lowered(text, "p", "q", "r")
    products = [op for op in graph.ops if op.is_contraction]
    assert [op.body.arg_dtypes for op in products if op.body] == [("i8", "i8"), ("i8", "i8")]
    assert len(graph.ops) == 3
    rng = np.random.default_rng(0)
    p, q, r = (rng.integers(-128, 128, (3, 4)).astype(np.int8) for _ in range(3))
    made = outputs_of(graph, interpret(graph, {"p": p, "q": q, "r": r}))["out"]
    wide = [a.astype(np.int32) for a in (p, q, r)]
    np.testing.assert_array_equal(made, wide[0] @ wide[1].T + wide[0] @ wide[2].T)
