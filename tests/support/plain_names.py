"""Networks of the timing simulator by names that SystemVerilog takes."""

from dataclasses import replace

from compiler.graph.program import Access, Program, with_nests
from compiler.simulator.timing.network import Network


def plainly_named(network: Network) -> Network:
    """The network with other names."""

    def plain(program: Program) -> Program:
        return with_nests(program, lambda nest: replace(nest, reads=renamed(nest.reads), writes=renamed(nest.writes)))

    def renamed(accesses: tuple[Access, ...]) -> tuple[Access, ...]:
        return tuple(a._replace(stream=_fifo(a.stream)) for a in accesses)

    return Network(
        tuple(replace(p, name=_process(p.name), program=plain(p.program)) for p in network.processes),
        tuple(
            replace(f, name=_fifo(f.name), source=_process(f.source), target=_process(f.target)) for f in network.fifos
        ),
    )


def _process(name: str) -> str:
    return name.replace("@", "_at_")


def _fifo(name: str) -> str:
    """The adapter of a port and its memory have one name, and what goes into a task is called as its side of it is."""
    return f"fifo_{_process(name)}"
