"""Converters, chunks and concats in operations of the itensor dialect.

A converter fills a box of its buffer in the order of the source and drains it in the order of the target, in each
iteration of the loops that both share. Chunk and concat keep the dimension along which they cut; a part that lacks it
is the same stream with a dimension of one element more, `itensor.reassociate`.
"""

from collections.abc import Sequence

from xdsl.dialects import memref
from xdsl.dialects.builtin import IntAttr, MemRefType, StringAttr
from xdsl.ir import Attribute, Operation, SSAValue

from compiler.dialects.dataflow_task import TaskOp
from compiler.dialects.element_types import ELEMENT_TYPES
from compiler.dialects.itensor_adapters import CastOp, ReassociateOp
from compiler.dialects.itensor_routing import ChunkOp, ConcatOp, ConverterOp, JoinOp
from compiler.dialects.itensor_stream import BufferOp, StreamCastOp, itensor_of
from compiler.dialects.itensor_type import ITensorType
from compiler.graph.converter import converter_of, shared_prefix
from compiler.graph.itensor import ITensor, Loop
from compiler.graph.linalg_graph import Operand
from compiler.graph.rearrange import joined, part_of, unit_groups
from compiler.ir.loop_builder import Carried, Index, LoopBuilder


def recast(value: SSAValue, wanted: ITensor, build: LoopBuilder) -> SSAValue:
    """`value` with the text `wanted` for its stream."""
    if itensor_of(value) == wanted:
        return value
    if isinstance(value.type, ITensorType):
        return build.add(CastOp(value, ITensorType(wanted))).result
    return build.add(StreamCastOp(value, wanted)).result


def converter_texts(converter: ConverterOp) -> tuple[ITensor, ITensor]:
    """Both sides in loops of which the shared ones come first, alike."""
    prefix = shared_prefix(converter.source, converter.target)
    return (
        ITensor(converter.source.element, converter.source.dtype, (*prefix.loops, *prefix.source)),
        ITensor(converter.target.element, converter.target.dtype, (*prefix.loops, *prefix.target)),
    )


def expand_converter(converter: ConverterOp, build: LoopBuilder, written: SSAValue, carried: Carried) -> Carried:
    """The loops of a converter. `written` is its FIFO; on itensors `carried` is its destination."""
    plan = converter_of(converter.source, converter.target, converter.realisation.data)
    prefix = shared_prefix(converter.source, converter.target)
    source, target = converter_texts(converter)
    read = recast(converter.inputs[0], source, build)
    dtype = ELEMENT_TYPES[source.dtype]
    box = build.add(BufferOp(MemRefType(dtype, plan.extent), plan.halves)).memory
    box.name_hint = "box"

    def fill(at: tuple[SSAValue, ...], _: Carried) -> Carried:
        token = build.read(read)

        def put(lanes: tuple[Index, ...], _: Carried) -> Carried:
            value = build.element(token, lanes, source.dtype)
            build.add(memref.StoreOp.get(value, box, _place(build, prefix.source, at, lanes)))

        return build.lanes(source.element, None, put)

    def drain(at: tuple[SSAValue, ...], dest: Carried) -> Carried:
        token = build.token(
            target.element,
            target.dtype,
            lambda lanes: build.add(memref.LoadOp.get(box, _place(build, prefix.target, at, lanes))).res,
        )
        return build.write(token, written, dest)

    def round_(_: tuple[SSAValue, ...], dest: Carried) -> Carried:
        build.loops(_spans(prefix.source), None, fill)
        return build.loops(_spans(prefix.target), dest, drain)

    return build.loops(_spans(prefix.loops), carried, round_)


def _spans(loops: Sequence[Loop]) -> list[tuple[int, int]]:
    return [(loop.trip * loop.step, loop.step) for loop in loops]


def _place(build: LoopBuilder, loops: Sequence[Loop], at: Sequence[SSAValue], lanes: Sequence[Index]) -> list[SSAValue]:
    """Where an element of a token lies in the box that the loops inside the shared ones walk."""
    walks = list(zip(at, loops, strict=True))
    return [
        build.index(build.total([*(i for i, loop in walks if loop.dim == d), lane])) for d, lane in enumerate(lanes)
    ]


# Chunk and concat


def routes_in_order(task: TaskOp) -> bool:
    """Whether every part has the dimensions of the whole in the same order (no part is transposed), and the parts fill
    the whole (it is not padded along its axis).
    """
    assert task.axis_loop is not None
    if task.linalg.true_loops[task.axis_loop] < task.linalg.loops[task.axis_loop]:
        return False
    whole, parts = (task.reads[0], task.writes) if task.op_kind == "chunk" else (task.writes[0], task.reads)
    rest = [d for d in whole.dims if d != task.axis_loop]
    return all([d for d in part.dims if d != task.axis_loop] == rest for part in parts)


def _part_itensor(whole: ITensor, dim: int, part: Operand, value: SSAValue, axis: int | None) -> ITensor:
    """A part as it is cut: with dimension `dim`, of one element where the part has none."""
    extent = itensor_of(value).shape[dim] if axis in part.dims else 1
    return part_of(whole, dim, extent)


def expand_chunk(task: TaskOp, build: LoopBuilder) -> list[SSAValue]:
    """`itensor.chunk` for a chunk task, on itensors or streams; gives what stands for the task's results."""
    axis = task.reads[0].dims.index(task.axis.data) if task.axis is not None else 0
    source = task.inputs[0]
    whole = itensor_of(source)
    groups = unit_groups(len(whole.element), axis)
    if task.streams:
        part = part_of(whole, axis, 1)
        outs = [build.add(StreamCastOp(out, part)).result for out in task.streams]
        build.add(_routing(ChunkOp, task, axis, [source], outs, ()))
        return []
    chunk = build.add(ChunkOp.of(task.process_name, axis, source, len(task.outputs)))
    return [
        build.add(ReassociateOp(part, groups, ITensorType(itensor_of(made)))).result
        for part, made in zip(chunk.outputs, task.outputs, strict=True)
    ]


def expand_concat(task: TaskOp, build: LoopBuilder) -> list[SSAValue]:
    """`itensor.concat`, or `itensor.join` where one token of each input comes in turn."""
    assert task.axis is not None
    axis = task.writes[0].dims.index(task.axis.data)
    whole = itensor_of(task.written[0])
    groups = unit_groups(len(whole.element), axis)
    parts: list[SSAValue] = []
    for value, operand in zip(task.inputs, task.reads, strict=True):
        part = _part_itensor(whole, axis, operand, value, task.axis.data)
        has_axis = task.axis.data in operand.dims
        if isinstance(value.type, ITensorType) and not has_axis:
            parts.append(build.add(ReassociateOp(value, groups, ITensorType(part))).result)
        else:
            parts.append(recast(value, part, build))
    first = itensor_of(parts[0])
    turns = all(itensor_of(part) == first for part in parts) and first.shape[axis] == first.element[axis]
    kind = JoinOp if turns and whole.same_stream(joined(first, axis, len(parts))) else ConcatOp
    routing = build.add(_routing(kind, task, axis, parts, task.streams, [value.type for value in task.outputs]))
    return list(routing.results)


def _routing(
    kind: type[ChunkOp] | type[ConcatOp] | type[JoinOp],
    task: TaskOp,
    axis: int,
    inputs: Sequence[SSAValue],
    streams: Sequence[SSAValue],
    results: Sequence[Attribute],
) -> Operation:
    return kind.build(
        operands=[list(inputs), list(streams)],
        result_types=[list(results)],
        properties={"sym_name": StringAttr(task.process_name), "dim": IntAttr(axis)},
    )
