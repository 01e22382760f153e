"""Ways in which a measurement fails."""

from typing import Literal

from compiler.errors import MillraceError

MeasurementFailure = Literal[
    "device",  # no such board, it is busy, it refuses the design, its tools are missing
    "timeout",  # a kernel does not end
    "deadlock",  # the same on the simulated board, where it is known that it never will
    "c_error",  # the emitted C++ breaks a rule on the simulated board
]


class MeasurementError(MillraceError):
    """Nothing was measured; the text says why and what to do. A wrong result is no error but a `Measurement`."""

    def __init__(self, kind: MeasurementFailure, text: str) -> None:
        super().__init__(text)
        self.kind: MeasurementFailure = kind
