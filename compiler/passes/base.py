"""What a pass is."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

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
