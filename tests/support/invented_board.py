"""The board file of tests that a compiler knows only by what it says."""

from pathlib import Path

INVENTED = Path(__file__).with_suffix(".toml")
