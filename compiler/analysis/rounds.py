"""Fewer rounds of what repeats: programs with the same rounds less, so that few are looked at for many."""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from compiler.graph.program import SIDES, Program, Repeat, Side, streams, tokens
from compiler.graph.same import Same
from compiler.graph.task_graph import Stream

FEW = 2  # rounds of which none are left out: they have a first and a last one only
APART = 2  # rounds that one task may do beside its repetition, before the first or behind the last


def repeats_of(program: Program, path: str = "") -> Iterator[tuple[str, Repeat]]:
    """All repetitions of a program, by the places of the parts in which they are."""
    for number, part in enumerate(program):
        if isinstance(part, Repeat):
            yield f"{path}{number}", part
            yield from repeats_of(part.body, f"{path}{number}.")


@lru_cache(maxsize=16384)  # with one other knob most programs are the same
def _numbers(same: Same[Program], *, inside: bool) -> frozenset[int]:
    """Of rounds of the repetitions, `inside` of others, too, or of none of them."""
    return frozenset(part.times for path, part in repeats_of(same.value) if inside or "." not in path)


def alike(programs: Iterable[Program]) -> list[range]:
    """Ranges of numbers of rounds that belong together, the largest first."""
    found: list[range] = []
    for times in sorted({n for program in programs for n in _numbers(Same(program), inside=True)}, reverse=True):
        if not (found and times in found[-1]):
            found.append(range(max(FEW + 1, times - APART) if times > FEW else 0, times + 1))
    return found


def spare_rounds(
    programs: Mapping[str, Program], passed: Iterable[Stream], rounds: int, times: range, *, inside: bool
) -> int:
    """How many rounds the repetitions of so many `times` can be shorter by, so that `rounds` are left of the least;
    none where that would save little, or a stream that is `passed` would not be even. `inside` of others, too, or none
    of them.
    """
    numbers = {n for program in programs.values() for n in _numbers(Same(program), inside=inside) if n in times}
    by = min(numbers, default=0) - rounds
    if by <= rounds:
        return 0
    moved = {n: _moved(Same(program), by, times, inside=inside) for n, program in programs.items()}
    even = all(moved[s.source]["writes"].get(s.name, 0) == moved[s.target]["reads"].get(s.name, 0) for s in passed)
    return by if even else 0


@lru_cache(maxsize=16384)  # with one other knob most programs are the same
def _moved(same: Same[Program], by: int, times: range, *, inside: bool) -> Mapping[Side, Mapping[str, int]]:
    """Tokens of each stream that a program, shortened, reads and writes."""
    program = _shortened(same, by, times, inside=inside)
    return {side: {stream: tokens(program, side, stream) for stream in streams(program, side)} for side in SIDES}


def shortened(program: Program, by: int, times: range, *, inside: bool) -> Program:
    """The program with so many rounds less of each repetition of so many `times`."""
    return _shortened(Same(program), by, times, inside=inside)


@lru_cache(maxsize=16384)
def _shortened(same: Same[Program], by: int, times: range, *, inside: bool) -> Program:
    return tuple(_shorter(part, by, times, inside) if isinstance(part, Repeat) else part for part in same.value)


def _shorter(part: Repeat, by: int, times: range, inside: bool) -> Repeat:
    body = _shortened(Same(part.body), by, times, inside=True) if inside else part.body
    return Repeat(part.times - by if part.times in times else part.times, body)
