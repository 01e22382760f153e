import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from networks import ADD, MUL, body

from compiler.analysis.operators import CORE_OF
from compiler.errors import UnsupportedError
from compiler.graph.linalg_graph import ScalarOp
from compiler.targets.body import emit_body
from compiler.targets.scalar_ops import COMPARES, expression, hint, is_inline, literal
from compiler.targets.writer import CppWriter, Namer


@pytest.mark.parametrize("name", sorted({*CORE_OF, "arith.muli"}))
def test_every_operation_that_is_estimated_has_cpp(name: str) -> None:
    predicate = next(iter(COMPARES[name])) if name in COMPARES else None
    op = ScalarOp(name, (0, 1, 2), "f32", 1.0 if name == "arith.constant" else None, predicate)
    assert expression(op, ["a", "b", "c"], ["f32"] * 3)
    assert is_inline(op) or hint(op)


def test_an_unknown_operation_names_itself() -> None:
    with pytest.raises(UnsupportedError, match=r"math\.fpowi"):
        expression(ScalarOp("math.fpowi", (0, 1), "f32"), ["a", "b"], ["f32", "i32"])
    with pytest.raises(UnsupportedError, match=r"arith\.cmpi xyz"):
        expression(ScalarOp("arith.cmpi", (0, 1), "i1", predicate="xyz"), ["a", "b"], ["i32", "i32"])


@given(st.floats(width=32, allow_infinity=False, allow_nan=False))
def test_float_literals_are_exact(value: float) -> None:
    text = literal(value, "f32")
    assert text.endswith("f")
    assert "." in text or "e" in text
    assert struct.pack("<f", float(text[:-1])) == struct.pack("<f", value)


def test_literals_of_other_kinds() -> None:
    assert [literal(v, "f32") for v in (-math.inf, math.inf, math.nan)] == ["-INFINITY", "INFINITY", "NAN"]
    assert [literal(1, t) for t in ("i1", "i8", "i4", "i32")] == ["true", "ap_int<8>(1)", "ap_int<4>(1)", "1"]


def test_signed_conversions_of_a_true_bit_are_minus_one() -> None:
    for name, dtype, text in (
        ("arith.extsi", "i32", "int(m ? -1 : 0)"),
        ("arith.sitofp", "f32", "(m ? -1.0f : 0.0f)"),
    ):
        assert expression(ScalarOp(name, (0,), dtype), ["m"], ["i1"]) == text
    assert expression(ScalarOp("arith.trunci", (0,), "i1"), ["x"], ["i8"]) == "bool(x & 1)"


def test_bodies_name_what_they_compute() -> None:
    out = CppWriter()
    two = ("arith.constant", (), "f32", 2.0)
    result = emit_body(out, body(["f32", "f32"], two, (MUL, (0, 2)), (ADD, (3, 1))), ["x", "y[k]"], None, Namer())
    assert out.text() == "const float product = x * 2.0f;\nconst float sum = product + y[k];\n"
    assert result == "sum"
