"""A network of the timing simulator of a reply as it is compiled: a loop over three layers with a cache, a chunk of a
prompt across a tile of positions, a token behind it, the end.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache

from plain_names import plainly_named
from stepping_networks import replying

from compiler.graph.layers import folded
from compiler.options import Knobs
from compiler.passes.design_passes import planned_tasks
from compiler.platforms.platform import load_platform
from compiler.simulator.timing.design import TimedDesign, timed_design
from compiler.simulator.timing.network import Network
from compiler.simulator.timing.prompt_rows import ROWS
from compiler.simulator.timing.translate import networks_of_design
from compiler.sizing.certify import certify

U55C = load_platform("u55c")
LAYERS = 3
REPLY = ({"position": 12, ROWS: 8}, {"position": 20})


@cache
def replying_design() -> TimedDesign:
    """With certified FIFOs; tiles of 16 positions."""
    graph = folded(replying(LAYERS))
    assert graph is not None
    tasks = planned_tasks(graph, Knobs(default_tile_size=4, overall_unroll=8), U55C)
    return timed_design(certify(tasks, U55C, effort=0).tasks, U55C)


def reply(kept: int) -> Network:
    """With so many tokens of room for what leads from a layer to the next; by names that SystemVerilog takes."""
    design = replying_design()
    assert design.control is not None
    (back,) = design.control.looped
    streams = tuple(replace(s, depth=kept) if s.name == back else s for s in design.streams)
    (network,) = networks_of_design(replace(design, streams=streams).at(REPLY).ending(), U55C)
    return plainly_named(network)


# The network by that depth, and the least depth with which it runs to its end.
REPLIES: dict[str, tuple[Callable[[int], Network], int]] = {"a reply": (reply, 125)}
