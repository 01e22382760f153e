"""Which parameters stay on the chip: small ones as constants of the configuration, which no launch loads; large ones
that are wanted several times from when a launch has loaded them, once.

Each constant saves a port, and its reader waits for no memory. The smallest come first, since a port is a port. A
network that keeps rows for later launches has none: its parameters come from the host with the reply
(`compiler.host.session`), and with scales of their own.
"""

from collections.abc import Mapping

from compiler.analysis.joint_loads import joint_load_of
from compiler.analysis.memory import buffer_cost, buffer_memory
from compiler.analysis.rows import kept_rows
from compiler.analysis.tasks import rom_buffer
from compiler.graph.design import Design, Transfer
from compiler.graph.itensor import ITensor
from compiler.graph.layers import is_long, long_itensor
from compiler.platforms.platform import Platform

MOST_BYTES = 64 << 10
"""Of one tensor: it stands in the C++ as text, and block RAM and LUTs alone begin with content, no URAM."""

SHARE = 0.5
"""Of the board's block RAM, or as many LUTs instead, that hold constants, and of its block memories that hold what is
loaded once; FIFOs and re-ordering have the rest.
"""


def resident_loads(design: Design) -> frozenset[str]:
    """Loads of whole parameters that have room on the chip, by name. O(loads x log loads)."""
    if kept_rows(design.graph):
        return frozenset()
    joint = joint_load_of(design)
    free = SHARE * design.platform.limit("bram36")
    sizes = sorted(
        (_block_rams(held, design.platform), name)
        for name, load in design.loads.items()
        if name not in joint and (held := _held(design, load)) is not None
    )
    found = set[str]()
    for blocks, name in sizes:
        if (free := free - blocks) < 0:
            break
        found.add(name)
    return frozenset(found)


def loaded_once(design: Design, wanted: Mapping[tuple[str, int], ITensor]) -> frozenset[tuple[str, int]]:
    """Of loads, as (value, kernel), those of parameters that are too large for constants and are wanted several times,
    as far as the chip has room; first those that spare HBM most. O(loads x log loads).
    """
    layers = design.graph.layers
    again = layers is not None and bool(layers.told)  # for the next input
    if kept_rows(design.graph) or (layers is not None and not again):
        return frozenset()
    free, memories = SHARE * design.platform.on_chip_bytes, design.platform.memories
    found = set[tuple[str, int]]()
    for key, itensor in sorted(wanted.items(), key=lambda item: (-item[1].tokens * item[1].width, item[0])):
        value, held = design.graph.value[key[0]], itensor.without_rereads()
        if value.role != "param" or (itensor.rereads == 1 and not again) or _is_small(held):
            continue
        cost = buffer_cost(held.width, held.tokens, 1, memories)
        size = cost.bram36 * memories.bram36_bytes + cost.uram * memories.uram_bytes
        if size <= free:
            free -= size
            found.add(key)
    return frozenset(found)


def _held(design: Design, load: Transfer) -> ITensor | None:
    """What it brings of all layers, if that may stay."""
    value, layers = design.graph.value[load.value], design.graph.layers
    if value.role != "param" or value.row is not None:
        return None
    own = layers is not None and is_long(design.graph, value)
    held = load.itensor.without_rereads()
    held = long_itensor(held, layers.count) if layers is not None and own else held
    return held if _is_small(held) else None


def _is_small(held: ITensor) -> bool:
    return held.tokens * held.width <= 8 * MOST_BYTES


def _block_rams(held: ITensor, platform: Platform) -> float:
    """Its memory as a share of the part, in block RAMs."""
    cost = buffer_memory(rom_buffer(held, platform.memories), platform.memories)
    return cost.bram36 + cost.lut / platform.memories.luts_per_bram36
