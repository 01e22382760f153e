"""Values that a kernel reads from HBM: in which order they come and through how many ports."""

from collections.abc import Mapping, Sequence
from heapq import heapify, heappop, heappush
from typing import NamedTuple, TypeVar

from compiler.analysis.tasks import plan_packing
from compiler.graph.itensor import ITensor
from compiler.graph.linalg_graph import LinalgGraph

Key = TypeVar("Key")


class Width(NamedTuple):
    """How long a load takes through so many ports."""

    ports: int
    cycles: int


def loaded_itensor(stored: ITensor | None, wanted: Sequence[ITensor], port_bits: int) -> ITensor:
    """In which order a value comes from HBM: as its only reader wants it where the memory image allows.

    `stored` is how an earlier kernel or the last run wrote it; None for what is packed at compile time or by the
    host.
    """
    if stored is None:
        return wanted[0] if len(wanted) == 1 else wanted[0].without_rereads()
    if len(wanted) > 1 or not stored.same_stream(wanted[0].without_rereads()):
        return stored
    as_stored, as_wanted = (plan_packing(itensor, 1, port_bits).tokens_per_word for itensor in (stored, wanted[0]))
    return wanted[0] if as_stored == as_wanted else stored


def load_channels(graph: LinalgGraph, value: str, hbm_channels: int) -> int:
    """Ports that load `value`: wide ones go to the tensors that are large, weights of contractions and the KV cache."""
    role = graph.value[value].role
    if role == "state":
        return hbm_channels
    reader = graph.consumers[value][0][0]
    return hbm_channels if role == "param" and reader.is_contraction else 1


def dealt_ports(widths: Mapping[Key, Sequence[Width]], ports: int) -> dict[Key, Width]:
    """The width of each load with which the slowest is as fast as can be, and `ports` are not exceeded, where that can
    be: of its `widths`, in which more ports mean fewer cycles, each has the first.

    What comes next goes to the load that takes longest. Any choice with a faster slowest load has each at least as wide
    as this has it, so there is none. O(widths * log loads).
    """
    at, spare = dict.fromkeys(widths, 0), ports - sum(found[0].ports for found in widths.values())
    slowest = [(-found[0].cycles, number, load) for number, (load, found) in enumerate(widths.items())]
    heapify(slowest)
    while slowest:
        _, number, load = heappop(slowest)
        found, this = widths[load], at[load]
        if this + 1 < len(found) and (more := found[this + 1].ports - found[this].ports) <= spare:
            at[load], spare = this + 1, spare - more
            heappush(slowest, (-found[this + 1].cycles, number, load))
    return {load: found[at[load]] for load, found in widths.items()}
