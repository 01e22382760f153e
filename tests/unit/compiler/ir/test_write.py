"""Every text is held to valid IR, and the error says when it was not."""

import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from plans import plans
from small_graphs import mlp, softmax

from compiler.dialects.itensor_stream import StreamOp
from compiler.errors import VerificationError
from compiler.graph.design import Design
from compiler.ir.write import design_text, write_design
from compiler.options import Knobs

DESIGNS = plans(softmax(), Knobs(default_tile_size=4))


def without_reduction(design: Design) -> Design:
    """A task without what combines its partial results."""
    ops = tuple(replace(op, reduction=None) for op in design.graph.ops)
    return replace(design, graph=replace(design.graph, ops=ops))


def with_empty_fifos(design: Design) -> Design:
    return replace(design, depths=dict.fromkeys(design.depths, 0))


@pytest.mark.parametrize(
    ("stage", "broken", "message"),
    [
        ("tile-tasks", without_reduction, "reduction loops need `reduce`"),
        ("size-fifos", with_empty_fifos, "a FIFO holds at least one token"),
    ],
)
def test_pass_that_breaks_the_design_is_named(stage: str, broken: Callable[[Design], Design], message: str) -> None:
    assert design_text(DESIGNS[stage], f"after {stage}")
    with pytest.raises(VerificationError, match=rf"the IR is not valid after {stage}: (.|\n)*{message}"):
        design_text(broken(DESIGNS[stage]), f"after {stage}")


def test_text_ends_with_a_new_line() -> None:
    assert design_text(DESIGNS["tile-tasks"], "now").endswith("}\n")


def test_every_stream_is_one_fifo_with_its_depth_and_its_reason() -> None:
    design = replace(DESIGNS["size-fifos"], reasons={"div_in0": "at 3 tokens it can deadlock"})
    fifos = {op.stream_name: op for op in write_design(design).walk() if isinstance(op, StreamOp)}
    assert {name: fifo.type.depth.data for name, fifo in fifos.items()} == design.depths
    assert {name: fifo.itensor for name, fifo in fifos.items()} == {n: e.itensor for n, e in design.edges.items()}
    assert {name: fifo.reason.data for name, fifo in fifos.items() if fifo.reason is not None} == design.reasons
    assert 'because "at 3 tokens it can deadlock" :' in design_text(design, "now")


def test_processes_follow_what_they_read() -> None:
    design = plans(mlp(), Knobs(default_tile_size=8, order="reduction-outer"))["size-fifos"]
    assert design.converters
    processes = re.findall(r"(?:task|load|store|converter|fork) @(\w+)", design_text(design, "now"))
    assert all(processes.index(e.source) < processes.index(e.target) for e in design.edges.values())
