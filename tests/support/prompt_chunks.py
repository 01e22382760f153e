"""What a chunk of a prompt moves, beside its tokens one by one."""

from collections.abc import Sequence

from compiler.graph.program import Values, tokens
from compiler.simulator.timing.design import TimedDesign


def check_moves(design: TimedDesign, chunk: Values, rows: Sequence[Values]) -> TimedDesign:
    """The design as it does the chunk: each stream between tasks as many tokens as in launches of one row; both ends of
    every stream the same.
    """
    found, alone = design.at((chunk,)), design.at(tuple(rows))
    words = {s.name for s in design.streams if "control" in (s.source, s.target)}
    for stream in design.streams:
        written = tokens(found.task[stream.source].program, "writes", stream.name)
        assert tokens(found.task[stream.target].program, "reads", stream.name) == written
        if stream.name not in words and not stream.name.endswith("_row"):
            assert written == tokens(alone.task[stream.source].program, "writes", stream.name)
    return found
