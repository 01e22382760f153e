"""Emitted C++ as places to edit: the functions of tasks with their loops, conditions, expressions and subscripts.

What the emitter writes is regular: a statement a line, blanks around binary operators, conditions that compare a loop
with a number. So regular expressions do where C++ at large would need a parser. Comments and directives are skipped.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from compiler.graph.task_graph import TaskKind

_FUNCTION = re.compile(r"^void (\w+)\(.*?^}\n", re.DOTALL | re.MULTILINE)
_FOR = re.compile(r"for \(int (?P<name>\w+) = (?P<first>0); (?P=name) < (?P<trip>\d+); .*\) \{")
_IF = re.compile(r"if \((.*)\) \{")
_ASSIGN = re.compile(r"(?:const )?(?:[\w:<>,]+ )?(?P<target>\w+(?:\[[^=]*\])?) = (?P<value>.+);")
_WRITE = re.compile(r"(?P<target>\w+)\.write\((?P<value>.+)\);")
_COMPARE = re.compile(r"(\w+) (==|<|>=) (\d+)")
_DECLARATION = re.compile(r"(?:const )?[\w:<>, ]+ \w+(?:\[\d+\])+;")
_SUBSCRIPT = re.compile(r"\[([^\[\]]+)\]")


@dataclass(frozen=True, slots=True)
class Piece:
    """Some text and where it starts in the text that it is of."""

    start: int
    text: str

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    def part(self, match: re.Match[str], group: int | str = 0) -> "Piece":
        """What a match in `text` has found."""
        return Piece(self.start + match.start(group), match[group])

    def cut(self, start: int, end: int | None = None) -> "Piece":
        return Piece(self.start + start, self.text[start:end])

    def parts(self, separator: str) -> list["Piece"]:
        """The text between separators."""
        found, at = list[Piece](), 0
        for text in self.text.split(separator):
            found.append(Piece(self.start + at, text))
            at += len(text) + len(separator)
        return found


@dataclass(frozen=True, slots=True)
class Loop:
    """`for (int name = first; name < trip; ...) {`; unrolled ones run side by side."""

    header: Piece
    name: str
    first: Piece
    trip: Piece
    unrolled: bool

    @property
    def count(self) -> int:
        return int(self.trip.text)


@dataclass(frozen=True, slots=True)
class Line:
    """A line of code without its indent, the loops around it, the one that it opens, and what is asked before it runs:
    the parts of the conditions of the blocks that it stands in.
    """

    code: Piece
    loops: tuple[Loop, ...]
    opens: Loop | None = None
    asked: tuple[str, ...] = ()

    def trip(self, name: str) -> int | None:
        """How often the innermost loop of that name runs."""
        return next((loop.count for loop in reversed(self.loops) if loop.name == name), None)


@dataclass(frozen=True, slots=True)
class Compare:
    """`name op value` of a condition."""

    whole: Piece
    name: str
    op: str
    value: int


@dataclass(frozen=True, slots=True)
class Condition:
    """Of an `if`, or what selects in `target = condition ? ... : ...`; `parts` are joined by `&&`."""

    whole: Piece
    line: Line

    @property
    def parts(self) -> list[Piece]:
        return self.whole.parts(" && ")

    @property
    def compares(self) -> list[Compare]:
        """Its parts, where all of them compare a name with a number; else none."""
        found = [(part, _COMPARE.fullmatch(part.text)) for part in self.parts]
        compares = [Compare(part, match[1], match[2], int(match[3])) for part, match in found if match]
        return compares if len(compares) == len(found) else []


@dataclass(frozen=True, slots=True)
class Value:
    """An expression that computes an element, and the name that takes it; of a selection, what is selected."""

    piece: Piece
    target: str
    line: Line

    @property
    def plain(self) -> str:
        """The text with what stands between brackets hidden: the same places, no operators of addresses."""
        return _SUBSCRIPT.sub(lambda match: f"[{'#' * len(match[1])}]", self.piece.text)

    def part(self, match: re.Match[str], group: int | str = 0) -> Piece:
        """What a match in `plain` has found, as it is written."""
        return self.piece.cut(*match.span(group))


@dataclass(frozen=True)
class Function:
    """The function of one task."""

    name: str
    kind: TaskKind
    text: str

    @cached_property
    def parameters(self) -> dict[str, str]:
        """Type of each parameter."""
        signature = self.text[self.text.index("(") + 1 : self.text.index(") {")]
        pairs = (" ".join(p.split()).rpartition(" ") for p in signature.split(","))
        return {name: kind for kind, _, name in pairs}

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """The code of the body."""
        found = list[Line]()
        blocks = list[Loop | list[str]]()
        rows = list(_rows(self.text, self.text.index(") {\n") + 4))
        for row, following in pairwise(rows):
            if row.text.startswith("}") and blocks:
                blocks.pop()
            if row.text in ("", "}") or row.text.startswith(("#", "//")):
                continue
            opens = _loop(row, following.text == "#pragma HLS unroll")
            loops = tuple(block for block in blocks if isinstance(block, Loop))
            asked = tuple(part for block in blocks if not isinstance(block, Loop) for part in block)
            found.append(Line(row, loops, opens, asked))
            if row.text.endswith("{"):
                condition = _IF.fullmatch(row.text)
                blocks.append(opens or (condition[1].split(" && ") if condition else []))
        return tuple(found)

    @property
    def loops(self) -> list[Loop]:
        """In the order of the text."""
        return [line.opens for line in self.lines if line.opens is not None]

    @property
    def statements(self) -> Iterator[Line]:
        """Lines that do something: no blocks, no declarations of arrays."""
        return (x for x in self.lines if x.code.text.endswith(";") and not _DECLARATION.fullmatch(x.code.text))

    @property
    def conditions(self) -> Iterator[Condition]:
        for line in self.lines:
            if match := _IF.fullmatch(line.code.text):
                yield Condition(line.code.part(match, 1), line)
            elif (match := _ASSIGN.fullmatch(line.code.text)) and " ? " in match["value"]:
                yield Condition(line.code.part(match, "value").parts(" ? ")[0], line)

    @property
    def values(self) -> Iterator[Value]:
        """What is computed, without tokens that are read as they are."""
        for line in self.statements:
            match = _ASSIGN.fullmatch(line.code.text) or _WRITE.fullmatch(line.code.text)
            if match is None or ".read()" in match["value"]:
                continue
            piece = line.code.part(match, "value")
            selected = piece.text.find(" ? ")
            yield Value(piece.cut(selected + 3 if selected >= 0 else 0), match["target"].split("[")[0], line)

    @property
    def subscripts(self) -> Iterator[tuple[Piece, Line]]:
        """What stands between brackets in statements."""
        for line in self.statements:
            for match in _SUBSCRIPT.finditer(line.code.text):
                yield line.code.part(match, 1), line


def functions_of(text: str, kinds: Mapping[str, TaskKind]) -> dict[str, Function]:
    """The functions of the tasks in `kinds`, by name."""
    found = ((match[1], match[0]) for match in _FUNCTION.finditer(text))
    return {name: Function(name, kinds[name], body) for name, body in found if name in kinds}


def _rows(text: str, start: int) -> Iterator[Piece]:
    for row in text[start:].split("\n"):
        yield Piece(start + len(row) - len(row.lstrip()), row.strip())
        start += len(row) + 1


def _loop(header: Piece, unrolled: bool) -> Loop | None:
    match = _FOR.fullmatch(header.text)
    if match is None:
        return None
    return Loop(header, match["name"], header.part(match, "first"), header.part(match, "trip"), unrolled)
