"""What to measure, and how long."""

from dataclasses import dataclass
from pathlib import Path

from compiler.errors import InvalidInputError

SIMULATED = "simulated"
BOARD_TIMEOUT_S, SIMULATED_TIMEOUT_S = 60.0, 600.0  # of one run; emitted C++ takes its time


@dataclass(frozen=True, slots=True)
class MeasureRequest:
    """`board` is "simulated", the PCIe address of a board, or a shell: then any board with it that is free.

    `warm_up` runs are not counted, `repeats` are timed one by one. Then the design runs back to back for at least
    `min_seconds` while power is read every `sample_s`; before, for at least `idle_seconds`, it does not run. 0 for
    `min_seconds` measures no power. A run that takes longer than `timeout_s` (None: 60 s on a board, 600 s on the
    simulated one) hangs, and the board is reset where `allow_reset`. `lock_s` is how long to wait for a busy board,
    `lock_folder` where boards are locked (None: /run/lock, so that all users of the machine see it).

    Raises InvalidInputError for numbers that make no sense.
    """

    board: str = SIMULATED
    repeats: int = 100
    warm_up: int = 3
    min_seconds: float = 10.0
    idle_seconds: float = 5.0
    sample_s: float = 1.0
    timeout_s: float | None = None
    lock_s: float = 60.0
    lock_folder: Path | None = None
    allow_reset: bool = False
    allow_edited: bool = False

    def __post_init__(self) -> None:
        if self.repeats < 1 or self.warm_up < 0:
            raise InvalidInputError(f"repeats is {self.repeats}, warm_up {self.warm_up}; measure at least one run")
        if min(self.min_seconds, self.idle_seconds, self.lock_s) < 0 or self.sample_s <= 0:
            raise InvalidInputError("a time to measure is negative; give seconds")
        if self.timeout_s is not None and not 0 < self.timeout_s <= 86_400:
            raise InvalidInputError(f"timeout_s is {self.timeout_s:g}; give a run more than 0 s and at most a day")

    @property
    def simulated(self) -> bool:
        return self.board == SIMULATED

    @property
    def run_limit_s(self) -> float:
        """After so many seconds a run hangs."""
        return self.timeout_s or (SIMULATED_TIMEOUT_S if self.simulated else BOARD_TIMEOUT_S)
