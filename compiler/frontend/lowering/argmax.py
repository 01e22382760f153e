"""The index of the largest element, as a reduction of one value in one pass.

torch-mlir reduces a pair, the largest so far and its index. Here the two are one integer, the *key*: above, a rank that
orders as the numbers do; below, how far the index is from the last one. So the largest key is that of the largest
number, and of equal ones that of the first, whatever the order in which they are compared. As `torch.argmax`: 0 and -0
are equal, and what is not a number is larger than all, the first of them. The rank is a number's bits, its magnitude
negated where its sign says so.
"""

from collections.abc import Sequence

from compiler.errors import UnsupportedError
from compiler.frontend.lowering.scalars import BodyBuilder
from compiler.frontend.lowering.source import Constant, Generic, ScalarStep
from compiler.graph.linalg_graph import Reduction

KEY = "i64"
# 32 bits of rank and these are no more than a double holds exactly, which is what the proof computes with.
MAX_INDEX_BITS = 21
LARGEST_KEY = Reduction("max", -(2**63))
_NAN_RANK = 2**31 - 1  # above that of infinity, 0x7f800000


def is_argmax(op: Generic) -> bool:
    """Whether the operation makes the largest element over its one reduction loop, and the index of the first such."""
    reduced = [loop for loop, iterator in enumerate(op.iterators) if iterator == "reduction"]
    if len(op.inputs) != 1 or len(op.results) != 2 or len(reduced) != 1:
        return False
    element, largest, index = 0, 1, 2
    steps = {step.result: step for step in op.steps}

    def step(value: int | Constant) -> ScalarStep | None:
        return steps.get(value) if isinstance(value, int) else None

    chosen, made = step(op.yields[1]), step(op.yields[0])
    if chosen is None or chosen.name != "arith.select" or chosen.args[2] != index or made is None:
        return False
    above, at = step(chosen.args[0]), step(chosen.args[1])
    at = step(at.args[0]) if at is not None and at.name == "arith.index_cast" else at
    is_larger = made.name == "arith.maximumf" and set(made.args) == {element, largest}
    is_larger |= made.name == "arith.select" and made.args == (chosen.args[0], element, largest)
    return (
        is_larger
        and above is not None
        and (above.predicate, above.args) in {("ogt", (element, largest)), ("ugt", (element, largest))}
        and at is not None
        and at.loop == reduced[0]
    )


def index_bits(extent: int, path: str) -> int:
    """Bits that an index below `extent` takes. Raises UnsupportedError for more than a key has room for."""
    bits = (extent - 1).bit_length()
    if not 1 <= bits <= MAX_INDEX_BITS:
        raise UnsupportedError(f"the argmax at {path} is over {extent} elements; 2 to {1 << MAX_INDEX_BITS} work")
    return bits


def key_of(builder: BodyBuilder, number: int, loops: Sequence[tuple[int, int]], bits: int) -> int:
    """The key of `number`, at the index that `loops` say together: each with how far one of its steps goes."""
    number_bits = builder.emit("arith.bitcast", (number,), "i32")
    plain = builder.emit("arith.extsi", (number_bits,), KEY)
    negated = builder.emit("arith.subi", (builder.constant(-(2**31), KEY), plain), KEY)
    is_negative = builder.emit("arith.cmpi", (plain, builder.constant(0, KEY)), "i1", "slt")
    rank = builder.emit("arith.select", (is_negative, negated, plain), KEY)
    is_nan = builder.emit("arith.cmpf", (number, number), "i1", "une")
    rank = builder.emit("arith.select", (is_nan, builder.constant(_NAN_RANK, KEY), rank), KEY)
    above = builder.emit("arith.shli", (rank, builder.constant(bits, KEY)), KEY)
    from_last = builder.emit("arith.subi", (builder.constant((1 << bits) - 1, "i32"), _index(builder, loops)), "i32")
    return builder.emit("arith.ori", (above, builder.emit("arith.extsi", (from_last,), KEY)), KEY)


def index_of(builder: BodyBuilder, key: int, bits: int) -> int:
    """The index in a key."""
    last = (1 << bits) - 1
    from_last = builder.emit("arith.andi", (key, builder.constant(last, KEY)), KEY)
    return builder.emit(
        "arith.subi", (builder.constant(last, "i32"), builder.emit("arith.trunci", (from_last,), "i32")), "i32"
    )


def _index(builder: BodyBuilder, loops: Sequence[tuple[int, int]]) -> int:
    total: int | None = None
    for loop, stride in loops:
        part = builder.index(loop)
        if stride > 1:
            part = builder.emit("arith.muli", (part, builder.constant(stride, "i32")), "i32")
        total = part if total is None else builder.emit("arith.addi", (total, part), "i32")
    assert total is not None
    return total
