"""Tasks as what placement sees: areas, and wires between them and to the die that has the HBM ports."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from compiler.analysis.design_area import DesignArea
from compiler.analysis.relays import relays_of_streams
from compiler.analysis.resources import Resources, relay_resources
from compiler.graph.task_graph import TaskGraph
from compiler.platforms.platform import Platform

RESOURCES: tuple[str, ...] = ("lut", "ff", "dsp", "bram36", "uram")
HANDSHAKE_WIRES = 2  # of a FIFO between two dies: not empty, read
MERGED_SHARE = 0.08  # of a die: clusters do not grow beyond, so that dies can still be filled evenly

Area = tuple[float, ...]  # by `RESOURCES`


@dataclass(frozen=True)
class Netlist:
    """Nodes are clusters of tasks: `members`, `area` by `RESOURCES`, `anchor` wires to the HBM die; `wires` between
    two nodes (lower number first). `relays`: area on each die that the streams from one node to another leave.
    """

    members: tuple[tuple[str, ...], ...]
    area: tuple[Area, ...]
    anchor: tuple[int, ...]
    wires: Mapping[tuple[int, int], int]
    relays: Mapping[tuple[int, int], Area] = field(default_factory=dict[tuple[int, int], Area])

    @property
    def size(self) -> int:
        return len(self.members)


def stream_wires(width: int) -> int:
    return width + HANDSHAKE_WIRES


def port_wires(tasks: TaskGraph, platform: Platform) -> dict[str, int]:
    """Wires to the HBM of the tasks that have ports."""
    return {t.name: t.dma.channels * platform.dies.port_wires for t in tasks.transfers}


def netlist_of(area: DesignArea, platform: Platform) -> Netlist:
    """One node for each task of a design of this area."""
    tasks = area.design
    names = [task.name for task in tasks.tasks]
    index = {name: k for k, name in enumerate(names)}
    areas, anchors = area.with_fifos(), port_wires(tasks, platform)
    wires: dict[tuple[int, int], int] = {}
    for stream in tasks.streams:
        a, b = sorted((index[stream.source], index[stream.target]))
        wires[a, b] = wires.get((a, b), 0) + tasks.copies(stream.name) * stream_wires(stream.width)
    return Netlist(
        tuple((name,) for name in names),
        tuple(_amounts(areas[name]) for name in names),
        tuple(anchors.get(name, 0) for name in names),
        wires,
    )


def with_relays(netlist: Netlist, tasks: TaskGraph, platform: Platform) -> Netlist:
    """The netlist of these tasks, or of clusters of them, with what relays take where streams leave a die."""
    node = {name: k for k, members in enumerate(netlist.members) for name in members}
    areas = dict[tuple[int, int], Resources]()
    for stream, relay, fifo in relays_of_streams(tasks):
        ends = node[stream.source], node[stream.target]
        if ends[0] != ends[1]:
            areas[ends] = areas.get(ends, Resources()) + relay_resources(relay, fifo, platform)
    return replace(netlist, relays={ends: _amounts(area) for ends, area in areas.items()})


def _amounts(area: Resources) -> Area:
    return tuple(float(getattr(area, r)) for r in RESOURCES)


class _Clusters:
    """Nodes under contraction, with the wires between what is left."""

    def __init__(self, netlist: Netlist, limit: tuple[float, ...]):
        self.limit = limit
        self.members = {k: list(m) for k, m in enumerate(netlist.members)}
        self.area = {k: list(a) for k, a in enumerate(netlist.area)}
        self.anchor = dict(enumerate(netlist.anchor))
        self.wires: dict[int, dict[int, int]] = {k: {} for k in self.members}
        for (a, b), wires in netlist.wires.items():
            self.wires[a][b] = self.wires[b][a] = wires

    def host(self, node: int) -> int | None:
        """The neighbour that `node` follows in some best placement: more wires go there than everywhere else."""
        wires = self.wires[node]
        if not wires:
            return None
        heaviest = max(wires, key=lambda n: (wires[n], -n))
        if 2 * wires[heaviest] < self.anchor[node] + sum(wires.values()):
            return None
        small = all(a + b <= c for a, b, c in zip(self.area[node], self.area[heaviest], self.limit, strict=True))
        return heaviest if small else None

    def merge(self, node: int, host: int) -> None:
        self.members[host] += self.members.pop(node)
        self.area[host] = [a + b for a, b in zip(self.area[host], self.area.pop(node), strict=True)]
        self.anchor[host] += self.anchor.pop(node)
        for other, wires in self.wires.pop(node).items():
            del self.wires[other][node]
            if other != host:
                self.wires[host][other] = self.wires[other][host] = self.wires[host].get(other, 0) + wires


def clustered(netlist: Netlist, platform: Platform, most: float = MERGED_SHARE) -> Netlist:
    """Contract small nodes, up to `most` of a die, into the neighbour that most of their wires go to: moving such a
    node there never adds a crossing, so the best placement of the clusters crosses no more than that of the tasks.
    O(nodes x degree) a round.
    """
    slrs = platform.dies.slrs
    limit = tuple(most * max(float(getattr(s, r)) for s in slrs) for r in RESOURCES)
    clusters = _Clusters(netlist, limit)
    waiting = sorted(clusters.members)
    changed = set(waiting)  # since they were looked at
    while waiting:
        node = waiting.pop()
        if node not in changed:
            continue
        changed.discard(node)
        host = clusters.host(node)
        if host is not None:
            clusters.merge(node, host)
            waiting += [host, *clusters.wires[host]]
            changed |= {host, *clusters.wires[host]}
    position = {name: k for k, members in enumerate(netlist.members) for name in members}
    kept = sorted(clusters.members, key=lambda node: max(position[name] for name in clusters.members[node]))
    number = {node: k for k, node in enumerate(kept)}
    return Netlist(
        tuple(tuple(clusters.members[k]) for k in kept),
        tuple(tuple(clusters.area[k]) for k in kept),
        tuple(clusters.anchor[k] for k in kept),
        {(number[a], number[b]): w for a in kept for b, w in clusters.wires[a].items() if number[a] < number[b]},
    )
