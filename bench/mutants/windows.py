"""Mistakes in windows: where they begin, what lies outside of all lines, which line a tap is of."""

import re
from collections.abc import Iterator

from bench.mutants.control import without
from bench.mutants.edits import Place, become, near
from bench.mutants.source import Condition, Function

_ORIGIN = re.compile(r"const int origin\w* = .* (?P<away>[+-] \d+);")
_TAP = re.compile(r"\w+(?:\[.*\])? = (?:(?P<inside>.*) \? )?(?P<came>column\w*\[.*?\](?:\[.*\])?)(?: : (?P<fill>.*))?;")
_LIMIT = re.compile(r"\d+$")
_STEP = re.compile(r"(?<=\[)[^\[\]]+(?=\])")


def window(function: Function) -> Iterator[Place]:
    """A window that begins a line beside its place; one that is not cut off where lines end, or elsewhere; filled with
    another number; a tap of another line.
    """
    if function.kind != "window":
        return
    for line in function.lines:
        if match := _ORIGIN.fullmatch(line.code.text):
            sign, number = match["away"].split()
            away = int(f"{sign}{number}")
            yield become(line.code.part(match, "away"), (f"{'-' if n < 0 else '+'} {abs(n)}" for n in near(away)))
        elif "token" in line.code.text and (match := _TAP.fullmatch(line.code.text)):
            came = line.code.part(match, "came")
            if step := _STEP.search(came.text):
                yield become(came.part(step), (f"{step[0]} + 1", "0"))
            if match["inside"]:
                yield from _ends(Condition(line.code.part(match, "inside"), line))
                yield become(line.code.part(match, "fill"), ("0.0f", "1.0f", "-INFINITY"))


def _ends(condition: Condition) -> Iterator[Place]:
    """Where lines begin and end."""
    for number, part in enumerate(condition.parts):
        if match := _LIMIT.search(part.text):
            yield (*become(part.part(match), map(str, near(int(match[0])))), *without(condition, number))
