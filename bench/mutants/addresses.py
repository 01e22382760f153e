"""Mistakes in where something lies: subscripts, banks, the addresses of converters, positions in a cache."""

import re
from collections.abc import Iterator
from itertools import pairwise
from math import gcd

from bench.mutants.edits import Edit, Place, become, exchange, near
from bench.mutants.source import Function, Line, Piece

_FACTOR = re.compile(r"\b(\w+) \* (\d+)")
_COUNTER = re.compile(r"\b(?:fill|drain)\d+\b")
_STEP = re.compile(
    r"(?P<name>(?:fill|drain)(?P<number>\d+)) = (?P=name) == (?P<last>\d+) \? 0 : int\((?P=name)\) \+ (?P<by>1);"
)
_CARRY = re.compile(r"if \((?P<name>(?:fill|drain)\d+) == (?P<start>0)\) \{")
_RING = re.compile(
    r"(?P<name>\w+) = (?P=name) < (?P<limit>\d+) \? (?P<value>int\((?P=name)\)|(?P=name))(?: \+ (?P<on>\d+))?"
    r" : (?P=value) - (?P<back>\d+);"
)
_HALF = re.compile(r"round % 2|\(round \+ 1\) % 2")
_READ = re.compile(r"token = (\w+)\.read\(\);")
_WRITTEN = re.compile(r"(\w+)\.write\(token\);")
_PAST = re.compile(r"load_\w*past\w*|store_\w*_[kv](?:_\w+)?")


def index(function: Function) -> Iterator[Place]:
    """A subscript one off, terms of it swapped or dropped, neighbouring lanes or subscripts swapped."""
    for piece, line in function.subscripts:
        text = piece.text
        if text.isdigit() or _HALF.fullmatch(text):
            continue
        yield become(piece, (f"{text} + 1", f"{text} - 1", *_other_terms(piece, line)))
    for line in function.statements:
        for match in re.finditer(r"\[([^\[\]]*[a-z][^\[\]]*)\](?=\[([^\[\]]*[a-z][^\[\]]*)\])", line.code.text):
            yield (exchange(line.code.part(match, 1), line.code.part(match, 2)),)


def _other_terms(piece: Piece, line: Line) -> Iterator[str]:
    terms = piece.text.split(" + ")
    if len(terms) == 1:
        if (line.trip(piece.text) or 1) % 2 == 0:
            yield f"{piece.text} ^ 1"
        return
    if "(" in piece.text:
        return
    for number in range(len(terms)):
        yield " + ".join(terms[:number] + terms[number + 1 :])
    if line.code.text.startswith("terms["):
        return  # in whatever order terms are added, the sum is the same
    names = [term.split(" * ")[0] for term in terms]
    for one, other in pairwise(names):
        swap = {one: other, other: one}
        yield re.sub(r"\w+", lambda match, swap=swap: swap.get(match[0], match[0]), piece.text)


def bank(function: Function) -> Iterator[Place]:
    """A factor of an address, the half of a buffer, where a ring starts or wraps, the port of a memory."""
    for piece, line in function.subscripts:
        for match in _FACTOR.finditer(piece.text):
            factor = int(match[2])
            yield become(
                piece.part(match, 2), map(str, (*near(factor), 2 * factor, *([factor // 2] if factor > 2 else [])))
            )
        if _HALF.fullmatch(piece.text):
            yield become(piece, ("round % 2", "(round + 1) % 2", "0"))
        if piece.text.isdigit() and (ports := _ports(function)) > 1 and line.code.text.startswith("memory"):
            yield become(piece, (str((int(piece.text) + 1) % ports),))
    for line in function.statements:
        if match := _RING.fullmatch(line.code.text):
            yield from _ring(line.code, match)


def _ports(function: Function) -> int:
    return sum(name.startswith("memory") for name in function.parameters)


def _ring(code: Piece, match: re.Match[str]) -> Iterator[Place]:
    """Amounts off by what both sides step by. A limit that is higher by less than a ring only wraps later."""
    amounts = {group: int(match[group]) for group in ("limit", "on", "back") if match[group]}
    unit = gcd(*amounts.values())
    for group, amount in amounts.items():
        off = (amount - unit,) if group == "limit" and "on" in amounts else (amount - unit, amount + unit)
        yield become(code.part(match, group), map(str, off))


def converter(function: Function) -> Iterator[Place]:
    """Counters of a converter that wrap, carry or step wrongly, or that are taken for one another in an address."""
    if function.kind != "converter":
        return
    rounds = any(loop.name == "round" for loop in function.loops)
    counts, carries = _that_matter(function)
    for line in function.lines:
        if (match := _STEP.fullmatch(line.code.text)) and match["name"] in counts:
            last = int(match["last"])
            # The walk is over when this one would wrap, or it wraps by itself.
            ends_here = (match["number"] == "0" and not rounds) or (last & (last + 1)) == 0
            yield become(line.code.part(match, "last"), map(str, (last - 1,) if ends_here else near(last)))
            yield become(line.code.part(match, "by"), ("2",))
        elif (match := _CARRY.fullmatch(line.code.text)) and match["name"] in carries:
            yield become(line.code.part(match, "start"), ("1",))
        elif line.code.text.endswith(";") and "buffer[" in line.code.text:
            yield from _counters(function, line)


def _that_matter(function: Function) -> tuple[set[str], set[str]]:
    """Counters that lead to an address, and those that carry into one that does. Of a walk that is repeated, the outer
    ones only count how often.
    """
    addresses = [x.code.text for x in function.statements if "buffer[" in x.code.text or "_at = " in x.code.text]
    used = set(_COUNTER.findall(" ".join(addresses)))
    counts, carries = set[str](), set[str]()
    for walk in ("fill", "drain"):
        leads = f"{walk}_origin" in function.text
        for name in sorted({n for n in _COUNTER.findall(function.text) if n.startswith(walk)}, key=_number):
            carries |= {name} if leads else set()
            leads = leads or name in used
            counts |= {name} if leads else set()
    return counts, carries


def _number(counter: str) -> int:
    return int(counter.removeprefix("fill").removeprefix("drain"))


def _counters(function: Function, line: Line) -> Iterator[Place]:
    """Each counter of an address as any other of the same walk."""
    walk = "fill" if line.code.text.startswith("buffer") else "drain"
    known = sorted({name for name in _COUNTER.findall(function.text) if name.startswith(walk)})
    used = [line.code.part(match) for match in _COUNTER.finditer(line.code.text)]
    for piece in used:
        yield become(piece, (name for name in known if name not in {p.text for p in used}))
    yield from ((exchange(one, other),) for n, one in enumerate(used) for other in used[n + 1 :])


def cache(function: Function) -> Iterator[Place]:
    """Where the inputs of a concatenation and the outputs of a chunk begin and end; positions in a key-value cache."""
    if function.kind in ("concat", "chunk"):
        yield from _boundaries(function)
        yield from _branches(function)
    if _PAST.fullmatch(function.name):
        yield from _rotated(function)
    if "cache" in function.name and function.kind == "converter":
        for line in function.statements:
            if "buffer[" in line.code.text:
                yield from _counters(function, line)


def _boundaries(function: Function) -> Iterator[Place]:
    compares = [(c, condition.line) for condition in function.conditions for c in condition.compares]
    for compare, _ in compares:
        yield become(compare.whole, (f"{compare.name} {compare.op} {value}" for value in near(compare.value)))
    mirrored = [
        become(c.whole, (f"{(line.trip(c.name) or 1) - 1} - {c.name} {c.op} {c.value}",))[0] for c, line in compares
    ]
    if mirrored:  # what belongs at the end comes first
        yield (Edit(tuple(change for edit in mirrored for change in edit.changes)),)


def _branches(function: Function) -> Iterator[Place]:
    """The streams of two branches exchanged."""
    stream = _READ if function.kind == "concat" else _WRITTEN
    branches = [line.code.part(m, 1) for line in function.statements if (m := stream.fullmatch(line.code.text))]
    yield from ((exchange(one, other),) for n, one in enumerate(branches) for other in branches[n + 1 :])


def _rotated(function: Function) -> Iterator[Place]:
    """A cache that begins some words later and goes on at its start."""
    for piece, line in function.subscripts:
        words = line.trip(piece.text)
        if words and line.code.text.startswith(("memory", "const ap_uint")):
            rotated = (f"({piece.text} + {by}) % {words}" for by in (1, words // 16, words // 2) if by % words)
            yield become(piece, rotated)
