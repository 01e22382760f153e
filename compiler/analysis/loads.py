"""Values that a kernel reads from HBM: in which order they come and through how many ports."""

from collections.abc import Sequence

from compiler.analysis.tasks import plan_packing
from compiler.graph.itensor import ITensor
from compiler.graph.linalg_graph import LinalgGraph


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
