"""Loop counters that advance by carry instead of by nesting: two walks in one pipelined loop, without division.

They have the bits that their largest value needs: HLS finds those of a loop's own variable, but not of one that an
iteration leaves to the next. What one advances to is computed as int, since of an int and an ap_uint neither is the
type of both.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from compiler.graph.itensor import Loop
from compiler.targets.writer import CppWriter, Namer


def counter(name: str, most: int, begin: int = 0) -> str:
    """The declaration of one that counts to `most`."""
    return f"ap_uint<{max(1, most.bit_length())}> {name} = {begin};"


def advanced(name: str, last: str) -> str:
    """What takes a counter to the next iteration; from `last` it goes back to zero."""
    return f"{name} = {name} == {last} ? 0 : int({name}) + 1;"


def advance(out: CppWriter, names: Sequence[str], lasts: Sequence[str], carry: str = "") -> None:
    """Counters, outermost first, to the next iteration; from their `lasts` they go back to zero. `carry` is the
    statement that runs where all do.
    """
    with ExitStack() as stack:
        for name, last in reversed(list(zip(names, lasts, strict=True))):
            out.line(advanced(name, last))
            if name != names[0] or carry:
                stack.enter_context(out.block(f"if ({name} == 0)"))
        if carry:
            out.line(carry)


@dataclass(frozen=True)
class Counters:
    """One counter per loop, outermost first; back at zero after the last."""

    names: tuple[str, ...]
    loops: tuple[Loop, ...]

    @staticmethod
    def of(loops: Sequence[Loop], prefix: str, namer: Namer) -> "Counters":
        return Counters(tuple(namer.name(f"{prefix}{k}") for k in range(len(loops))), tuple(loops))

    def declare(self, out: CppWriter) -> None:
        for name, loop in zip(self.names, self.loops, strict=True):
            out.line(counter(name, loop.trip - 1))

    def advance(self, out: CppWriter, carry: str = "") -> None:
        """To the next token; `carry` is the statement that runs behind the last one."""
        advance(out, self.names, [str(loop.trip - 1) for loop in self.loops], carry)

    def offset(self, dim: int, bank: int | None = None) -> list[str]:
        """Terms of the running offset in data dimension `dim`; with `bank`, of what lies within its extent only."""
        return [
            _times(name, loop.step)
            for name, loop in zip(self.names, self.loops, strict=True)
            if loop.dim == dim and (bank is None or loop.step < bank)
        ]

    def bank(self, dim: int, bank: int) -> list[str]:
        """Terms of the number of whole extents of `bank` that the running offset in dimension `dim` has passed."""
        return [
            _times(name, loop.step // bank)
            for name, loop in zip(self.names, self.loops, strict=True)
            if loop.dim == dim and loop.step >= bank
        ]


def _times(name: str, step: int) -> str:
    return name if step == 1 else f"{name} * {step}"
