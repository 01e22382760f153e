"""What a search makes small: metrics of the estimate, one row each. A new one is a metric there and a row here.

All are costs. What people want much of is the reciprocal of one: tokens a second are that of the latency of a token,
and both give the same front, as images a second are that of the interval between two.

A design that serves every position takes longest at its last, of which `latency` and `energy` are: the worst of all
contexts. `mean_latency` and `mean_energy` are the means of all.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from compiler.errors import InvalidInputError
from compiler.options import STEPS

LEAST, MOST = 2, 3
"""How many a search may have."""


@dataclass(frozen=True, slots=True)
class Objective:
    """`name` is that of the metric, which all workloads have, or those of these `phases`, or of several `inputs` a
    launch.
    """

    name: str
    unit: str
    meaning: str
    phases: tuple[str, ...] = ()
    inputs: bool = False

    @property
    def best(self) -> str:
        """What the design with the least of it is called."""
        return "fastest" if self.name == LATENCY else f"least_{self.name}"


LATENCY = "latency"
"""The one that simulation knows better."""

PROMPT_TIME = "prompt_time"
"""The only one that rows side by side change."""

_TABLE = (
    Objective(LATENCY, "us", "time of one run"),
    Objective("energy", "uJ", "energy of one run above the idle board"),
    Objective("energy_with_idle", "uJ", "energy of one run with the idle board"),
    Objective("power", "W", "power of the board during a run"),
    Objective("area", "%", "largest share of LUT, FF, DSP, BRAM or URAM that a design may use"),
    Objective("lut", "LUT", "LUTs"),
    Objective("ff", "FF", "flip-flops"),
    Objective("dsp", "DSP", "DSPs"),
    Objective("bram36", "BRAM36", "block RAMs"),
    Objective("uram", "URAM", "UltraRAMs"),
    Objective("hbm_ports", "ports", "ports of HBM"),
    Objective("hbm_traffic", "bytes", "bytes over HBM in one run"),
    Objective("mean_latency", "us", "time of one run, the mean of all positions", STEPS),
    Objective("mean_energy", "uJ", "energy of one run above the idle board, the mean of all positions", STEPS),
    Objective(PROMPT_TIME, "us", "time of a token of a prompt of 128, in chunks where there are these", ("token",)),
    Objective("time_per_token", "ms", "time of a token of a whole reply, starts of kernels too", ("token",)),
    Objective("input_interval", "us", "time from one input to the next, within a launch of several", inputs=True),
    Objective("on_chip_memory", "bytes", "memory on chip between tasks"),
)
OBJECTIVES: Mapping[str, Objective] = {row.name: row for row in _TABLE}
DEFAULT = (LATENCY, "energy")


def usual(phase: str) -> tuple[str, ...]:
    """What a search makes small where nobody says: of whole replies the time until they begin, too."""
    return (*DEFAULT, PROMPT_TIME) if phase == "token" else DEFAULT


def at_latency(names: Sequence[str], values: Sequence[float], latency: float) -> tuple[float, ...]:
    """The objectives with this latency in place of theirs, where it is one of them."""
    return tuple(latency if name == LATENCY else value for name, value in zip(names, values, strict=True))


def check_objectives(names: Sequence[str], phases: Iterable[str] = (), batches: Iterable[int] = ()) -> None:
    """Raises InvalidInputError where a search can not have these, of workloads of these `phases` and `batches`."""
    if unknown := [name for name in names if name not in OBJECTIVES]:
        raise InvalidInputError(f"no objective is called {', '.join(unknown)}; there are {', '.join(OBJECTIVES)}")
    if len(set(names)) < len(names) or not LEAST <= len(names) <= MOST:
        raise InvalidInputError(
            f"a search has {LEAST} or {MOST} different objectives, not {', '.join(names) or 'none'}; "
            f"there are {', '.join(OBJECTIVES)}"
        )
    for name in names:
        if (of := OBJECTIVES[name].phases) and (others := sorted({*phases} - {*of})):
            raise InvalidInputError(
                f"{name} is known of a {' or '.join(of)}, not of a {' or '.join(others)}: --phase {of[-1]}"
            )
        if OBJECTIVES[name].inputs and 1 in batches:
            raise InvalidInputError(f"{name} is known of launches that take several inputs, not of one: --batch 8")


def in_words(names: Sequence[str], conjunction: str = "and") -> str:
    """As in: latency, energy and area."""
    *first, last = (name.replace("_", " ") for name in names)
    return f"{', '.join(first)} {conjunction} {last}" if first else last
