"""Versions of Vitis (2023.2), and which front end of Vitis HLS a version has."""

import re
from typing import Literal

# vitis_hls runs a Tcl script; v++ and vitis-run take a configuration; vitis-run alone takes a Tcl script too.
FrontEnd = Literal["vitis_hls", "config", "tcl"]

FIRST_UNIFIED = (2023, 2)  # vitis-run, v++ -c --mode hls
LAST_PREFERRED = (2023, 2)  # vitis_hls warns that it goes from here on
LAST_VITIS_HLS = (2024, 1)

_VERSION = re.compile(r"(?<!\d)(20\d\d)\.([1-4])(?!\d)")


def version_in(text: str) -> str | None:
    """The last version in a path or a tool's banner."""
    found = _VERSION.findall(text)
    return ".".join(found[-1]) if found else None


def parsed(version: str) -> tuple[int, int]:
    """For comparison. Raises ValueError for what is no version."""
    match = _VERSION.fullmatch(version)
    if match is None:
        raise ValueError(f"{version!r} is no version of Vitis; expected one like 2023.2")
    return int(match[1]), int(match[2])


def front_ends(version: str) -> tuple[FrontEnd, ...]:
    """Those that the version has, the best first."""
    number = parsed(version)
    old: tuple[FrontEnd, ...] = ("vitis_hls",) if number <= LAST_VITIS_HLS else ()
    new: tuple[FrontEnd, ...] = ("config", "tcl") if number >= FIRST_UNIFIED else ()
    return old + new if number <= LAST_PREFERRED else new + old
