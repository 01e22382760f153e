"""Draws mutants evenly: first the task, then the place in it, then what is written there."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from bench.mutants.edits import Edit, Place, offered
from bench.mutants.kinds import IN_KERNELS, IN_TASKS
from bench.mutants.source import Function
from bench.mutants.wiring import Kernel


@dataclass(frozen=True, slots=True)
class Mutant:
    """A wrong edit of `task`: of its function, or of what `kernel` says of it. `number` counts those that were drawn of
    this kind from this design with this seed.
    """

    design: str
    kind: str
    seed: int
    number: int
    task: str
    kernel: str
    before: str
    edit: Edit

    @property
    def after(self) -> str:
        return self.edit.apply(self.before)

    @property
    def edited(self) -> tuple[str, ...]:
        """The tasks that it makes wrong."""
        return (self.task, *self.edit.also)


@dataclass(frozen=True, slots=True)
class Emitted:
    """What can be edited in a design."""

    name: str
    functions: Mapping[str, Function]
    kernels: Sequence[Kernel]


@dataclass(frozen=True, slots=True)
class _Choice:
    """A place in a text, the edits of it that were not drawn yet."""

    task: str
    kernel: str
    text: str
    edits: list[Edit]


def offers(design: Emitted, kind: str) -> bool:
    """Whether a mistake of this kind can be made in the design."""
    return bool(_choices(design, kind))


def mutants(design: Emitted, kind: str, seed: int) -> Iterator[Mutant]:
    """Mutants of one kind, none twice, until there are no others."""
    rng = Random(f"{seed} {design.name} {kind}")
    by_task = _choices(design, kind)
    number = 0
    while by_task:
        number += 1
        task = rng.choice(sorted(by_task))
        choice = rng.choice(by_task[task])
        edit = rng.choice(choice.edits)
        choice.edits.remove(edit)
        if not choice.edits:
            by_task[task].remove(choice)
        if not by_task[task]:
            del by_task[task]
        yield Mutant(design.name, kind, seed, number, task, choice.kernel, choice.text, edit)


def _choices(design: Emitted, kind: str) -> dict[str, list[_Choice]]:
    found = dict[str, list[_Choice]]()
    if kind in IN_TASKS:
        for name, function in design.functions.items():
            found[name] = [_choice(name, "", function.text, place) for place in offered(IN_TASKS[kind](function))]
    else:
        for kernel in design.kernels:
            for name, places in IN_KERNELS[kind](kernel).items():
                found.setdefault(name, []).extend(_choice(name, kernel.name, kernel.text, place) for place in places)
    return {name: choices for name, choices in found.items() if choices}


def _choice(task: str, kernel: str, text: str, place: Place) -> _Choice:
    return _Choice(task, kernel, text, list(place))
