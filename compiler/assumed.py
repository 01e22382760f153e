"""What times of whole replies rest on that is neither simulated nor estimated: numbers that others measured."""

from collections.abc import Iterable

KERNEL_START_US = 270.0
KERNEL_START_SOURCE = (
    "median from the end of a launch to the next on one kernel, 0.12 to 0.43 ms, TeraFly on a U50 (device trace)"
)
HBM_GB_S = 421.0
HBM_SOURCE = "all 32 channels read in sequence, Shuhai on a U280"
KERNEL_START = "kernel_start"
"""The metric by which a board replaces what is assumed of it."""


def assumed(start_us: float, starts: str) -> str:
    """In words; `starts` says how many there are."""
    start = f"{start_us / 1e3:g} ms for {starts} ({KERNEL_START_SOURCE})"
    return f"{start}; {HBM_GB_S:g} GB/s of HBM ({HBM_SOURCE})"


def assumed_of(names: Iterable[str]) -> str | None:
    """What a design's metrics of these names rest on; None where none is of a whole reply."""
    known = {*names}
    if "tokens_per_second" not in known:
        return None
    text = assumed(KERNEL_START_US, "each start of a kernel")
    return f"{text}; but for what is of a board, where the start was measured" if KERNEL_START in known else text
