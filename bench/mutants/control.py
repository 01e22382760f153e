"""Mistakes in when something happens: bounds, conditions, the order of what passes a stream."""

import re
from collections.abc import Iterator
from itertools import pairwise

from bench.mutants.edits import Change, Edit, Place, become, exchange, near
from bench.mutants.source import Compare, Condition, Function, Line, Loop

_READ = re.compile(r"(\w+)(?=\.read\(\))")
_SLOT = re.compile(r"\b(?:un)?pack<\d+>\(\w+, (slot),")
_ELEMENT = re.compile(r"(?!acc|terms|products)\w+\[(.*)\] = .*;")
_MEMORY = re.compile(r"memory\d+\[([^\]]*)\]")
_NAME = re.compile(r"\b[a-z]\w*\b")


def bound(function: Function) -> Iterator[Place]:
    """A loop that runs once more, once less or from one on; a limit of a condition that is one off."""
    for loop in function.loops:
        yield become(loop.trip, map(str, near(loop.count)))
        yield become(loop.first, ("1",))
    for condition in function.conditions:
        for compare in _of_loops(condition):
            if compare.op != "==":
                yield become(compare.whole, (f"{compare.name} {compare.op} {value}" for value in near(compare.value)))


def gate(function: Function) -> Iterator[Place]:
    """Another condition for a read, a write, or an accumulator to start anew."""
    for condition in function.conditions:
        compares = _of_loops(condition)
        rounds = any(compare.name == "round" for compare in compares)
        for number, compare in enumerate(compares):
            trip = condition.line.trip(compare.name)
            assert trip is not None
            # When in its round a converter moves a token makes no difference to what it moves.
            moves = function.kind == "converter" and rounds and compare.name != "round"
            others = list(_other_compares(compare, trip, moves))
            yield (*become(compare.whole, others), *without(condition, number))
        if len(compares) > 1:
            yield become(condition.whole, (condition.whole.text.replace(" && ", " || "),))


def _of_loops(condition: Condition) -> list[Compare]:
    """The compares of a condition on loops only."""
    compares = condition.compares
    return compares if all(condition.line.trip(compare.name) for compare in compares) else []


def _other_compares(compare: Compare, trip: int, moves: bool) -> Iterator[str]:
    name, value = compare.name, compare.value
    last = value == trip - 1
    match compare.op:
        case "==":
            if not moves:
                yield from (f"{name} == {other}" for other in near(value) if 0 <= other < trip)
            yield f"{name} != {value}"
            yield from [] if last else [f"{name} >= {value}"]
            yield from [f"{name} <= {value}"] if value else []
        case ">=":
            yield f"{name} > {value}"
            yield from [] if last else [f"{name} == {value}"]
        case _:
            yield f"{name} <= {value}"
            yield f"{name} == {value - 1}"


def without(condition: Condition, number: int) -> Place:
    """The condition without one of its parts."""
    kept = [part.text for n, part in enumerate(condition.parts) if n != number]
    return become(condition.whole, (" && ".join(kept) or "true",))


def order(function: Function) -> Iterator[Place]:
    """Two loops or two streams taken for one another; the tokens of a word or the elements of a token backwards."""
    for outer, inner in pairwise(function.lines):
        if outer.opens and inner.opens and _tells_apart(function, outer.opens, inner.opens):
            yield (exchange(outer.opens.header, inner.opens.header),)
    yield from _reads(function)
    for line in function.statements:
        if match := _SLOT.search(line.code.text):
            yield become(line.code.part(match, 1), (f"{(line.trip('slot') or 1) - 1} - slot",))
        if match := _ELEMENT.fullmatch(line.code.text):
            yield from _backwards(line, match)


def _tells_apart(function: Function, outer: Loop, inner: Loop) -> bool:
    """Whether it makes a difference which of the two loops is the outer one. A condition that asks both whether they
    are at their start, or at their end, is true of the same iterations either way.
    """
    if outer.unrolled or inner.unrolled or 1 in (outer.count, inner.count):
        return False
    if function.kind == "converter" and outer.name != "round":
        return False  # only when in its round it moves a token
    addresses = [match[1] for match in _MEMORY.finditer(function.text)]
    if any({outer.name, inner.name} & set(_NAME.findall(address)) for address in addresses):
        return True
    for condition in function.conditions:
        asked = {compare.name: compare for compare in condition.compares}
        if _end(asked.get(outer.name), outer) != _end(asked.get(inner.name), inner):
            return True
    return False


def _end(compare: Compare | None, loop: Loop) -> str:
    """Which end of the loop the compare asks for; nothing else is like either."""
    if compare is None:
        return "none"
    ends = {0: "first", loop.count - 1: "last"}
    return ends.get(compare.value, f"at {loop.name}") if compare.op == "==" else f"in {loop.name}"


def _reads(function: Function) -> Iterator[Place]:
    """Two reads of streams of the same type, where it matters which is which."""
    streams = [line.code.part(m, 1) for line in function.statements if (m := _READ.search(line.code.text))]
    types = function.parameters
    for number, one in enumerate(streams):
        for other in streams[number + 1 :]:
            alike = one.text != other.text and types[one.text] == types[other.text]
            if alike and not interchangeable(function, one.text, other.text):
                yield (exchange(one, other),)


def interchangeable(function: Function, one: str, other: str) -> bool:
    """Whether the two parameters can be exchanged and the function does the same: `a * b` is `b * a`."""
    lines = [line.code.text for line in function.lines]
    names = {one: other, other: one, f"{one}_token": f"{other}_token", f"{other}_token": f"{one}_token"}
    swapped = [_NAME.sub(lambda match: names.get(match[0], match[0]), line) for line in lines]
    return sorted(map(_sorted_operands, lines)) == sorted(map(_sorted_operands, swapped))


def _sorted_operands(line: str) -> str:
    """The line with the operands of a lone sum or product in the order of the alphabet."""
    target, _, value = line.removesuffix(";").partition(" = ")
    for operator in (" + ", " * "):
        operands = value.split(operator)
        if len(operands) == 2 and " ? " not in value:
            return f"{target} = {operator.join(sorted(operands))}"
    return line


def _backwards(line: Line, match: re.Match[str]) -> Iterator[Place]:
    """Each loop over lanes that the address on the left is made of."""
    subscript = line.code.part(match, 1)
    lanes = {loop.name: loop for loop in line.loops if loop.unrolled and loop.count > 1}
    for name in _NAME.finditer(subscript.text):
        if loop := lanes.get(name[0]):
            piece = subscript.part(name)
            yield (Edit((Change(piece.start, piece.end, f"({loop.count - 1} - {loop.name})"),)),)
