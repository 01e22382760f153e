"""Bodies survive the way into the IR and back, for every scalar operation that a core exists for."""

import pytest

from compiler.analysis.operators import CORE_OF
from compiler.dialects.dataflow_kernel import YieldOp
from compiler.dialects.scalar_ops import SCALAR_OPS, body_region, region_body
from compiler.errors import UnsupportedError, VerificationError
from compiler.graph.linalg_graph import Body, ScalarOp

NUMBERS = {"f32": "arith.addf", "i32": "arith.addi", "i8": "arith.maxsi"}
CASTS = {
    "arith.extsi": ("i8", "i32"),
    "arith.trunci": ("i32", "i8"),
    "arith.sitofp": ("i32", "f32"),
    "arith.fptosi": ("f32", "i8"),
}


def test_table_covers_every_operator_core() -> None:
    assert set(SCALAR_OPS) == set(CORE_OF) | {"arith.muli"}


@pytest.mark.parametrize(("dtype", "name"), NUMBERS.items())
def test_binary(dtype: str, name: str) -> None:
    body = Body((dtype, dtype), (ScalarOp(name, (1, 0), dtype), ScalarOp(name, (2, 2), dtype)), 3)
    assert region_body(body_region(body, YieldOp)) == body


@pytest.mark.parametrize("name", sorted(n for n in SCALAR_OPS if n.startswith("math.") or n == "arith.negf"))
def test_unary(name: str) -> None:
    body = Body(("f32",), (ScalarOp(name, (0,), "f32"),), 1)
    region = body_region(body, YieldOp)
    region.block.verify()
    assert region_body(region) == body


@pytest.mark.parametrize(("name", "types"), CASTS.items())
def test_cast(name: str, types: tuple[str, str]) -> None:
    body = Body((types[0],), (ScalarOp(name, (0,), types[1]),), 1)
    assert region_body(body_region(body, YieldOp)) == body


def test_narrow() -> None:
    body = Body(("i32",), (ScalarOp("dataflow.narrow", (0,), "i32", 27),), 1)
    assert region_body(body_region(body, YieldOp)) == body


@pytest.mark.parametrize(("const", "dtype"), [(0.5, "f32"), (float("-inf"), "f32"), (-8, "i8"), (1, "i1"), (7, "i4")])
def test_constant(const: float, dtype: str) -> None:
    body = Body((), (ScalarOp("arith.constant", (), dtype, const),), 0)
    assert region_body(body_region(body, YieldOp)) == body


@pytest.mark.parametrize(("name", "dtype"), [("arith.cmpf", "f32"), ("arith.cmpi", "i32")])
def test_compare_and_select(name: str, dtype: str) -> None:
    predicate = "ogt" if dtype == "f32" else "sgt"
    compare = ScalarOp(name, (0, 1), "i1", predicate=predicate)
    body = Body((dtype, dtype), (compare, ScalarOp("arith.select", (2, 0, 1), dtype)), 3)
    assert region_body(body_region(body, YieldOp)) == body


def test_body_may_yield_its_argument() -> None:
    body = Body(("f32", "f32"), (), 1)
    assert region_body(body_region(body, YieldOp)) == body


def test_unknown_operation_names_itself() -> None:
    with pytest.raises(UnsupportedError, match=r"math\.cbrt"):
        body_region(Body(("f32",), (ScalarOp("math.cbrt", (0,), "f32"),), 1), YieldOp)


def test_constant_that_is_no_f32_is_rejected() -> None:
    with pytest.raises(VerificationError, match="is no f32, the nearest"):
        body_region(Body((), (ScalarOp("arith.constant", (), "f32", 0.1),), 0), YieldOp)
