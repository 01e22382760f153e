"""When the parts of a picture appear: CSS, which plays in an image, needs no script and stands still for those who ask.

Without CSS animation, and where `prefers-reduced-motion` is set, the picture is what it is at its end.
"""

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from bench.site.svg import Drawing

SECONDS = 20
FADE = 0.3  # seconds
_STILL = "@media (prefers-reduced-motion: reduce) { g { animation: none !important; } }"
_Part = TypeVar("_Part")


class Timeline:
    """The seconds at which groups of a drawing appear. After the last one all vanish and it begins again."""

    def __init__(self, drawing: Drawing) -> None:
        self._drawing = drawing
        self._tenths: set[int] = set()

    @contextmanager
    def at(self, second: float) -> Generator[None]:
        """What is drawn inside appears at this second."""
        tenths = round(10 * second)
        self._tenths.add(tenths)
        with self._drawing.group(f"at{tenths}"):
            yield

    def one_by_one(self, parts: Sequence[_Part], start: float, end: float) -> Iterator[_Part]:
        """What is drawn for a part appears in its turn between two seconds."""
        for number, part in enumerate(parts):
            with self.at(start + (end - start) * number / len(parts)):
                yield part

    def style(self) -> str:
        return "\n".join([*(_appear(tenths) for tenths in sorted(self._tenths)), _STILL]) + "\n"


def _appear(tenths: int) -> str:
    name, start = f"at{tenths}", 10 * tenths / SECONDS
    frames = (
        f"0%, {start:g}% {{ opacity: 0 }} {start + 100 * FADE / SECONDS:g}%, 98% {{ opacity: 1 }} 100% {{ opacity: 0 }}"
    )
    return f".{name} {{ animation: {name} {SECONDS}s infinite }} @keyframes {name} {{ {frames} }}"
