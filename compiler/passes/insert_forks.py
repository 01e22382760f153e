"""insert-forks: a stream has one reader, so copy where a port has several (paper "single use")."""

from collections.abc import Iterator
from dataclasses import replace

from typing_extensions import override

from compiler.analysis.names import c_name, fork_name, input_stream, shared_fork_name
from compiler.graph.design import Design, Edge, Fork
from compiler.passes.base import Pass


def _ports(design: Design) -> Iterator[tuple[str, Fork]]:
    """Every output of a node, and what a fork of it would be."""
    for op in design.graph.ops:
        for out in op.outputs:
            yield c_name(op.name), Fork(out.value, design.kernel_of[op.name], design.writes[out.value])
    for name, load in design.loads.items():
        yield name, Fork(load.value, load.kernel, load.itensor)
    for name, conversion in design.converters.items():
        yield name, Fork(conversion.value, conversion.kernel, conversion.converter.target)


class InsertForks(Pass):
    """Give every port exactly one stream; a port that nobody reads is drained by a fork without copies. Copies are in
    the order of their readers.
    """

    name = "insert-forks"

    @override
    def run(self, design: Design) -> Design:
        self.expect_kernels(design)
        self.expect(not design.forks, "streams that are not copied yet; it runs once")
        forks: dict[str, Fork] = {}
        fork_of: dict[tuple[str, str], str] = {}
        entering: dict[str, Edge] = {}
        for node, fork in _ports(design):
            streams = design.leaving.get((node, fork.value), [])
            if len(streams) == 1:
                continue
            behind = node in design.converters
            name = shared_fork_name(fork.value, streams[0]) if behind else fork_name(fork.value, fork.kernel)
            forks[name] = fork
            fork_of[node, fork.value] = name
            entering[input_stream(name)] = Edge(fork.value, node, name, fork.itensor)
        copied = {
            name: edge._replace(source=fork_of[edge.port]) if edge.port in fork_of else edge
            for name, edge in design.edges.items()
        }
        return replace(design, forks=forks, edges={**copied, **entering})
