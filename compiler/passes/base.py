"""What a pass is."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Self

from compiler.errors import VerificationError
from compiler.graph.design import Design
from compiler.options import Knobs, TaskOverride


@dataclass(frozen=True, slots=True)
class Pass(ABC):
    """A step of the way from a network to its accelerator. `options` names the knobs that it reads, `overrides` what it
    reads of overrides of single operations; what it assumes of the design stands in its docstring.
    """

    knobs: Knobs
    name: ClassVar[str]
    options: ClassVar[tuple[str, ...]] = ()
    overrides: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def reading(cls, knobs: Knobs) -> Self:
        """The pass with what it reads of the knobs; the same object for knobs that differ in others alone."""
        return _reading(cls, tuple([getattr(knobs, name) for name in cls.options]), knobs.overriding(cls.overrides))

    @abstractmethod
    def run(self, design: Design) -> Design:
        """The design with what this pass decides. Raises MillraceError where it can not be built."""

    def handed_on(self, design: Design) -> Design:
        """What the next of `DESIGN_PASSES` needs of that: a search asks for no more."""
        return self.run(design)

    def expect(self, holds: bool, what: str) -> None:
        """Raise VerificationError where the design is not as this pass assumes; `what` says how it should be."""
        if not holds:
            raise VerificationError(f"{self.name} expects {what}")

    def expect_kernels(self, design: Design) -> None:
        placed = len(design.kernel_of) == len(design.graph.ops)
        self.expect(placed, "every operation in a kernel; run linalg-to-dataflow first")


@lru_cache(maxsize=4096)
def _reading(kind: Any, values: tuple[Any, ...], overrides: tuple[TaskOverride, ...]) -> Any:
    return kind(Knobs(**dict(zip(kind.options, values, strict=True)), overrides=overrides))
