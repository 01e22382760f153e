"""A calibration file laid over a platform's tables: only numbers that the platform has, each within reason."""

import tomllib
from pathlib import Path
from typing import Any, cast

from compiler.errors import InvalidInputError

# What a calibration may replace. Latencies stay the platform's: a compiled design and its search must agree on them. So
# does the clock that power is given at.
TABLES = ("area", "power", "routed", "operators")
FIXED = frozenset({"latency", "bits", "clock_mhz"})
GUESS = "guess"
ADVICE = "write it anew with `millrace calibrate --write`"


def calibrated(platform: dict[str, Any], file: Path) -> dict[str, Any]:
    """`platform`'s tables with the numbers of the calibration in `file`. Raises InvalidInputError."""
    overlay = _read(file)
    if overlay.get("platform") != platform["name"]:
        raise InvalidInputError(
            f"{file} calibrates {overlay.get('platform')!r}, not {platform['name']!r}; name this board's calibration"
        )
    tables = {name: overlay[name] for name in TABLES if name in overlay}
    result = cast("dict[str, Any]", _merged(platform, tables, str(file)))
    result["area"]["calibration"] = _summary(overlay, file)
    return result


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text())
    except OSError as error:
        raise InvalidInputError(f"the calibration {file} can not be read: {error.strerror or error}") from error
    except ValueError as error:
        raise InvalidInputError(f"the calibration {file} is not TOML: {error}; {ADVICE}") from error


def _summary(overlay: dict[str, Any], file: Path) -> str:
    summary: Any = overlay.get("summary")
    if not isinstance(summary, str) or not summary:
        raise InvalidInputError(f"the calibration {file} does not say what it rests on (`summary`); {ADVICE}")
    return summary


def _merged(base: Any, overlay: Any, where: str) -> Any:
    if isinstance(base, dict):
        if not isinstance(overlay, dict):
            raise InvalidInputError(f"{where}: expected a table, not {overlay!r}; {ADVICE}")
        table, changes = dict(cast("dict[str, Any]", base)), cast("dict[str, Any]", overlay)
        for name, value in changes.items():
            if name not in table or name in FIXED:
                raise InvalidInputError(f"{where}: {name!r} is nothing that a calibration replaces; {ADVICE}")
            table[name] = _merged(table[name], value, f"{where}: {name}")
        return table
    if isinstance(base, bool) or not isinstance(base, int | float):
        raise InvalidInputError(f"{where} is nothing that a calibration replaces; {ADVICE}")
    if isinstance(overlay, bool) or not isinstance(overlay, int | float) or not 0 <= overlay < 1e9:
        raise InvalidInputError(f"{where}: expected a number from 0 to 1e9, not {overlay!r}; {ADVICE}")
    return overlay
