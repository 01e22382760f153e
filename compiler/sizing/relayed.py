"""FIFO depths of a design after relays have come in: as they are certified, deeper where relays would cost pace.

Relays make no deadlock: each passes on whatever it reads, and its FIFO adds to what the stream holds. But where two
paths meet, of which one has more of them, the other has to hold what is under way in these. So the FIFOs grow in front
of which somebody waits, until the kernel is as quick as it was, or as it would be if they were unbounded.
"""

from collections.abc import Sequence
from dataclasses import replace

from compiler.analysis.placement.board_plan import placed, with_less_room
from compiler.analysis.placement.place import describe
from compiler.analysis.placement.placement import Placement
from compiler.analysis.shortfall import Shortfall
from compiler.graph.program import all_launches
from compiler.graph.task_graph import TaskGraph
from compiler.platforms.platform import Platform
from compiler.simulator.timing.core import Plan
from compiler.simulator.timing.network import Outcome
from compiler.simulator.timing.translate import networks_of
from compiler.sizing.certify import Sizing
from compiler.sizing.trial import SLACK, Depths, Trial, peaks, trials_of

DEEPER = "as deep as keeps the pace with the relays between dies"


def size_placed(sizing: Sizing, platform: Platform) -> tuple[Sizing, Placement]:
    """The design on its dies, with relays where streams cross; as it is where none does. Where FIFOs of relays, and
    deeper ones, make a die too full, it may be placed once more (`with_less_room`).
    """
    found = _size_placed(sizing, platform)
    within = with_less_room(platform, _shortfalls(*found, platform))
    if within is None:
        return found
    again = _size_placed(sizing, within)
    return found if _shortfalls(*again, platform) else again


def _shortfalls(sizing: Sizing, placement: Placement, platform: Platform) -> Sequence[Shortfall]:
    return describe(sizing.tasks, platform, placement.slr).shortfalls


def _size_placed(sizing: Sizing, platform: Platform) -> tuple[Sizing, Placement]:
    tasks, placement = placed(sizing.tasks, platform)
    if len(tasks.tasks) == len(sizing.tasks.tasks):
        return sizing, placement
    return size_relayed(sizing, tasks, platform), placement


def size_relayed(sizing: Sizing, relayed: TaskGraph, platform: Platform) -> Sizing:
    """`relayed` are the tasks of `sizing` with relays. Of its kernels, all but cycles stays as it was found before."""
    before = networks_of(sizing.tasks, platform, launches=all_launches(sizing.tasks.steady.arguments))
    depths: Depths = {}
    cycles: list[int] = []
    for network, trial in zip(before, trials_of(relayed, platform), strict=True):
        found, outcome = _grown(trial, int(max(Plan(network).run().cycles, trial.base.cycles) * (1 + SLACK)))
        depths |= found
        cycles.append(outcome.cycles)
    streams = tuple(
        s._replace(depth=depths[s.name], reason=DEEPER) if depths.get(s.name, 0) > s.depth else s
        for s in relayed.streams
    )
    kernels = tuple(replace(kernel, cycles=now) for kernel, now in zip(sizing.kernels, cycles, strict=False))
    return Sizing(replace(relayed, streams=streams), kernels)


def _grown(trial: Trial, limit: int) -> tuple[Depths, Outcome]:
    """Every FIFO that somebody found full gets twice as deep, up to what it holds when it is unbounded."""
    depths, most = {name: stream.depth for name, stream in trial.streams.items()}, peaks(trial.base)
    while (outcome := trial.run(depths)).cycles > limit:
        full = (f.name for f in outcome.fifos if f.full and f.name in depths and f.name not in trial.loads)
        deeper = {name: max(depths[name], min(2 * depths[name], most[name])) for name in full}
        if depths == depths | deeper:
            break
        depths |= deeper
    return depths, outcome
