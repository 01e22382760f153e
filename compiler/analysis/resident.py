"""Which parameters stay on the chip between launches: small ones as constants of the configuration, large ones in
memories that the first launch fills (`compiler.analysis.memories`).

Each constant saves a port, and its reader waits for no memory. The smallest come first, since a port is a port. Of the
others those come first that spare HBM most for the memory that they take: all of them come through one port. A network
that keeps rows for later launches has none: its parameters come from the host with the reply
(`compiler.host.session`), and with scales of their own.
"""

from collections.abc import Mapping
from typing import NamedTuple

from compiler.analysis.joint_loads import joint_load_of
from compiler.analysis.memory import buffer_memory
from compiler.analysis.rows import kept_rows
from compiler.analysis.tasks import rom_buffer
from compiler.graph.design import Design, Transfer
from compiler.graph.itensor import ITensor
from compiler.graph.layers import is_long, long_itensor
from compiler.options import Knobs
from compiler.platforms.platform import Platform

MOST_BYTES = 64 << 10
"""Of one constant: it stands in the C++ as text, and block RAM and LUTs alone begin with content, no URAM."""

SHARE = 0.5
"""Of the board's block RAM, or as many LUTs instead, that hold constants, and of its block memories that hold both;
FIFOs and re-ordering have the rest.
"""


class Residents(NamedTuple):
    """Loads, by name, of what stays on the chip: as a constant, or in a memory that a launch fills."""

    constants: frozenset[str] = frozenset()
    memories: frozenset[str] = frozenset()


def resident_loads(design: Design, knobs: Knobs) -> Residents:
    """Loads of whole parameters that are to stay on the chip, by the knob `weights` and overrides of their readers, and
    have room there: first those of overrides. O(loads x log loads).
    """
    wanted = _wanted(design, knobs)
    if not wanted or kept_rows(design.graph):
        return Residents()
    joint = joint_load_of(design)
    held = {
        name: whole
        for name, load in design.loads.items()
        if name in wanted and name not in joint and (whole := _held(design, load)) is not None
    }
    constants = _constants(design, held, wanted)
    platform = design.platform
    room = (
        platform.limit("bram36") * platform.memories.bram36_bytes
        + platform.limit("uram") * platform.memories.uram_bytes
    )
    taken = sum(_block_rams(held[name], platform) for name in constants) * platform.memories.bram36_bytes
    others = {name: whole for name, whole in held.items() if name not in constants}
    return Residents(constants, _memories(design, others, wanted, SHARE * room - taken))


def _wanted(design: Design, knobs: Knobs) -> dict[str, bool]:
    """Loads that are to stay, and whether an override says so. Of several readers one that wants it decides."""
    if knobs.weights == "streamed" and all(override.weights is None for override in knobs.overrides):
        return {}
    said = {override.op: override.weights for override in reversed(knobs.overrides) if override.weights is not None}
    found = dict[str, bool]()
    for name, load in design.loads.items():
        asked = {said.get(op.name) for op, _ in design.graph.consumers[load.value]}
        if "resident" in asked or ("streamed" not in asked and knobs.weights == "resident"):
            found[name] = "resident" in asked
    return found


def _constants(design: Design, held: Mapping[str, ITensor], wanted: Mapping[str, bool]) -> frozenset[str]:
    free = SHARE * design.platform.limit("bram36")
    small = (
        (not wanted[name], _block_rams(whole, design.platform), name)
        for name, whole in held.items()
        if _is_small(whole)
    )
    found = set[str]()
    for _, blocks, name in sorted(small):
        if (free := free - blocks) < 0:
            break
        found.add(name)
    return frozenset(found)


def _memories(design: Design, held: Mapping[str, ITensor], wanted: Mapping[str, bool], free: float) -> frozenset[str]:
    """As many as `free` bytes hold."""
    found = set[str]()
    size = {name: _bytes(whole, design.platform) for name, whole in held.items()}

    def worth(name: str) -> float:
        """Bits that pass a port in a launch, for each byte of memory."""
        itensor = design.loads[name].itensor
        return itensor.tokens * itensor.width / size[name]

    for name in sorted(held, key=lambda name: (not wanted[name], -worth(name), name)):
        if size[name] <= free:
            free -= size[name]
            found.add(name)
    return frozenset(found)


def _held(design: Design, load: Transfer) -> ITensor | None:
    """What it brings of all layers, if that may stay."""
    value, layers = design.graph.value[load.value], design.graph.layers
    if value.role != "param" or value.row is not None:
        return None
    own = layers is not None and is_long(design.graph, value)
    held = load.itensor.without_rereads()
    return long_itensor(held, layers.count) if layers is not None and own else held


def _is_small(held: ITensor) -> bool:
    return held.tokens * held.width <= 8 * MOST_BYTES


def _block_rams(held: ITensor, platform: Platform) -> float:
    """Its constants as a share of the part, in block RAMs."""
    cost = buffer_memory(rom_buffer(held, platform.memories, constant=True), platform.memories)
    return cost.bram36 + cost.lut / platform.memories.luts_per_bram36


def _bytes(held: ITensor, platform: Platform) -> float:
    """Of the block memories that hold it; what LUTs or registers hold counts as itself."""
    memories = platform.memories
    cost = buffer_memory(rom_buffer(held, memories, constant=False), memories)
    return cost.bram36 * memories.bram36_bytes + cost.uram * memories.uram_bytes or held.tokens * held.width / 8
