"""Makes a network on which a test fails smaller, step by step, as long as it still fails."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from random_timing import with_nests

from compiler.graph.program import Access, LoopNest, Program, Repeat, nests
from compiler.simulator.timing.network import Fifo, Network, Process


def shrink(network: Network, fails: Callable[[Network], bool]) -> Network:
    """A network from which none of the steps can be taken without the failure going away."""
    while (smaller := next((n for n in _smaller(network) if fails(n)), None)) is not None:
        network = smaller
    return network


def _smaller(network: Network) -> Iterator[Network]:
    """Valid networks that are simpler in one place; both ends of each FIFO still move as many tokens, unless a process
    does without one of its nests.
    """
    for process in network.processes:
        yield _without(network, process)
    for fifo in network.fifos:
        yield _without_fifos(network, {fifo.name})
    for process in network.processes:
        yield from (_with_process(network, simpler) for simpler in _simpler(process))
    for fifo in network.fifos:
        if fifo.depth is not None:
            yield _with_fifo(network, replace(fifo, depth=None))
        if fifo.initial:
            yield _with_fifo(network, replace(fifo, initial=fifo.initial - 1))


def _simpler(process: Process) -> Iterator[Process]:
    plain = {"per": 1, "gap": 0, "drains": True}
    for field, value in plain.items():
        if getattr(process, field) != value:
            yield replace(process, **{field: value})
    if any(nest.restarts for nest in nests(process.program)):
        yield with_nests(process, lambda nest: replace(nest, restarts=0))
    yield from (replace(process, program=shorter) for shorter in _shorter(process.program))
    if process.ii > process.per:
        yield replace(process, ii=process.ii - 1)
    if process.latency > 2:
        yield replace(process, latency=process.latency - 1)
    if process.style != "flp":
        yield replace(process, style="flp", latency=max(2, process.latency))


def _shorter(program: Program) -> Iterator[Program]:
    for n, part in enumerate(program):
        before, after = program[:n], program[n + 1 :]
        yield (*before, *after)
        if isinstance(part, Repeat):
            yield (*before, *part.body, *after)
            yield from ((*before, replace(part, body=body), *after) for body in _shorter(part.body))
            if part.times > 1:
                yield (*before, replace(part, times=part.times - 1), *after)


def _with_process(network: Network, process: Process) -> Network:
    return replace(network, processes=tuple(process if p.name == process.name else p for p in network.processes))


def _with_fifo(network: Network, fifo: Fifo) -> Network:
    return replace(network, fifos=tuple(fifo if f.name == fifo.name else f for f in network.fifos))


def _without(network: Network, process: Process) -> Network:
    others = replace(network, processes=tuple(p for p in network.processes if p != process))
    return _without_fifos(others, {f.name for f in network.fifos if process.name in (f.source, f.target)})


def _without_fifos(network: Network, names: set[str]) -> Network:
    def kept(accesses: tuple[Access, ...]) -> tuple[Access, ...]:
        return tuple(access for access in accesses if access.stream not in names)

    def without(nest: LoopNest) -> LoopNest:
        return replace(nest, reads=kept(nest.reads), writes=kept(nest.writes))

    processes = tuple(with_nests(p, without) for p in network.processes)
    return Network(processes, tuple(f for f in network.fifos if f.name not in names))
