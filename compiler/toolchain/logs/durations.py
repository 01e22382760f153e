"""Durations and memory as logs write them: `10h 31m 58s`, `elapsed = 03:41:29`, `Elapsed time: 719.53 seconds`."""

import re

NUMBER = r"\d{1,12}(?:\.\d{1,12})?"
_HMS = re.compile(rf"(?:(\d{{1,9}})h )?(?:(\d{{1,9}})m )?({NUMBER})s")
_CLOCK = re.compile(rf"(\d{{1,9}}):(\d\d):({NUMBER})")
_UNITS = {"KB": 2.0**-20, "MB": 2.0**-10, "GB": 1.0, "TB": 2.0**10}


def seconds_of(text: str) -> float | None:
    """Seconds of "10h 31m 58s" or "10:31:58", None for anything else."""
    match = _HMS.fullmatch(text.strip()) or _CLOCK.fullmatch(text.strip())
    if match is None:
        return None
    hours, minutes, seconds = (float(part or 0) for part in match.groups())
    return 3600 * hours + 60 * minutes + seconds


def gigabytes(amount: str, unit: str) -> float:
    """`unit` is KB, MB, GB or TB, of 1024 each."""
    return float(amount) * _UNITS[unit]
