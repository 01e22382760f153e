"""What is compared: one thing of a report whose area is known, and what the area model sees of it.

The model is linear: an amount is something fixed (operators, memories) plus a coefficient for each feature. `PARTS`
names the coefficients of each part of the model by their place in the `[area]` table of a platform file.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from compiler.platforms.area import FIFO_KINDS, AreaModel, Logic

TASK = ("base", "counter_bit", "stage", "bit", "memory", "shared_bit")
PARTS: dict[str, tuple[str, ...]] = {
    "task": tuple(f"task.{name}" for name in TASK),
    "process": ("process.base",),
    "kernel": ("kernel.base",),
    "port": ("port.base", "port.bit"),
    "fifo": tuple(f"fifo.{kind}.{name}" for kind in FIFO_KINDS for name in ("base", "bit")),
}
RESOURCES = ("lut", "ff", "dsp", "bram36")

Coefficients = dict[str, Logic]  # by name, as in `PARTS`


@dataclass(frozen=True, slots=True)
class Amount:
    """What a report says and what the model says before coefficients are added; `actual` None: not in the report."""

    actual: float | None
    fixed: float = 0.0


@dataclass(frozen=True)
class Sample:
    """`kind` is the class of kernel that errors are shown for; `source` groups designs of one origin, which are held
    out together. `features` say how often each coefficient counts; `part` is what of the model is fitted to this, ""
    nothing: only its error is of interest.
    """

    kind: str
    source: str
    design: str
    name: str
    part: str
    features: Mapping[str, float]
    lut: Amount
    ff: Amount
    dsp: Amount = Amount(None)
    bram36: Amount = Amount(None)

    def predicted(self, resource: str, coefficients: Coefficients) -> float:
        """The model's amount with these coefficients."""
        fixed = getattr(self, resource).fixed
        if resource not in {"lut", "ff"}:
            return fixed
        return fixed + sum(getattr(coefficients[name], resource) * count for name, count in self.features.items())


def coefficients_of(area: AreaModel) -> Coefficients:
    """All coefficients that a fit may change."""
    task = {f"task.{name}": getattr(area.task, name) for name in TASK}
    fifo = {f"fifo.{kind}.base": wire.base for kind, wire in area.fifo.items()}
    fifo |= {f"fifo.{kind}.bit": wire.bit for kind, wire in area.fifo.items()}
    port = {"port.base": area.port.base, "port.bit": area.port.bit}
    return {**task, **fifo, **port, "process.base": area.process, "kernel.base": area.kernel}
