"""Fewer rounds of what repeats: programs with the same rounds less, so that few are looked at for many."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from compiler.graph.program import Program, Repeat, tokens
from compiler.graph.task_graph import Stream

FEW = 2  # rounds of which none are left out: they have a first and a last one only


def spare_rounds(programs: Mapping[str, Program], streams: Iterable[Stream], rounds: int, level: int = 0) -> int:
    """How many rounds all repetitions at `level`, from 0 outermost, can be shorter by, so that `rounds` are left of the
    least; none where that would save little, or one of `streams` would not be even.
    """
    times = [part.times for program in programs.values() for part in _repeats(program, level) if part.times > FEW]
    by = min(times, default=0) - rounds
    if by <= rounds:
        return 0
    shorter = {name: shortened(program, by, level) for name, program in programs.items()}
    even = all(
        tokens(shorter[s.source], "writes", s.name) == tokens(shorter[s.target], "reads", s.name) for s in streams
    )
    return by if even else 0


def shortened(program: Program, by: int, level: int = 0) -> Program:
    """The program with so many rounds less of each repetition at `level`."""
    return tuple(_shorter(part, by, level) if isinstance(part, Repeat) else part for part in program)


def _shorter(part: Repeat, by: int, level: int) -> Repeat:
    if level:
        return replace(part, body=shortened(part.body, by, level - 1))
    return replace(part, times=part.times - by) if part.times > FEW else part


def _repeats(program: Program, level: int) -> Iterable[Repeat]:
    for part in program:
        if isinstance(part, Repeat):
            yield from _repeats(part.body, level - 1) if level else (part,)
