"""The slots by which two runs of a sweep are compared.

A slot is an exploration's place in the matrix as a person names it; it is read from the exploration itself, so that
runs of a sweep that was changed in between still compare.
"""

from collections.abc import Sequence
from typing import NamedTuple

from db.models import Exploration


class Slot(NamedTuple):
    """`place`: model, phase, length, precision, layers, batch, ports, platform; then what may differ within one."""

    place: str
    seed: str
    sampler: str


def slot_of(exploration: Exploration) -> Slot:
    w, options = exploration.workload, exploration.options
    layers = f" x{w.layers}" if w.layers != 1 else ""
    batch = f" batch {w.batch}" if w.batch != 1 else ""
    ports = f" {w.ports} ports" if w.ports == "i8" else ""
    place = f"{w.model.name} {w.phase} {w.length} {w.precision}{layers}{batch}{ports} {exploration.platform}"
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
