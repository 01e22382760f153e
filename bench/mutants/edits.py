"""Wrong edits of a text: a kind of mistake finds the places where it can be made, and what can be written there."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from bench.mutants.source import Piece


@dataclass(frozen=True, slots=True)
class Change:
    """`text[start:end]` becomes `new`."""

    start: int
    end: int
    new: str


@dataclass(frozen=True, slots=True)
class Edit:
    """Changes that make one mistake; none of them overlap. `also` are other tasks that it is a mistake of."""

    changes: tuple[Change, ...]
    also: tuple[str, ...] = ()

    def apply(self, text: str) -> str:
        for change in sorted(self.changes, key=lambda c: c.start, reverse=True):
            text = text[: change.start] + change.new + text[change.end :]
        return text


Place = tuple[Edit, ...]
"""What may be written at one place."""


def become(piece: Piece, news: Iterable[str]) -> Place:
    """The piece replaced by each of `news`."""
    return tuple(Edit((Change(piece.start, piece.end, new),)) for new in dict.fromkeys(news) if new != piece.text)


def exchange(one: Piece, other: Piece, also: tuple[str, ...] = ()) -> Edit:
    """The two pieces change places."""
    return Edit((Change(one.start, one.end, other.text), Change(other.start, other.end, one.text)), also)


def offered(places: Iterable[Place]) -> list[Place]:
    """Those where something can be written."""
    return [place for place in places if place]


def changed_lines(before: str, after: str) -> Iterator[tuple[str, str]]:
    """Each line that differs, without its indent. Edits keep the number of lines."""
    for old, new in zip(before.split("\n"), after.split("\n"), strict=True):
        if old != new:
            yield old.strip(), new.strip()


def near(number: int) -> Sequence[int]:
    """One off, either way."""
    return number - 1, number + 1
