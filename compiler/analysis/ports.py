"""m_axi ports of a kernel: what shares one.

A port has a read and a write channel of its own, and Vitis HLS lets one process of a dataflow region read through it
and one write (UG1448, HLS 200-992). So every store of a kernel goes through the port of a load: that of what it writes,
so that the port is of one channel of HBM, of the others the heaviest with the lightest. A store costs no port where
there is a load for it. The adapter asks for a write when it holds all of its
data, and for a read when it has room for it (`m_axi_conservative_mode`, the default of the tool), so neither channel
ever waits for the other's stream. Ports whose bursts are asked for by hand share one with each other only: UG1399 has
no bundle of an `hls::burst_maxi` and a pointer (by recollection: verify).
"""

from collections.abc import Mapping
from typing import TypeVar

from compiler.graph.task_graph import TaskGraph

Key = TypeVar("Key")

OUTSTANDING_BURSTS = 16  # of `Hbm.burst_words`: what HLS takes by default; the adapter buffers all of them


def paired_stores(
    loads: Mapping[Key, int], stores: Mapping[Key, int], own: Mapping[Key, Key] | None = None
) -> dict[Key, Key]:
    """The load whose port each store goes through, by the words that each moves in one kernel; stores that find none
    have a port of their own. `own` are loads of what stores write. Ties keep order.
    """
    found = dict(own or {})
    heaviest = sorted(stores.keys() - found.keys(), key=lambda store: (-stores[store], list(stores).index(store)))
    lightest = sorted(loads.keys() - set(found.values()), key=lambda load: (loads[load], list(loads).index(load)))
    return found | dict(zip(heaviest, lightest, strict=False))


def kernel_ports(tasks: TaskGraph) -> list[int]:
    """Ports of each kernel. Kernels lie side by side, so none serves two."""
    counts = [{(asks, kind): 0 for asks in (False, True) for kind in ("load", "store")} for _ in range(tasks.kernels)]
    for task in tasks.transfers:
        counts[task.kernel][tasks.asks(task), task.kind] += task.dma.channels
    return [sum(max(count[asks, "load"], count[asks, "store"]) for asks in (False, True)) for count in counts]
