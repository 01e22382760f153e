"""A placement: the die (SLR) of every task, and what crosses between dies."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from compiler.analysis.shortfall import Shortfall


@dataclass(frozen=True, slots=True)
class Crossing:
    """A stream, or the m_axi ports of a load or store, between two dies: `wires` at every boundary it crosses, and how
    many of its two ends are `registered`. Of ports it is that of the adapter, which Vitis HLS makes of register slices
    (`<bundle>_m_axi_reg_slice`); what lies at the other is the shell's.
    """

    name: str
    source: str
    target: str
    wires: int
    registered: int


@dataclass(frozen=True, slots=True)
class BoundaryUse:
    """Wires (super long lines) that cross between two neighbouring dies, of those that the shell leaves."""

    lower: str
    upper: str
    wires: int
    available: int


@dataclass(frozen=True)
class Placement:
    """`slr` of each task by its name. `cost` is that of `compiler.analysis.placement.assign`; no placement costs less
    than `bound`. `method` says what found it: `one-die`, `milp` (optimal within its gap), `local` (a search), `given`;
    or `infeasible` where the solver proved that no placement holds the limits: then it is the nearest that was found.
    """

    slr: Mapping[str, str]
    crossings: tuple[Crossing, ...]
    boundaries: tuple[BoundaryUse, ...]
    use: Mapping[str, Mapping[str, float]]
    cost: float
    bound: float
    method: str
    shortfalls: tuple[Shortfall, ...] = ()

    @property
    def gap(self) -> float:
        """How far `cost` may be above the optimum, relative to it."""
        return max(0.0, self.cost - self.bound) / max(self.cost, 1e-9)

    def kernel_slr(self, tasks: list[str]) -> str | None:
        """The die that holds all of these tasks; None where they lie on several."""
        dies = {self.slr[name] for name in tasks}
        return dies.pop() if len(dies) == 1 else None

    def summary_json(self) -> dict[str, Any]:
        """Dies and boundaries, without what lies where."""
        return {
            "boundaries": [asdict(b) for b in self.boundaries],
            "use": {die: {k: round(v, 1) for k, v in used.items()} for die, used in self.use.items()},
            "method": self.method,
            "gap": round(self.gap, 4),
            "shortfalls": [s.to_json() for s in self.shortfalls],
        }

    def to_json(self) -> dict[str, Any]:
        return {"slr": dict(self.slr), "crossings": [asdict(c) for c in self.crossings], **self.summary_json()}
