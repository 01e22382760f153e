"""Metrics with their provenance: a number is never shown without its fidelity (design section 4)."""

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

TOOL = "millrace"
VERSION = "0.1.0"


class Fidelity(StrEnum):
    """Where a metric came from, weakest first."""

    ESTIMATE = "estimate"
    SIMULATE = "simulate"
    CSYNTH = "csynth"
    COSIM = "cosim"
    LINK = "link"  # v++ link: placed and routed by Vivado
    BOARD = "board"


@dataclass(frozen=True, slots=True)
class Metric:
    """A number, its unit, and where it came from. `build` is the id of the build that produced it, if any."""

    name: str
    value: float
    unit: str
    fidelity: Fidelity
    tool: str = TOOL
    tool_version: str = VERSION
    build: str | None = None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)
