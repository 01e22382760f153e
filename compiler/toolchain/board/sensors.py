"""What the sensors of a board say at one moment, whoever read them: xbutil as text or JSON, pyxrt, an exporter."""

from dataclasses import dataclass

from compiler.metrics import Fidelity, Metric
from compiler.toolchain.metric_table import metric_table
from compiler.toolchain.report import Failure

# Rails that feed the board, by id and by description; the others hang below them and count nothing again.
INPUTS = frozenset({"12v_aux", "12v_pex", "3v3_pex", "12v_aux1"})
INPUT_NAMES = frozenset({"12 Volts Auxillary", "12 Volts PCI Express", "3.3 Volts PCI Express", "12 Volts Aux1"})


@dataclass(frozen=True, slots=True)
class Rail:
    """`id` is XRT's ("12v_pex"), "" where only the description is known; None for a sensor that the board lacks."""

    id: str
    description: str
    volts: float | None
    amps: float | None

    @property
    def feeds(self) -> bool:
        """Whether the board draws its power from this rail."""
        return self.id in INPUTS if self.id else self.description in INPUT_NAMES

    @property
    def watts(self) -> float | None:
        return None if self.volts is None or self.amps is None else self.volts * self.amps


@dataclass(frozen=True, slots=True)
class Temperature:
    id: str
    description: str
    celsius: float


@dataclass(frozen=True, slots=True)
class BoardReading:
    """One board. `device` is its PCIe address; watts are of the whole board, shell and fans included.

    `facts` are what a platform report tells, by section and name ("Device properties: Type" -> "u55c").
    None and empty for what the report does not tell.
    """

    device: str
    shell: str
    power_w: float | None
    max_power_w: float | None
    power_warning: bool | None
    rails: tuple[Rail, ...]
    temperatures: tuple[Temperature, ...]
    facts: dict[str, str]

    @property
    def rails_w(self) -> float | None:
        """Sum of the rails that feed the board, None where none is known: what `power_w` should be."""
        inputs = [rail.watts for rail in self.rails if rail.feeds and rail.watts is not None]
        return sum(inputs) if inputs else None


@dataclass(frozen=True, slots=True)
class Examine:
    """A report of one or more boards."""

    boards: tuple[BoardReading, ...]
    xrt_version: str = ""
    failures: tuple[Failure, ...] = ()

    def metrics(self) -> tuple[Metric, ...]:
        """Power of the board at that moment, idle included, where there is one board."""
        power = self.boards[0].power_w if len(self.boards) == 1 else None
        return metric_table({"power": (power, "W")}, Fidelity.BOARD, "xrt", self.xrt_version)


def warnings(boards: tuple[BoardReading, ...]) -> tuple[Failure, ...]:
    """A failure for each board that says it takes too much power."""
    lever = "lower the clock or use fewer compute units; the board throttles its clocks above its limit"
    return tuple(
        Failure("device", f"the board warns of its power: {b.power_w} of {b.max_power_w} W", b.device, lever)
        for b in boards
        if b.power_warning
    )
