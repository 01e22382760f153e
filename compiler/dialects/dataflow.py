"""Kernels and tasks: what runs side by side on the chip, and where it meets HBM (design 3.1, paper section 3).

Machine model. A design is a function on tensors that live in HBM. It runs its `dataflow.kernel`s one after the other;
a kernel reads tensors from HBM and writes tensors to HBM, and inside it every process runs at once. In early stages a
kernel's block arguments and yielded values are itensors, an implicit DMA each; `materialize-dmas` makes them
`dataflow.load` and `dataflow.store`, or `dataflow.rom` of what the chip is configured with.
A `dataflow.task` is one pipelined perfect loop nest: in every iteration it
pops the tokens that its ports need, computes the unrolled points of its scalar body side by side, combines them over
the reduction loops and pushes what is done. Tasks that a `dataflow.engine` serves are one process, which runs their
nests in turn. With a `dataflow.layers` all of this is of one layer of a network, and a launch runs it once for each.
Where a `dataflow.die` says which tasks lie on which die, relays carry streams from one to the other.

Stages of a task:

    on tensors              `space` only: a linalg operation
    padded                  `valid` keeps the true extents where loops were made longer
    tiled                   `nest` says which loops run in time, in which order, and what is unrolled in space
    on itensors             ports stream as the nest walks them
    on streams              ports are FIFOs
"""

from xdsl.ir import Dialect

from compiler.dialects.dataflow_attributes import (
    MapAttr,
    NestAttr,
    OutputAttr,
    PackingAttr,
    SpaceAttr,
    ValidAttr,
    ValueAttr,
)
from compiler.dialects.dataflow_die import DieOp
from compiler.dialects.dataflow_dma import LoadOp, StoreOp
from compiler.dialects.dataflow_engine import EngineOp
from compiler.dialects.dataflow_expanded import ExpandedTaskOp
from compiler.dialects.dataflow_index import IndexOp
from compiler.dialects.dataflow_kernel import KernelOp, YieldOp
from compiler.dialects.dataflow_layers import LayersOp
from compiler.dialects.dataflow_narrow import NarrowOp
from compiler.dialects.dataflow_rom import RomOp
from compiler.dialects.dataflow_task import TaskOp

DATAFLOW = Dialect(
    "dataflow",
    [KernelOp, LayersOp, DieOp, TaskOp, EngineOp, ExpandedTaskOp, LoadOp, StoreOp, RomOp, YieldOp, IndexOp, NarrowOp],
    [SpaceAttr, ValidAttr, NestAttr, MapAttr, ValueAttr, OutputAttr, PackingAttr],
)
