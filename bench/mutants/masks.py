"""Mistakes in what is masked: lanes of padding, the last tokens of an image, the mask of an attention."""

import re
from collections.abc import Iterator
from itertools import pairwise

from bench.mutants.addresses import index
from bench.mutants.control import without
from bench.mutants.edits import Place, become, exchange, near
from bench.mutants.source import Condition, Function, Line
from bench.mutants.values import computed

_PARTIAL = re.compile(r"if \((.* \+ slot < \d+)\) \{")
_TERM = re.compile(r"const \w+ term\w* = (?P<inside>.*) \? (?P<value>.*) : (?P<ignored>.*);")
_LIMIT = re.compile(r"(?<= < )\d+$")
_ADDED = re.compile(r"(?P<other>.+) \+ (?P<mask>\w*mask\w*_token(?:\[#*\])?)")
_READ = re.compile(r"\w*mask\w*_token = \w+\.read\(\);")


def mask(function: Function) -> Iterator[Place]:
    """A bound of what is masked that is one off or not asked for, a mask that is not added or not read in time."""
    for line in function.lines:
        if match := _PARTIAL.fullmatch(line.code.text):
            yield from _limits(Condition(line.code.part(match, 1), line))
        elif match := _TERM.fullmatch(line.code.text):
            yield from _limits(Condition(line.code.part(match, "inside"), line))
            yield (exchange(line.code.part(match, "value"), line.code.part(match, "ignored")),)
    for value in computed(function):
        if match := _ADDED.fullmatch(value.plain):
            other, added = value.part(match, "other").text, value.part(match, "mask").text
            yield become(value.piece, (other, added, f"{other} - {added}", f"{other} * {added}"))
    yield from _late(function)
    if "mask" in function.name and function.kind in ("load", "converter"):
        yield from index(function)


def _limits(condition: Condition) -> Iterator[Place]:
    for number, part in enumerate(condition.parts):
        if match := _LIMIT.search(part.text):
            yield (*become(part.part(match), map(str, near(int(match[0])))), *without(condition, number))


def _late(function: Function) -> Iterator[Place]:
    """The mask read in other iterations."""
    guards = {condition.line.code.start: condition for condition in function.conditions}
    for guard, line in pairwise(function.lines):
        condition = guards.get(guard.code.start)
        if condition is None or not _READ.fullmatch(line.code.text):
            continue
        for number, compare in enumerate(condition.compares):
            values = (value for value in near(compare.value) if 0 <= value < _trip(condition.line, compare.name))
            yield (
                *become(compare.whole, (f"{compare.name} {compare.op} {value}" for value in values)),
                *without(condition, number),
            )


def _trip(line: Line, name: str) -> int:
    return line.trip(name) or 0
