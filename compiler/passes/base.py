"""What a pass is."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from compiler.errors import VerificationError
from compiler.graph.design import Design
from compiler.options import Knobs


@dataclass(frozen=True, slots=True)
class Pass(ABC):
    """A step of the way from a network to its accelerator. `options` names the knobs that it reads; what it assumes of
    the design stands in its docstring.
    """

    knobs: Knobs
    name: ClassVar[str]
    options: ClassVar[tuple[str, ...]] = ()

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
