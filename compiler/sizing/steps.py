"""The depths at which the memory of a FIFO costs more: between two of them, depth is free.

Up to 1024 bits a FIFO is shift registers, then LUTRAM, from some depth on block RAM or URAM, each in steps of its own
(`compiler.analysis.memory`). Shift registers are free: they take at most 32 LUTs more than the two words of flip-flops
that the shallowest FIFO is made of. Other memory is compared as a share of the part: one block RAM weighs
`LUTS_PER_BRAM36` LUTs, one URAM `BRAM36_PER_URAM` block RAMs. Deeper never costs less: the searches below rest on that.
"""

from collections.abc import Callable

from compiler.analysis.affine_schedule import MIN_DEPTH
from compiler.analysis.memory import BRAM36_PER_URAM, fifo_cost

LUTS_PER_BRAM36 = 1_303_680 / 2016  # of the xcu55c


def price(width: int, depth: int) -> float:
    """What the memory of a FIFO of `depth` tokens of `width` bits takes of the part, in LUTs of equal share."""
    cost = fifo_cost(width, depth)
    if cost.kind == "registers":
        return 0.0
    return cost.lut + LUTS_PER_BRAM36 * (cost.bram36 + BRAM36_PER_URAM * cost.uram)


def _last(holds: Callable[[int], bool], low: int, high: int) -> int:
    """The last depth in [low, high) for which `holds`, which does at `low` and from some depth on no more."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def free_depth(width: int, depth: int) -> int:
    """The largest depth that costs what `depth` does: that much more takes no more memory. O(log depth)."""
    paid = price(width, depth)
    beyond = 2 * depth
    while price(width, beyond) <= paid:
        beyond *= 2
    return _last(lambda d: price(width, d) <= paid, depth, beyond)


def next_smaller(width: int, depth: int) -> int | None:
    """The largest depth that costs less than `depth`; None where that is free. O(log depth)."""
    if is_free(width, depth):
        return None
    paid = price(width, depth)
    return _last(lambda d: price(width, d) < paid, MIN_DEPTH, depth)


def is_free(width: int, depth: int) -> bool:
    """Whether the FIFO takes the primitives that the shallowest one does."""
    return price(width, depth) <= price(width, MIN_DEPTH)


def deepest_within(width: int, budget: float, below: int) -> int:
    """The largest depth under `below` that costs no more than `budget`; `MIN_DEPTH` where none does. O(log depth)."""
    return _last(lambda d: price(width, d) <= budget, MIN_DEPTH, below)
