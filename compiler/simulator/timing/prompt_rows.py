"""What tasks do for a chunk of a prompt: each layer for one row after the other, before they begin with the next.

As the C++ does it (`compiler.targets.tasks.frame`): the loop over rows stands within that over layers, in a task that
has one, and there within each phase, where it has several; else, and behind layers, around all that it does.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from compiler.graph.program import (
    Access,
    LoopNest,
    Program,
    Repeat,
    Values,
    behind_layers,
    in_a_row,
    of_layers,
    outer_iterations,
    program_at,
)
from compiler.graph.task_graph import CHOOSE

ROWS = "rows"
"""Of a launch: how many rows it takes at once, from its position on; 1 where it does not say."""

OfRows = Callable[[Sequence[Program]], Sequence[Program]]


def rows_of(values: Values, position: str) -> tuple[Values, ...]:
    """What each row of a launch is told; the next token is chosen behind the last one alone."""
    told = {name: value for name, value in values.items() if name != ROWS}
    count = values.get(ROWS, 1)
    if count == 1:
        return (told,)
    first = {} if position not in told else {position: told[position]}
    before = [told | {name: value + row for name, value in first.items()} for row in range(count)]
    return (*(row | {CHOOSE: 0} for row in before[:-1]), before[-1])


def chunk_program(
    program: Program,
    rows: Sequence[Values],
    credit: str,
    *,
    sends: bool,
    of_rows: OfRows | None = None,
    every: Sequence[Values] = (),
) -> Program:
    """The program of a task for several rows. It `sends` a token of the stream `credit` behind each row but the last,
    or takes one before each but the first; "" for neither. `of_rows`: what it does for them, from what it does for each
    alone, where some are side by side; then what it does behind layers is of `every` row alone.
    """
    word = (LoopNest((1,), (), (Access(credit),)) if sends else LoopNest((1,), (Access(credit),), ()),)
    last = len(rows) - 1

    def each(body: Program) -> Program:
        done = [program_at(body, values) for values in rows]
        if of_rows is not None:
            done = of_rows(done)
        if credit and sends:
            done = [(*one, *word) if row < last else one for row, one in enumerate(done)]
        elif credit:
            done = [(*word, *one) if row else one for row, one in enumerate(done)]
        return in_a_row(done)

    if not any(isinstance(part, Repeat) or part.restarts for part in program):
        return each(program)
    if of_rows is None:
        return tuple(_each_layer(program, each))
    behind = behind_layers(program)
    alone = [program_at(behind, values) for values in every] if behind else []
    return (*_each_layer(of_layers(program), each), *in_a_row(alone))


def _each_layer(program: Program, each: Callable[[Program], Program]) -> Iterator[LoopNest | Repeat]:
    """With the loop over rows within what is repeated, and around all that stands between."""
    for repeats, group in groupby(program, lambda part: isinstance(part, Repeat) or part.restarts > 0):
        parts = tuple(group)
        if not repeats:
            yield from each(parts)
            continue
        for part in parts:
            if isinstance(part, LoopNest):
                yield from (Repeat(times, each(body)) for body, times in outer_iterations(part))
            elif any(isinstance(phase, Repeat) for phase in part.body):
                yield Repeat(part.times, tuple(_each_layer(part.body, each)))
            else:
                yield Repeat(part.times, each(part.body))
