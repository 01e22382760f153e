"""share-converters: readers that want one stream in the same order share one converter (paper "Materialization", CSE).

A token's copies cost a register, a second converter costs its memory again.
"""

from dataclasses import replace

from typing_extensions import override

from compiler.analysis.names import input_stream
from compiler.graph.design import Design
from compiler.graph.itensor import StreamKey
from compiler.passes.base import Pass


class ShareConverters(Pass):
    """Keep one of several converters from one value to equal streams, the first; others' readers read it.

    Assumes that `insert-forks` comes later: the converter that is kept has several readers.
    """

    name = "share-converters"

    @override
    def run(self, design: Design) -> Design:
        self.expect_kernels(design)
        first_of: dict[tuple[str, str, StreamKey], str] = {}
        instead: dict[str, str] = {}
        for name, (value, _, converter) in design.converters.items():
            source = design.edges[input_stream(name)].source
            if (first := first_of.setdefault((source, value, converter.target.key), name)) != name:
                instead[name] = first
        if not instead:
            return design
        kept = {name: conversion for name, conversion in design.converters.items() if name not in instead}
        edges = {
            name: edge._replace(source=first, itensor=kept[first].converter.target)
            if (first := instead.get(edge.source)) is not None
            else edge
            for name, edge in design.edges.items()
            if edge.target not in instead
        }
        return replace(design, converters=kept, edges=edges)
