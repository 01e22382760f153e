"""The depths at which the memory of a FIFO costs more: between two of them, depth is free.

Up to 16 words or 1024 bits a FIFO is shift registers that are free: of 16 words they take fewer LUTs than two words of
flip-flops, and none takes 32 more. Up to 32 words they take twice as many, then LUTRAM, block RAM or URAM follow, each
in steps of its own (`compiler.analysis.memory`). All are compared as shares of the part: one block RAM weighs
`luts_per_bram36` LUTs, one URAM `bram36_per_uram` block RAMs. Deeper never costs less: the searches below rest on that.
"""

from collections.abc import Callable
from functools import lru_cache

from compiler.analysis.affine_schedule import MIN_DEPTH
from compiler.analysis.memory import SMALL_BITS, fifo_cost
from compiler.platforms.memories import Memories


def price(width: int, depth: int, memories: Memories) -> float:
    """What the memory of a FIFO of `depth` tokens of `width` bits takes of the part, in LUTs of equal share."""
    cost = fifo_cost(width, depth, memories)
    if cost.kind == "registers" and (depth <= memories.srl_depth // 2 or width * depth <= SMALL_BITS):
        return 0.0
    return cost.lut + memories.luts_per_bram36 * (cost.bram36 + memories.bram36_per_uram * cost.uram)


def _last(holds: Callable[[int], bool], low: int, high: int) -> int:
    """The last depth in [low, high) for which `holds`, which does at `low` and from some depth on no more."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


@lru_cache(maxsize=65536)
def free_depth(width: int, depth: int, memories: Memories) -> int:
    """The largest depth that costs what `depth` does: that much more takes no more memory. O(log depth)."""
    paid = price(width, depth, memories)
    beyond = 2 * depth
    while price(width, beyond, memories) <= paid:
        beyond *= 2
    return _last(lambda d: price(width, d, memories) <= paid, depth, beyond)


def next_smaller(width: int, depth: int, memories: Memories) -> int | None:
    """The largest depth that costs less than `depth`; None where that is free. O(log depth)."""
    if is_free(width, depth, memories):
        return None
    paid = price(width, depth, memories)
    return _last(lambda d: price(width, d, memories) < paid, MIN_DEPTH, depth)


def is_free(width: int, depth: int, memories: Memories) -> bool:
    """Whether the FIFO takes the primitives that the shallowest one does."""
    return price(width, depth, memories) <= price(width, MIN_DEPTH, memories)


def deepest_within(width: int, budget: float, below: int, memories: Memories) -> int:
    """The largest depth under `below` that costs no more than `budget`; `MIN_DEPTH` where none does. O(log depth)."""
    return _last(lambda d: price(width, d, memories) <= budget, MIN_DEPTH, below)
