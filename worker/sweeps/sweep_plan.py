"""What a run of a sweep explores: the cells of its matrix.

A sweep's `matrix` maps fields of an exploration to the values they take: workload ids, platforms, seeds, samplers. Its
`options` are what all of them share.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

from compiler.errors import InvalidInputError

MAX_EXPLORATIONS = 200
_EXPLORATION = ("simulate", "calibration", "verify", "builds", "vitis", "board")
AXES = ("workload", "platform", "seed", "sampler")


@dataclass(frozen=True, slots=True)
class Cell:
    """One exploration of a run."""

    workload_id: str
    platform: str
    seed: int
    sampler: str


def cells(matrix: Mapping[str, Sequence[Any]]) -> list[Cell]:
    """All combinations, of a matrix that has been checked."""
    return [Cell(*values) for values in product(*(matrix[axis] for axis in AXES))]


def check_size(axes: Iterable[Sequence[Any]]) -> None:
    """Raise InvalidInputError for axes with more combinations than `MAX_EXPLORATIONS`."""
    count = prod(len(axis) for axis in axes)
    if not 1 <= count <= MAX_EXPLORATIONS:
        raise InvalidInputError(
            f"the matrix has {count} explorations; a sweep may have 1 to {MAX_EXPLORATIONS}: give fewer values, or "
            "make several sweeps"
        )


def exploration_options(options: Mapping[str, Any], cell: Cell) -> dict[str, Any]:
    """The options of the exploration of one cell; `area_model` is added where it is known."""
    chosen = {name: options[name] for name in _EXPLORATION if name in options}
    return {**chosen, "seed": cell.seed, "sampler": cell.sampler}
