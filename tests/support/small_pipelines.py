"""Small networks of the timing simulator whose cycles can be worked out by hand."""

from compiler.graph.program import Access, Gate
from compiler.graph.task_graph import PipelineStyle
from compiler.simulator.timing.network import Fifo, Network, Process


def reads(*fifos: str, gate: Gate | None = None) -> tuple[Access, ...]:
    """Accesses in every iteration, or in those of one gate."""
    return tuple(Access(fifo, () if gate is None else (gate,)) for fifo in fifos)


def source(name: str, tokens: int, *fifos: str, ii: int = 1, per: int = 1) -> Process:
    return Process.of_nest(name, (tokens,), ii, 2, (), reads(*fifos), per=per)


def sink(name: str, tokens: int, *fifos: str) -> Process:
    return Process.of_nest(name, (tokens,), 1, 2, reads(*fifos), ())


def chain(depth: int | None, tokens: int = 5) -> Network:
    """Two processes, one FIFO."""
    return Network((source("a", tokens, "x"), sink("b", tokens, "x")), (Fifo("x", "a", "b", depth),))


def through(worker: Process, tokens_in: int, tokens_out: int, ii: int = 1, per: int = 1) -> Network:
    """A source, the process `w` that reads `x` and writes `y`, and a sink."""
    processes = (source("a", tokens_in, "x", ii=ii, per=per), worker, sink("b", tokens_out, "y"))
    return Network(processes, (Fifo("x", "a", "w", 2), Fifo("y", "w", "b", 2)))


def worker(style: PipelineStyle = "flp", tokens: int = 10, ii: int = 1, latency: int = 6) -> Process:
    return Process.of_nest("w", (tokens,), ii, latency, reads("x"), reads("y"), style)


def reduction() -> Network:
    """Four tokens become one."""
    last = Gate(1, 3, 4)
    return through(Process.of_nest("w", (3, 4), 1, 5, reads("x"), reads("y", gate=last)), 12, 3)


def reuse() -> Network:
    """A token is used four times."""
    first = Gate(1, 0, 1)
    return through(Process.of_nest("w", (3, 4), 1, 5, reads("x", gate=first), reads("y")), 3, 12)


def fork_join(style: PipelineStyle, depth: int, latency: int = 4, tokens: int = 8) -> Network:
    """So many tokens, each through `w` of the given style and beside it through the FIFO `side` of the given depth."""
    processes = (
        source("a", tokens, "x", "side"),
        Process.of_nest("w", (tokens,), 1, latency, reads("x"), reads("y"), style),
        sink("b", tokens, "y", "side"),
    )
    return Network(processes, (Fifo("x", "a", "w", 2), Fifo("side", "a", "b", depth), Fifo("y", "w", "b", 2)))


def all_of_one_first(depth: int) -> Network:
    """Pairs of tokens of which the reader wants all four firsts, then all four seconds."""
    pairs, joined = Gate(0, 0, 4), Gate(0, 4, 8)
    reader = Process.of_nest("w", (8,), 1, 2, (*reads("x", gate=pairs), *reads("z", gate=joined)), reads("y"))
    processes = (source("a", 4, "x", "z"), reader, sink("b", 8, "y"))
    fifos = (Fifo("x", "a", "w", 2), Fifo("z", "a", "w", depth), Fifo("y", "w", "b", 2))
    return Network(processes, fifos)


def restarts(style: PipelineStyle = "flp", drains: bool = True) -> Network:
    """Three runs of four tokens, three cycles between them."""
    runs = Process.of_nest("a", (3, 4), 1, 5, (), reads("x"), style, restarts=1, gap=3, drains=drains)
    return Network((runs, sink("b", 12, "x")), (Fifo("x", "a", "b", 2),))


PIPELINES = {
    "chain, depth 1": chain(1),
    "chain, depth 2": chain(2),
    "chain, unbounded": chain(None),
    "a token in 5/2 cycles": through(worker(tokens=6), 6, 6, ii=5, per=2),
    "II 2, flushable": through(worker(ii=2), 10, 10),
    "II 2, stalling": through(worker("stp", ii=2), 10, 10),
    "slow source, flushable": through(worker(tokens=2, latency=4), 2, 2, ii=10),
    "slow source, stalling": through(worker("stp", tokens=2, latency=4), 2, 2, ii=10),
    "reduction": reduction(),
    "reuse": reuse(),
    "fork and join, flushable": fork_join("flp", 1),
    "fork and join, stalling": fork_join("stp", 4),
    "fork and join, stalling, dead": fork_join("stp", 3),
    "all of one first": all_of_one_first(4),
    "all of one first, dead": all_of_one_first(2),
    "restarts that drain": restarts(),
    "restarts that do not drain": restarts(drains=False),
    "restarts, stalling": restarts("stp"),
}
