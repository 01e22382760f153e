"""The calibration file: TOML with the platform's tables that it replaces, and what they were fitted to.

`compiler.platforms.overlay` lays it over the platform.
"""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from compiler.calibration.calibrate import Calibration
from compiler.errors import ToolError
from compiler.platforms.overlay import FIXED


def write_calibration(calibration: Calibration, date: str, file: Path) -> None:
    """Write it. `date` is what the file says of when. Raises ToolError where it can not be written."""
    try:
        file.write_text("\n".join(_lines(calibration, date)) + "\n")
    except OSError as error:
        raise ToolError(f"{file} can not be written: {error.strerror or error}") from error


def _lines(calibration: Calibration, date: str) -> Iterator[str]:
    yield "# Written by `millrace calibrate`; give it to `millrace compile --calibration`."
    yield f"platform = {_text(calibration.platform)}"
    yield f"summary = {_text(f'{calibration.summary}, {date}')}"
    for name, logic in calibration.coefficients.items():
        yield ""
        yield f"[area.{name}]"
        yield f"lut = {logic.lut:.4f}"
        yield f"ff = {logic.ff:.4f}"
    for resource, factor in calibration.routed.items():
        yield ""
        yield f"[routed.{resource}]"
        yield from (f"{key} = {value:.3f}" for key, value in asdict(factor).items())
    if calibration.power is not None:
        yield ""
        yield "[power]"
        yield from (
            f"{key} = {value:.6g}" for key, value in asdict(calibration.power.model).items() if key not in FIXED
        )
    yield ""
    yield "[provenance]"
    yield f"date = {_text(date)}"
    yield f"designs = {calibration.designs}"
    yield f"kernels_routed = {calibration.pairs}"
    for report in calibration.reports:
        yield ""
        yield "[[provenance.reports]]"
        yield f"name = {_text(report.path.name)}"
        yield f"sha256 = {_text(report.digest)}"


def _text(value: str) -> str:
    """A TOML basic string."""
    escaped = "".join(c if c.isprintable() and c not in '"\\' else f"\\u{ord(c):04x}" for c in value)
    return f'"{escaped}"'
