"""What objectives are called above a column and beside an axis, and the order of fidelities."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from compiler.metrics import Fidelity

if TYPE_CHECKING:
    from millrace.wire import Objective

FIDELITIES = tuple(fidelity.value for fidelity in Fidelity)
"""The weakest first."""


def column(objective: "Objective") -> str:
    """As in: latency us."""
    return f"{objective.name.replace('_', ' ')} {objective.unit}"


def axes(objectives: Sequence["Objective"]) -> tuple[str, str]:
    """Of a plot, which shows the first two."""
    x, y, *_ = map(column, objectives)
    return x, y
