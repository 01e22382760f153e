"""Where readings of a board's power come from: XRT's Python module, or its tool."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from compiler.errors import ReportError
from compiler.measurement.board_process import BoardAt, BoardProcess, BoardProcessError
from compiler.measurement.boards import Host
from compiler.measurement.errors import MeasurementError
from compiler.measurement.xbutil import Xbutil
from compiler.toolchain.board.xbutil_json import parse_xbutil_json
from compiler.toolchain.source import Source


class PowerSource(Protocol):
    """Watts of one whole board, shell and fans included. Its sensors are refreshed about once a second."""

    @property
    def name(self) -> str:
        """What it is, for people."""
        ...

    def watts(self) -> float:
        """Raises MeasurementError where the board does not say."""
        ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class XbutilPower:
    """Each reading is a run of the tool, which takes a good part of a second."""

    tool: Xbutil
    bdf: str

    @property
    def name(self) -> str:
        return f"{self.tool.path.name} examine"

    def watts(self) -> float:
        return _watts(self.tool.examine("--device", self.bdf, "--report", "electrical"))

    def close(self) -> None:
        """Nothing is open."""


class PyxrtPower:
    """Reads through pyxrt in a process of its own: it is not held up while a kernel runs, and holds up none."""

    name = "pyxrt"

    def __init__(self, bdf: str, python: Path) -> None:
        self._board = BoardProcess(BoardAt(bdf, "pyxrt", python))

    def watts(self) -> float:
        try:
            return _watts(Source("the sensors by pyxrt", self._board.electrical()))
        except BoardProcessError as error:
            raise MeasurementError("device", f"pyxrt does not read the sensors: {error}") from error

    def close(self) -> None:
        """End the process."""
        self._board.close()


def find_power(bdf: str, host: Host) -> PowerSource:
    """The first source that gives watts of the board. Raises MeasurementError that says what each lacks."""
    reasons: list[str] = []
    for source in _sources(bdf, host):
        try:
            source.watts()
        except MeasurementError as error:
            source.close()
            reasons.append(str(error))
        else:
            return source
    raise MeasurementError("device", f"the power of {bdf} is not known: {'; '.join(reasons) or 'no source'}")


def _sources(bdf: str, host: Host) -> "list[PowerSource]":
    by_module: list[PowerSource] = [PyxrtPower(bdf, host.python)] if host.python is not None else []
    return [*by_module, XbutilPower(host.tool, bdf)] if host.tool is not None else by_module


def _watts(source: Source) -> float:
    """Power of the board as it says itself, else the sum of the rails that feed it."""
    try:
        (board,) = parse_xbutil_json(source).boards
    except (ReportError, ValueError) as error:
        raise MeasurementError("device", f"{source.name} holds no sensors of one board: {error}") from error
    watts = board.power_w if board.power_w is not None else board.rails_w
    if watts is None:
        raise MeasurementError("device", f"{source.name}: the board has no power sensor")
    return watts
