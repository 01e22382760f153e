"""Mistakes in when something happens: bounds, conditions, the order of what passes a stream."""

import re
from collections.abc import Iterator
from itertools import pairwise
from operator import eq, ge, lt

from bench.mutants.edits import Change, Edit, Place, become, exchange, near
from bench.mutants.source import Compare, Condition, Function, Line, Loop

_READ = re.compile(r"(\w+)(?=\.read\(\))")
_SLOT = re.compile(r"\b(?:un)?pack<\d+>\(\w+, (slot),")
_ELEMENT = re.compile(r"(?!acc|terms|products)\w+\[(.*)\] = .*;")
_MEMORY = re.compile(r"memory\d+\[([^\]]*)\]")
_NAME = re.compile(r"\b[a-z]\w*\b")
_BARE = re.compile(r"[\w:<>, ]+ \w+;")  # a declaration
_ASKED = re.compile(r"(?:(?P<word>\d+) \* (?P<tokens>\d+) \+ )?(?P<name>\w+) (?P<op>==|<|>=) (?P<value>\d+)")
_COMPARED = {"==": eq, "<": lt, ">=": ge}


def bound(function: Function) -> Iterator[Place]:
    """A loop that runs once more, once less or from one on; a limit of a condition that is one off."""
    for loop in function.loops:
        trips = (n for n in near(loop.count) if not _idle(function, loop, min(n, loop.count)))
        yield become(loop.trip, map(str, trips))
        yield become(loop.first, () if _idle(function, loop, 0) else ("1",))
    for condition in function.conditions:
        for compare in _of_loops(condition):
            if compare.op != "==":
                limits = near(compare.value)[:1] if _fills_last(function, condition, compare) else near(compare.value)
                yield become(compare.whole, (f"{compare.name} {compare.op} {value}" for value in limits))


def _idle(function: Function, loop: Loop, iteration: int) -> bool:
    """Whether nothing is done in this iteration of the loop, or would be: of all that it repeats, each statement asks
    for another one. Such an iteration may be left out or added.
    """
    inside = [line for line in function.statements if loop in line.loops and not _BARE.fullmatch(line.code.text)]
    return bool(inside) and all(any(_denied(part, loop, iteration) for part in line.asked) for line in inside)


def _denied(asked: str, loop: Loop, iteration: int) -> bool:
    """Whether the condition compares the loop, or a token's number in a word of a known one, and does not hold."""
    match = _ASKED.fullmatch(asked)
    if match is None or match["name"] != loop.name:
        return False
    before = int(match["word"]) * int(match["tokens"]) if match["word"] else 0
    return not _COMPARED[match["op"]](before + iteration, int(match["value"]))


def _fills_last(function: Function, condition: Condition, compare: Compare) -> bool:
    """Whether the compare only keeps a converter from filling its buffer in the last iteration of its outermost loop.
    What it fills there, nothing reads: an iteration drains before it fills, and the halves of a buffer take turns.
    """
    outermost, rest = function.loops[0], function.text[condition.whole.end :]
    if function.kind != "converter" or ".read()" in rest or ".write(" in rest:
        return False
    once = all(loop.unrolled for loop in function.loops[1:])
    ends = compare.name == outermost.name and compare.op == "<" and compare.value == outermost.count - 1
    return ends and (once or f"[{outermost.name} % 2]" in rest)


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
            if _fills_last(function, condition, compare):
                yield become(compare.whole, (f"{compare.name} == {compare.value - 1}",))
                continue
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
