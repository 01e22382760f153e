"""Loop counters that advance by carry instead of by nesting: two walks in one pipelined loop, without division."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from compiler.graph.itensor import Loop
from compiler.targets.writer import CppWriter, Namer


@dataclass(frozen=True)
class Counters:
    """One counter per loop, outermost first; back at zero after the last."""

    names: tuple[str, ...]
    loops: tuple[Loop, ...]

    @staticmethod
    def of(loops: Sequence[Loop], prefix: str, namer: Namer) -> "Counters":
        return Counters(tuple(namer.name(f"{prefix}{k}") for k in range(len(loops))), tuple(loops))

    def declare(self, out: CppWriter) -> None:
        if self.names:
            out.line(f"int {', '.join(f'{name} = 0' for name in self.names)};")

    def advance(self, out: CppWriter) -> None:
        with ExitStack() as stack:
            for name, loop in reversed(list(zip(self.names, self.loops, strict=True))):
                if name == self.names[0]:
                    out.line(f"{name} = {name} == {loop.trip - 1} ? 0 : {name} + 1;")
                    return
                out.line(f"{name} = {name} == {loop.trip - 1} ? 0 : {name} + 1;")
                stack.enter_context(out.block(f"if ({name} == 0)"))

    def offset(self, dim: int) -> list[str]:
        """Terms of the running offset in data dimension `dim`."""
        return [
            name if loop.step == 1 else f"{name} * {loop.step}"
            for name, loop in zip(self.names, self.loops, strict=True)
            if loop.dim == dim
        ]
