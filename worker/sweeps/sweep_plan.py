"""What a run of a sweep explores: the cells of its matrix, and the slots by which two runs are compared.

A sweep's `matrix` maps fields of an exploration to the values they take: workload ids, platforms, seeds, samplers. Its
`options` are what all of them share. A slot is an exploration's place in the matrix as a person names it; it is read
from the exploration itself, so that runs of a sweep that was changed in between still compare.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any, NamedTuple

from compiler.errors import InvalidInputError
from db.models import Exploration

MAX_EXPLORATIONS = 200
DEFAULT_TOLERANCE = 0.02
_EXPLORATION = ("simulate", "calibration", "verify", "builds", "vitis", "board")
AXES = ("workload", "platform", "seed", "sampler")


@dataclass(frozen=True, slots=True)
class Cell:
    """One exploration of a run."""

    workload_id: str
    platform: str
    seed: int
    sampler: str


class Slot(NamedTuple):
    """`place`: model, phase, length, batch, precision, layers and platform; then what may differ within one place."""

    place: str
    seed: str
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


def tolerance_of(options: Mapping[str, Any]) -> float:
    """Relative: 0.02 is 2 %."""
    return float(options.get("tolerance", DEFAULT_TOLERANCE))


def slot_of(exploration: Exploration) -> Slot:
    w, options = exploration.workload, exploration.options
    layers = f" x{w.layers}" if w.layers != 1 else ""
    batch = f" batch {w.batch}" if w.batch != 1 else ""
    place = f"{w.model.name} {w.phase} {w.length} {w.precision}{layers}{batch} {exploration.platform}"
    return Slot(place, str(options.get("seed", 0)), str(options.get("sampler", "")))


def slot_name(slot: Slot, others: Sequence[Slot]) -> str:
    """For people: the place, with seed and sampler where there are several explorations of it."""
    twins = {other for other in others if other.place == slot.place}
    seed = f" seed {slot.seed}" if len({t.seed for t in twins}) > 1 else ""
    sampler = f" {slot.sampler}" if len({t.sampler for t in twins}) > 1 else ""
    return slot.place + seed + sampler


def partners(now: Sequence[Exploration], before: Sequence[Exploration]) -> dict[str, Exploration]:
    """The exploration of an earlier run to compare each one with, by id; those that are new have none.

    The same slot first; then the same place, where only one of it is left on either side: its seed was changed.
    """
    found: dict[str, Exploration] = {}
    left = {slot_of(e): e for e in before}
    for exploration in now:
        partner = left.pop(slot_of(exploration), None)
        if partner is not None:
            found[exploration.id] = partner
    lonely = [e for e in now if e.id not in found]
    for exploration in lonely:
        place = slot_of(exploration).place
        rest = [slot for slot in left if slot.place == place]
        if len(rest) == 1 and sum(slot_of(e).place == place for e in lonely) == 1:
            found[exploration.id] = left.pop(rest[0])
    return found
