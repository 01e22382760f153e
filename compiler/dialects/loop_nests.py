"""The loops around an operation, as a stream sees them: tripcounts and steps of `scf.for`."""

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import IntegerAttr
from xdsl.dialects.scf import ForOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from compiler.graph.itensor import ITensor


def _constant(value: SSAValue) -> int:
    attr = value.owner.value if isinstance(value.owner, ConstantOp) else None
    if not isinstance(attr, IntegerAttr):
        raise VerifyException("a loop around a stream needs constant bounds and step")
    return attr.value.data


def trip_and_step(loop: ForOp) -> tuple[int, int]:
    """Tripcount and step of a loop from 0. Raises VerifyException where they are not constant."""
    low, high, step = _constant(loop.lb), _constant(loop.ub), _constant(loop.step)
    if low != 0 or step < 1 or high < 1:
        raise VerifyException(f"a loop around a stream runs from 0 to a positive bound, not {low} to {high} by {step}")
    return -(-high // step), step


def loops_between(outer: Block | None, op: Operation) -> list[tuple[int, int]]:
    """Tripcounts and steps of the loops around `op` inside block `outer`, outermost first."""
    found: list[tuple[int, int]] = []
    block = op.parent
    while block is not None and block is not outer:
        parent = block.parent_op()
        if isinstance(parent, ForOp):
            found.append(trip_and_step(parent))
        block = parent.parent if parent is not None else None
    return found[::-1]


def carried_from(value: SSAValue) -> SSAValue:
    """What a destination is before the loops that carry it started."""
    while isinstance(value, BlockArgument) and isinstance(loop := value.block.parent_op(), ForOp) and value.index > 0:
        value = loop.iter_args[value.index - 1]
    return value


def require_iteration_space(op: Operation, itensor: ITensor, loops: list[tuple[int, int]]) -> None:
    """Raise VerifyException unless `loops` are the iteration space of `itensor`, tripcounts of 1 aside.

    The step of a loop that re-reads says nothing about the tensor and may be any.
    """
    walks = [loop for loop in itensor.loops if loop.trip > 1]
    wanted = [(loop.trip, loop.step) for loop in walks]
    actual = [loop for loop in loops if loop[0] > 1]
    same = len(actual) == len(walks) and all(
        trip == loop.trip and (loop.dim is None or step == loop.step)
        for (trip, step), loop in zip(actual, walks, strict=True)
    )
    if not same:
        raise VerifyException(
            f"{op.name} stands in loops of (tripcount, step) {actual} where {itensor} is walked by {wanted}; "
            "the loops between an itensor and its read or write are exactly its iteration space"
        )


def definition_block(value: SSAValue) -> Block | None:
    """The block in which a value is defined."""
    return value.owner if isinstance(value.owner, Block) else value.owner.parent
