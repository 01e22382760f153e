"""What does not fit, as a report: demand, bound, and what a person can change (house rule 12)."""

from dataclasses import asdict, dataclass
from typing import Any

MORE = "a platform that may be filled more, as u55c@85"  # 70 % unless asked
# What lowers the demand for each resource, or allows more of it.
LEVERS: dict[str, tuple[str, ...]] = {
    "lut": ("lower overall_unroll", "multiplier=dsp", "override the unroll of this operation", MORE),
    "ff": ("lower overall_unroll", "a smaller stream_width", MORE),
    "dsp": ("lower overall_unroll", "multiplier=fabric", "override the unroll of this operation", MORE),
    "bram36": ("a smaller default_tile_size", "fewer hbm_channels", "a smaller prefetch_kib", MORE),
    "uram": ("a smaller default_tile_size", "a smaller prefetch_kib", MORE),
    "sll": ("a smaller stream_width", "lower overall_unroll, so that more tasks share a die", MORE),
    "hbm_ports": ("fewer hbm_channels", "a larger fusion_budget, so that fewer values cross kernels"),
    "hbm_bytes": ("fewer layers in one design", "a lower precision", "more hbm_channels"),
    "converter_bytes": ("a larger fusion_budget", "a smaller default_tile_size"),
    "on_chip_bytes": ("a smaller default_tile_size", "another loop order", "fusion_plan=traffic"),
}


@dataclass(frozen=True, slots=True)
class Shortfall:
    """`subject` (a task, a die, a boundary, the board) demands more of a resource than its bound, in the same unit."""

    subject: str
    resource: str
    demand: float
    bound: float

    @property
    def levers(self) -> tuple[str, ...]:
        """What to change; first what helps most."""
        return LEVERS[self.resource]

    def __str__(self) -> str:
        what = f"{self.subject} needs {self.demand:,.0f} {self.resource} of {self.bound:,.0f}"
        return f"{what}; try {', or '.join(self.levers)}"

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "levers": list(self.levers)}
