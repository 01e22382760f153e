"""Operator cores of bodies: what a DSP slice adds to its product, what is added to the sum of a whole token."""

from compiler.analysis.operators import body_cores, count_operators, pipeline_depth, products_added_to
from compiler.frontend.lowering.scalars import BodyBuilder
from compiler.graph.linalg_graph import Body, LinalgOp, Operand, Reduction
from compiler.graph.nest import Nest, NestLoop
from compiler.platforms.platform import load_platform

U55C = load_platform("u55c")


def sum_of_products(products: int, used_again: bool = False) -> Body:
    """Of an int32 of 27 bits and one of 18 each, plus an int32; the first product is part of it once more."""
    builder = BodyBuilder()

    def wide(bits: int) -> int:
        return builder.emit("arith.extsi", (builder.narrow(builder.arg("i32"), bits),), "i64")

    made = [builder.emit("arith.muli", (wide(27), wide(18)), "i64") for _ in range(products)]
    total = made[0]
    for part in (*made[1:], builder.emit("arith.extsi", (builder.arg("i32"),), "i64"), *made[: int(used_again)]):
        total = builder.emit("arith.addi", (total, part), "i64")
    return builder.finish(total)[0]


def test_what_is_added_to_one_product_is_added_in_its_dsp() -> None:
    one = sum_of_products(1)
    assert list(products_added_to(one).values()) == [one.result]
    assert body_cores(one, "fabric").count("iadd_64") == 0
    two = sum_of_products(2)  # one slice adds no product of another in the same cycles
    assert not products_added_to(two)
    assert body_cores(two, "fabric").count("iadd_64") == 2
    assert not products_added_to(sum_of_products(1, used_again=True))


def matmul(init: float, combiner: str = "add") -> LinalgOp:
    builder = BodyBuilder()
    wide = [builder.emit("arith.extsi", (builder.arg("i8"),), "i32") for _ in range(2)]
    body, _ = builder.finish(builder.emit("arith.muli", (wide[0], wide[1]), "i32"))
    reads, made = (Operand("x", (1,)), Operand("w", (0, 1))), (Operand("y", (0,)),)
    reduction = Reduction(combiner, init)  # pyright: ignore[reportArgumentType]
    return LinalgOp("m", "generic", (4, 16), ("parallel", "reduction"), (0, 1), reads, made, body, reduction)


def test_nothing_is_added_to_a_sum_of_a_whole_token() -> None:
    whole, halves = Nest((), (4, 16)), Nest((NestLoop(1, 2, 8),), (4, 8))
    for op, nest, kept, levels, adders in (
        (matmul(0), whole, 0, 4, 4 * 15),
        (matmul(0), halves, 1, 3 + 1, 4 * 8),
        (matmul(7), whole, 0, 4 + 1, 4 * 16),  # it begins at something
    ):
        assert pipeline_depth(op, nest, "fabric", U55C, kept) == 2 + 1 + levels
        assert dict(count_operators(op, nest, "fabric", kept))["iadd"] == adders
