"""Clock of a routed design from what is known before it is routed: a period of five parts.

    period = base + fill x share of the fullest die's LUTs
             + crossed (where streams cross between dies without registers)
             + registered (where they cross through registers on either side)
             + crowded x share of the fullest die above what routes well                        [ns]

A board's coefficients are in its file; `compiler.calibration.clock` fits them to routed designs.
"""

from dataclasses import dataclass, fields
from typing import NamedTuple


class ClockShape(NamedTuple):
    """What the clock of a design depends on: of the fullest die the share of `lut`, and the share of any resource above
    `Dies.comfort`; whether streams cross between dies, without registers or with them.
    """

    lut: float
    crossed: bool = False
    registered: bool = False
    crowded: float = 0.0

    @property
    def parts(self) -> tuple[float, ...]:
        """What each coefficient is multiplied by, in the order of `COEFFICIENTS`."""
        return (1.0, self.lut, float(self.crossed), float(self.registered), self.crowded)


@dataclass(frozen=True, slots=True)
class ClockCoefficients:
    """In ns."""

    base: float
    fill: float = 0.0
    crossed: float = 0.0
    registered: float = 0.0
    crowded: float = 0.0

    def mhz(self, shape: ClockShape) -> float:
        """Without any cap."""
        return 1e3 / sum(c * part for c, part in zip(self.values, shape.parts, strict=True))

    @property
    def values(self) -> tuple[float, ...]:
        return (self.base, self.fill, self.crossed, self.registered, self.crowded)


COEFFICIENTS = tuple(field.name for field in fields(ClockCoefficients))


class LargeDesigns(NamedTuple):
    """No source has a design of more than `lut` LUTs or `dsp` DSPs at more than `mhz`."""

    lut: float
    dsp: float
    mhz: float


@dataclass(frozen=True, slots=True)
class ClockModel:
    """Of a board; `large` is None where nothing is known of large designs."""

    coefficients: ClockCoefficients
    large: LargeDesigns | None = None

    def mhz(self, shape: ClockShape, lut: float, dsp: float, asked: float) -> float:
        """Clock of a design of so many LUTs and DSPs in all: no more than is asked for, nor than any source has shown
        of one as large.
        """
        found = min(asked, self.coefficients.mhz(shape))
        large = self.large
        if large is None or (lut <= large.lut and dsp <= large.dsp):
            return found
        return min(found, large.mhz)
