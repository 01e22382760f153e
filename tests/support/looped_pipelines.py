"""Small networks with programs: layers that feed back, nests at argument values, tokens of different length, an engine
that serves several operations. In each of them FIFO `kept` holds what must wait for all of a row.
"""

from collections.abc import Callable
from dataclasses import replace

from compiler.graph.program import Access, Argument, BoundLoop, Gate, LoopNest, Program, Repeat
from compiler.graph.task_graph import PipelineStyle
from compiler.simulator.timing.network import Fifo, Network, Process

ARGUMENTS = (0, 1, 2, 7, 8, 9, 15, 16)  # of a nest in tiles of eight
OPERATIONS = ("q", "k", "v")


def nest(length: int, reads: str = "", writes: str = "", *, first: str = "", last: str = "") -> LoopNest:
    """One loop: names of the FIFOs that each iteration reads and writes; `first` is read in the first one, `last`
    written in the last one.
    """
    some = [Access(f) for f in reads.split()] + [Access(f, (Gate(0, 0, 1),)) for f in first.split()]
    others = [Access(f) for f in writes.split()] + [Access(f, (Gate(0, length - 1, length),)) for f in last.split()]
    return LoopNest((length,), tuple(some), tuple(others)) if length else LoopNest((0,), (), ())


def process(
    name: str, *program: LoopNest | Repeat, style: PipelineStyle = "flp", latency: int = 4, gap: int = 3
) -> Process:
    return Process(name, program, 1, latency, style, gap=gap)


def network(*processes: Process, kept: int, initial: int = 0) -> Network:
    """FIFOs between those that name them, of depth 2 but for `kept`; `back` has `initial` tokens."""

    def ends(program: Program) -> tuple[list[str], list[str]]:
        reads, writes = list[str](), list[str]()
        for part in program:
            more = ends(part.body) if isinstance(part, Repeat) else _streams(part)
            reads += more[0]
            writes += more[1]
        return reads, writes

    source = {f: p.name for p in processes for f in ends(p.program)[1]}
    target = {f: p.name for p in processes for f in ends(p.program)[0]}
    depth, first = {"kept": kept}, {"back": initial}
    fifos = (Fifo(f, source[f], target[f], depth.get(f, 2), first.get(f, 0)) for f in source)
    return Network(processes, tuple(fifos))


def _streams(of: LoopNest) -> tuple[list[str], list[str]]:
    return [a.stream for a in of.reads], [a.stream for a in of.writes]


def layers(kept: int, style: PipelineStyle = "flp", row: int = 4) -> Network:
    """Four layers of three processes: the first reads its row from outside, the others what the last process hands
    back, and none of it before all of it is done.
    """
    inside = nest(row, "a", "b")
    return network(
        process("source", nest(row, "", "x")),
        process("head", nest(row, "x", "a"), Repeat(3, (nest(row, "kept", "a", first="all"),)), style=style),
        process("work", Repeat(4, (inside,)), style=style, latency=7),
        process("tail", Repeat(3, (nest(row, "b", "kept", last="all"),)), nest(row, "b", "y"), style=style),
        process("sink", nest(row, "y")),
        kept=kept,
    )


def begun(kept: int, initial: int = 1) -> Network:
    """A loop over four layers of three tokens that begins with a token of its own."""
    return network(
        process("first", Repeat(4, (nest(3, "", "kept go", first="back"),))),
        process("second", Repeat(4, (nest(3, "go", "", last="all"),))),
        process("third", Repeat(4, (nest(3, "kept", "", first="all", last="back"),))),
        kept=kept,
        initial=initial,
    )


def tokens(kept: int, style: PipelineStyle = "flp") -> Network:
    """Three tokens, each behind the answer to the one before: a word to each process, and what the last one says when
    it has taken all of a row, none of it before the first has passed on all.
    """
    return network(
        process("control", Repeat(3, (nest(1, "", "first second"), nest(1, "done"))), style=style),
        process("head", Repeat(3, (nest(1, "first"), nest(4, "", "kept", last="all"))), style=style, latency=7),
        process("tail", Repeat(3, (nest(1, "second"), nest(4, "kept", "", first="all"), nest(1, "", "done")))),
        kept=kept,
    )


def _row(length: int) -> dict[str, LoopNest]:
    """A row of so many iterations of which the total is read before the first."""
    return {
        "score": nest(length, "", "kept", last="all"),
        "weigh": nest(length, "kept", "y", first="all"),
        "sink": nest(length, "y"),
    }


def rows(kept: int, *lengths: int, style: PipelineStyle = "flp") -> Network:
    """Rows one after the other, each of its own length, none for 0."""
    programs = {name: tuple(_row(length)[name] for length in lengths) for name in ("score", "weigh", "sink")}
    return network(*(process(name, *program, style=style) for name, program in programs.items()), kept=kept)


def following(kept: int) -> Network:
    """One row, of as many iterations as the argument `length` says."""
    most = max(ARGUMENTS)
    bounds = (BoundLoop(0, Argument("length", most)),)
    return network(*(process(name, replace(row, bounds=bounds)) for name, row in _row(most).items()), kept=kept)


def engine(kept: int, slices: int, row: int = 3) -> Network:
    """An engine that serves three operations in turn, each on what the one before made; a token goes through its slices
    in a chain, and what comes out is joined when a row of it is complete.
    """
    begin = (nest(row, "x", "in0"), *(nest(row, f"back_{op}", "in0") for op in OPERATIONS[:-1]))
    feeds = [
        process(f"slice{n}", Repeat(3, (nest(row, f"in{n}", f"in{n + 1} out{n}" if n + 1 < slices else f"out{n}"),)))
        for n in range(slices)
    ]
    outs = " ".join(f"out{n}" for n in range(slices))
    joins = process("merge", Repeat(3, (nest(row, outs, "kept", last="all"),)))
    hands = process("hand", *(nest(row, "kept", f"back_{op}", first="all") for op in (*OPERATIONS[:-1], "y")))
    return network(
        process("source", nest(row, "", "x")),
        process("feed", *begin),
        *feeds,
        joins,
        hands,
        process("sink", nest(row, "back_y")),
        kept=kept,
    )


# The network with a given depth of `kept`, and the least depth with which it runs to its end.
LOOPS: dict[str, tuple[Callable[[int], Network], int]] = {
    "layers, flushable": (layers, 4),
    "layers, stalling": (lambda kept: layers(kept, "stp"), 4),
    "layers that begin with a token": (begun, 3),
    "tokens behind answers": (tokens, 4),
    "tokens behind answers, stalling": (lambda kept: tokens(kept, "stp"), 4),
    "argument 0": (lambda kept: rows(kept, 0, 2), 2),
    "argument 1": (lambda kept: rows(kept, 1, 2), 2),
    "all arguments": (lambda kept: rows(kept, *ARGUMENTS), 16),
    "all arguments, stalling": (lambda kept: rows(kept, *ARGUMENTS, style="stp"), 16),
    "two tokens": (lambda kept: rows(kept, 3, 6), 6),
    "an engine": (lambda kept: engine(kept, 1), 3),
    "an engine of four slices": (lambda kept: engine(kept, 4), 3),
}


def reply(positions: tuple[Program, ...] | int, layers: int = 24, row: int = 300, long: int = 500) -> Network:
    """Tokens one after the other through all layers, each of which also walks as many cached rows as its position says.

    `positions`: that many tokens, all of which walk `long` rows, or for each token the nests of its own length that it
    walks, as `walks` makes them.
    """
    tokens = positions if isinstance(positions, int) else len(positions)
    same = (Repeat(tokens, (Repeat(layers, walks(long)),)),)
    cached = same if isinstance(positions, int) else tuple(Repeat(layers, walked) for walked in positions)
    attends = _with_rows(cached, row)
    head = (nest(row, "x", "a"), Repeat(layers - 1, (nest(row, "kept", "a", first="all"),)))
    tail = (Repeat(layers - 1, (nest(row, "c", "kept", last="all"),)), nest(row, "c", "y"))
    return network(
        process("source", Repeat(tokens, (nest(row, "", "x"),)), latency=60),
        process("head", Repeat(tokens, head)),
        process("work", Repeat(tokens * layers, (nest(row, "a", "b"),)), latency=30),
        process("cache", *cached, latency=70),
        process("attend", *attends, latency=20),
        process("tail", Repeat(tokens, tail)),
        process("sink", Repeat(tokens, (nest(row, "y"),))),
        kept=row,
    )


def walks(rows: int) -> Program:
    """Cached rows of one layer."""
    return (nest(rows, "", "k"),)


def _with_rows(cached: Program, row: int) -> Program:
    """What reads the cached rows, and then passes on a row of its own, in each layer."""
    made: list[LoopNest | Repeat] = []
    for part in cached:
        if isinstance(part, Repeat):
            made.append(Repeat(part.times, _with_rows(part.body, row)))
        else:
            made += [nest(part.iterations, "k"), nest(row, "b", "c")]
    return tuple(made)
